// Explore as a log: the texts of a measurement, newest first.
import { readFile } from 'node:fs/promises';

import { hasPrograms, query, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Keys } from './keys.ts';
import { Visit } from './visit.ts';

const EVENTS = 6000;
const LEVELS = ['info', 'info', 'debug', 'warning', 'info', 'error'];
const NOW = Date.now();

/** Three events of three services at each time, over the last 50 minutes. */
function lines(): string {
  return Array.from({ length: EVENTS }, (_, n) => {
    const time = NOW - 60_000 - Math.floor((EVENTS - 1 - n) / 3) * 1500;
    const what = n % 4 === 0 ? `Deadlock of transaction ${n}` : `request ${n} took ${n % 97} ms`;
    const level = LEVELS[n % LEVELS.length];
    return `events,service=s${n % 3},host=h${n % 7} message="${what}",level="${level}",code=${n % 5}i ${time}`;
  }).join('\n');
}

describe.skipIf(!hasPrograms('chromium'))('the log of Explore', () => {
  let visit: Visit;
  beforeAll(async () => {
    visit = await Visit.open();
    await visit.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const { tsdb } = visit.server;
    for (const name of ['logs', 'numbers']) await query(tsdb, `CREATE DATABASE ${name}`);
    await write(tsdb, 'logs', lines(), { precision: 'ms' });
    await write(tsdb, 'logs', 'cpu,host=a usage=1');
    await write(tsdb, 'logs', 'jobs,state=done note="other text"');
    await write(tsdb, 'numbers', 'cpu,host=a usage=1');
  }, 60_000);
  afterAll(() => visit.close());

  const LOG = 'explore?db=logs&view=log';
  const grid = () => visit.page.getByRole('treegrid', { name: 'Events' });
  const rows = () => visit.page.locator('.log-row');
  const counted = (level: string) =>
    visit.page.getByRole('group', { name: 'Levels' }).getByRole('button', { name: level });
  const search = () => visit.page.getByLabel('Search in texts');
  const param = (name: string) => new URL(visit.page.url()).searchParams.get(name);
  const histogram = () => visit.page.getByRole('img', { name: /^Events by time/ });

  test('shows the newest events first, their levels, and how many there are', async () => {
    const { page } = visit;
    await visit.show('explore?db=logs');
    await page.getByRole('button', { name: 'Log', exact: true }).click();
    await grid()
      .getByText(`request ${EVENTS - 1} took`)
      .waitFor();
    expect(await page.getByLabel('Measurement').inputValue()).toBe('events');
    expect(await page.getByLabel('Measurement').locator('option').allTextContents()).toEqual([
      'events',
      'jobs',
    ]);
    await counted('error').getByText('1,000').waitFor();
    await counted('info').getByText('3,000').waitFor();
    await page.getByRole('img', { name: /^Events by time: 6,000 events/ }).waitFor();
    const colours = (await page.evaluate(
      "[...document.querySelectorAll('.log-level')].map((cell) => getComputedStyle(cell).color)",
    )) as readonly string[];
    expect(new Set(colours).size).toBe(4);
    await visit.inspect('log');
  });

  test('reads older events as one scrolls, and draws only those in view', async () => {
    const { page } = visit;
    await visit.show(LOG);
    await rows().first().waitFor();
    const rowCount = async (): Promise<number> =>
      Number(await grid().getAttribute('aria-rowcount'));
    const first = await rowCount();
    expect(first).toBeLessThan(250);
    await expect
      .poll(
        async () => {
          await page
            .locator('.log-frame')
            .evaluate((frame) => frame.scrollTo(0, frame.scrollHeight));
          return page.getByText('No older events in this time range').count();
        },
        { timeout: 60_000, interval: 20 },
      )
      .toBe(1);
    expect(await rowCount()).toBe(EVENTS + 1);
    expect(await rows().count()).toBeLessThan(120);
    // What came last made the list longer.
    await page.locator('.log-frame').evaluate((frame) => frame.scrollTo(0, frame.scrollHeight));
    await rows().last().getByText('Deadlock of transaction 0').waitFor();
  });

  test('finds words, and marks what it found', async () => {
    const { page } = visit;
    await visit.show(LOG);
    await search().fill('deadlock -599');
    await search().press('Enter');
    await page.getByRole('img', { name: /^Events by time: 1,498 events/ }).waitFor();
    expect(param('search')).toBe('deadlock -599');
    expect(await rows().first().locator('mark').allTextContents()).toEqual(['Deadlock']);
    await rows().first().getByText('transaction 5988').waitFor();
    await search().fill('/(open/');
    await search().press('Enter');
    await page
      .getByRole('alert')
      .getByText(/missing/)
      .waitFor();
    await search().fill('nothing like it');
    await search().press('Enter');
    await page.getByText('No events found').waitFor();
    await visit.inspect('log-empty');
    await search().fill('');
    await grid()
      .getByText(`request ${EVENTS - 1} took`)
      .waitFor();
    expect(param('search')).toBeNull();
  });

  test('a click on a value filters, and a filter is reversed and removed', async () => {
    const { page } = visit;
    await visit.show(LOG);
    await grid().getByRole('button', { name: 's2' }).first().click();
    await page.getByRole('img', { name: /: 2,000 events/ }).waitFor();
    await counted('error').click();
    await page.getByRole('img', { name: /: 1,000 events/ }).waitFor();
    await expect
      .poll(async () => [...new Set(await rows().locator('.log-level').allTextContents())])
      .toEqual(['error']);
    expect(param('filter')).toBe('[["service","=","s2"],["level","=","error"]]');
    const filters = page.getByRole('list', { name: 'Filters' });
    await filters.getByRole('button', { name: 'service = s2', exact: true }).click();
    await filters.getByRole('button', { name: 'service ≠ s2', exact: true }).waitFor();
    await page.getByText('No events found').waitFor();
    await filters.getByRole('button', { name: 'Remove filter service ≠ s2' }).click();
    await filters.getByRole('button', { name: 'Remove all' }).click();
    await page.getByRole('img', { name: /: 6,000 events/ }).waitFor();
  });

  test('an event shows all its tags and fields, and what can be done with them', async () => {
    const { page } = visit;
    await visit.show(LOG);
    await rows().first().click();
    const detail = page.locator('.log-detail');
    await detail.getByRole('button', { name: 'Copy text' }).waitFor();
    expect(await detail.locator('dt').allTextContents()).toEqual([
      'time',
      'code',
      'host tag',
      'level',
      'service tag',
    ]);
    await visit.inspect('log-event');
    await detail.getByRole('button', { name: 'Copy as JSON' }).click();
    const copied: unknown = JSON.parse(await page.evaluate('navigator.clipboard.readText()'));
    const { code, host, message } = copied as Record<string, unknown>;
    const number = Number(/\d+/.exec(String(message))?.[0]);
    expect([code, host]).toEqual([number % 5, `h${number % 7}`]);
    await detail.getByRole('button', { name: 'Show column code' }).click();
    await page.getByRole('columnheader', { name: 'code' }).waitFor();
    expect(param('columns')).toBe('["host","service","code"]');
    await detail.getByRole('button', { name: /^Without code = / }).click();
    await page.getByRole('img', { name: /: 4,800 events/ }).waitFor();
    await visit.show(`${LOG}&search=2988`);
    await rows().first().click();
    await detail.getByRole('button', { name: 'Show surrounding events' }).click();
    await page.getByRole('img', { name: /: 12\d events/ }).waitFor();
    expect(param('search')).toBeNull();
  });

  test('columns, the text and the level are chosen, and long texts wrapped', async () => {
    const { page } = visit;
    await visit.show(LOG);
    await rows().first().waitFor();
    await page.getByRole('button', { name: 'Columns', exact: true }).click();
    const columns = page.getByRole('dialog', { name: 'Columns' });
    await columns.getByRole('checkbox', { name: 'host' }).uncheck();
    await columns.getByLabel('Level', { exact: true }).selectOption('service');
    await visit.inspectThemes('log-columns');
    await page.keyboard.press('Escape');
    await counted('s0').getByText('2,000').waitFor();
    await page.getByRole('columnheader', { name: 'host' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Wrap lines' }).click();
    await page.setViewportSize({ width: 500, height: 700 });
    const heights = await rows().evaluateAll((all) => all.map((row) => row.clientHeight));
    expect(heights.length).toBeGreaterThan(5);
    await page.setViewportSize({ width: 1280, height: 800 });
    const address = page.url();
    const other = await visit.another(address.slice(address.indexOf('/ui/') + 4));
    await other.getByRole('button', { name: 'Wrap lines', pressed: true }).waitFor();
    await other
      .getByRole('group', { name: 'Levels' })
      .getByRole('button', { name: 's0' })
      .waitFor();
    await other.close();
  });

  test('dragging in the histogram, or keys, choose the time range', async () => {
    const { page } = visit;
    await visit.show(LOG);
    await page.getByRole('img', { name: /: 6,000 events/ }).waitFor();
    const box = await histogram().boundingBox();
    if (box === null) throw new Error('the histogram is not shown');
    await page.mouse.move(box.x + box.width * 0.5, box.y + 20);
    await page
      .getByText(/info\s*\d/)
      .first()
      .waitFor();
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/from=20\d\d/);
    const minutes = (): number =>
      (Date.parse(param('to') ?? '') - Date.parse(param('from') ?? '')) / 60_000;
    expect(minutes()).toBeCloseTo(15, 0);
    await page.getByRole('img', { name: /: 1,8\d\d events/ }).waitFor();
    await histogram().focus();
    for (const key of ['ArrowLeft', 'ArrowLeft', 'Shift+ArrowLeft', 'Enter']) {
      await page.keyboard.press(key);
    }
    await expect.poll(minutes).toBeLessThan(1.5);
    await page.getByRole('button', { name: 'Zoom out' }).click();
    await expect.poll(minutes).toBeGreaterThan(0.5);
  });

  test('follows what is written, and waits while older events are read', async () => {
    const { page } = visit;
    const { tsdb } = visit.server;
    await visit.show(LOG);
    await rows().first().waitFor();
    await page.getByRole('button', { name: 'Follow' }).click();
    await write(tsdb, 'logs', 'events,service=s0,host=h0 message="just now",level="error",code=1i');
    await rows().first().getByText('just now').waitFor();
    await page.locator('.log-frame').evaluate((frame) => frame.scrollTo(0, 2000));
    await page.getByText('Following pauses while you read older events.').waitFor();
    await visit.inspectThemes('log-held');
    await write(tsdb, 'logs', 'events,service=s0,host=h0 message="later",level="error",code=1i');
    await page.getByRole('button', { name: 'Show the newest' }).click();
    await rows().first().getByText('later').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    expect(param('follow')).toBeNull();
    await query(tsdb, `DELETE FROM events WHERE time > ${NOW - 30_000}ms`, 'logs');
  });

  test('is used with keys alone', async () => {
    const { page } = visit;
    await visit.show(LOG);
    await rows().first().waitFor();
    const keys = new Keys(page);
    await keys.type(search(), 'deadlock');
    await keys.keys('Enter');
    await page.getByRole('img', { name: /: 1,500 events/ }).waitFor();
    await keys.press(counted('debug'));
    await page.getByRole('img', { name: /: 500 events/ }).waitFor();
    await keys.press(counted('debug'), 'back');
    await page.getByRole('img', { name: /: 1,500 events/ }).waitFor();
    await rows().nth(2).getByText('transaction 5988').waitFor();
    await keys.reach(grid());
    await keys.keys('ArrowDown', 'ArrowDown', 'ArrowDown');
    await page.locator('.log-row.active').getByText('transaction 5988').waitFor();
    await keys.keys('Enter');
    const detail = page.locator('.log-detail');
    await keys.press(detail.getByRole('button', { name: /^Only host/ }));
    await expect.poll(() => param('filter')).toContain('host');
    await keys.reach(grid(), 'back');
    await keys.keys('End');
    await expect
      .poll(() => page.locator('.log-row.active').getAttribute('aria-rowindex'))
      .toBe(await grid().getAttribute('aria-rowcount'));
    await page.keyboard.press('f');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.keyboard.press('f');
  });

  test('is saved as CSV, and opened as a statement', async () => {
    const { page } = visit;
    await visit.show(`${LOG}&search=5988&filter=[["code","=","3"]]`);
    await rows().first().waitFor();
    await page.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'CSV of all matches' }).click(),
    ]);
    const [head, first, ...rest] = (await readFile(await download.path(), 'utf8')).split('\n');
    expect(head).toBe('name,time,code,host,level,message,service');
    expect(first).toMatch(/^events,.*Z,3,h3,info,Deadlock of transaction 5988,s0$/);
    expect(rest).toEqual(['']);
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'Open as statement' }).click();
    await page.getByRole('cell', { name: 'Deadlock of transaction 5988' }).waitFor();
    expect(param('q')).toBe(
      'SELECT * FROM events WHERE $timeFilter AND code = 3 AND message =~ /5988/ ORDER BY time DESC LIMIT 1000',
    );
    await page.getByRole('button', { name: 'Log', exact: true }).click();
    await rows().first().waitFor();
  });

  test('the log of a raw statement is that of its measurement', async () => {
    const { page } = visit;
    const text = "SELECT note FROM jobs WHERE $timeFilter AND state = 'done'";
    await visit.show(`explore?db=logs&q=${encodeURIComponent(text)}`);
    await page.getByRole('button', { name: 'Log', exact: true }).click();
    await rows().first().getByText('other text').waitFor();
    expect(param('filter')).toBe('[["state","=","done"]]');
  });

  test('a database without texts says what a log needs', async () => {
    await visit.show('explore?db=numbers&view=log');
    await visit.page.getByText('No texts to show').waitFor();
    await visit.inspect('log-none');
  });

  test('leaving cancels what is read', async () => {
    const { page } = visit;
    await visit.show(LOG);
    await rows().first().waitFor();
    // What is still being read would be cancelled by the reload.
    await page.getByRole('img', { name: /: 6,000 events/ }).waitFor();
    const cancelled: string[] = [];
    // The page behind it asks, too.
    page.on('requestfailed', (request) => {
      if (request.postData()?.includes('events') === true) cancelled.push(request.url());
    });
    const goOn = await visit.hold('**/api/tsdb/query');
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('link', { name: 'Overview' }).click();
    await expect.poll(() => cancelled.filter((url) => url.includes('/query')).length).toBe(2);
    await goOn();
  });

  test('survives a restart of the services with what was typed', async () => {
    const { page } = visit;
    await visit.show(LOG);
    await rows().first().waitFor();
    await search().fill('deadlock');
    await visit.restart(async () => {
      await search().press('Enter');
      await page.getByRole('main').getByRole('alert').first().waitFor();
      await page.getByText(/is not responding\. Retrying/).waitFor();
      await visit.inspectThemes('log-down');
    });
    await page.getByRole('img', { name: /: 1,500 events/ }).waitFor();
    await rows().first().getByText('Deadlock').waitFor();
    expect(visit.faults).toEqual([]);
  });
});
