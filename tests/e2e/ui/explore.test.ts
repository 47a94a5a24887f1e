// Explore: the schema, statements by hand and by form, and their results.
import { readFile } from 'node:fs/promises';

import { hasPrograms, query, send, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Visit } from './visit.ts';

const POINTS = 25_000;
const ROOMS = ['kitchen', 'cellar', 'attic'];

/** One point a second and room over the last minutes, ending now. */
function recentPoints(): string {
  const now = Date.now();
  return Array.from({ length: 1800 }, (_, i) =>
    ROOMS.map((room, at) => {
      const celsius = (20 - at * 4 + Math.sin(i / 120) * 3).toFixed(2);
      return `room,name=${room},floor=${at} celsius=${celsius},doors=${at}i ${now - (1800 - i) * 1000}`;
    }).join('\n'),
  ).join('\n');
}

describe.skipIf(!hasPrograms('chromium'))('the page to explore', () => {
  let visit: Visit;
  beforeAll(async () => {
    visit = await Visit.open();
    const { tsdb } = visit.server;
    await query(tsdb, 'CREATE DATABASE house');
    await query(tsdb, 'CREATE RETENTION POLICY year ON house DURATION 365d REPLICATION 1');
    await write(tsdb, 'house', recentPoints(), { precision: 'ms' });
    await write(tsdb, 'house', 'big,note=a count=9223372036854775807i 1700000000123456789');
    const many = Array.from({ length: POINTS }, (_, i) => `many value=${i} ${i + 1}`);
    await write(tsdb, 'house', many.join('\n'), { precision: 's' });
    await visit.show('explore?db=house');
    await visit.page.locator('.cm-editor').waitFor();
  }, 60_000);
  afterAll(() => visit.close());

  const statement = () => visit.page.getByRole('textbox', { name: 'Statement' });
  const rows = (name: string) => visit.page.getByRole('group', { name });
  const type = async (text: string): Promise<void> => {
    const { page } = visit;
    await statement().click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(text);
  };
  const run = async (text: string): Promise<void> => {
    await type(text);
    await visit.page.keyboard.press('Control+Enter');
  };

  test('stored names can be opened, and a click turns them into a statement', async () => {
    const { page } = visit;
    await page.getByLabel('Retention policy').selectOption('year');
    await page.getByRole('button', { name: 'many', exact: true }).click();
    await expect
      .poll(() => statement().textContent())
      .toBe('SELECT mean(value) FROM year.many WHERE $timeFilter GROUP BY time($interval)');
    await page.getByLabel('Retention policy').selectOption('');
    await page.getByRole('button', { name: 'Open room' }).click();
    await page.getByText('3 values').first().waitFor();
    await page.getByText('integer').waitFor();
    await page.getByRole('button', { name: 'Open name' }).click();
    await page.getByRole('button', { name: 'celsius', exact: true }).click();
    await page.getByRole('button', { name: 'cellar', exact: true }).click();
    await expect
      .poll(() => statement().textContent())
      .toBe(
        `SELECT mean(celsius) FROM room WHERE $timeFilter AND "name" = 'cellar' GROUP BY time($interval), floor, "name"`,
      );
    // It has been run: the answer is there without another click.
    await page.getByRole('group', { name: 'Legend' }).getByText('mean floor=1').waitFor();
    await page.getByRole('button', { name: 'celsius', exact: true, pressed: true }).waitFor();
    await page.getByRole('button', { name: 'cellar', exact: true, pressed: true }).waitFor();
    await page.getByLabel('Search measurements').fill('big');
    await page.getByRole('button', { name: 'Open room' }).waitFor({ state: 'detached' });
    await page.getByLabel('Search measurements').fill('');
  });

  test('a form says the same as the text, both ways', async () => {
    const { page } = visit;
    await page.getByRole('button', { name: 'Builder', exact: true }).click();
    await page.getByLabel('Windows', { exact: true }).selectOption('$interval');
    await page.getByRole('checkbox', { name: 'floor' }).uncheck();
    await page.getByRole('button', { name: 'Remove name' }).click();
    await visit.inspectThemes('explore-1');
    await page.getByRole('button', { name: 'Text', exact: true }).click();
    await expect
      .poll(() => statement().textContent())
      .toBe('SELECT mean(celsius) FROM room WHERE $timeFilter GROUP BY time($interval), "name"');
    await type('SELECT celsius * 2 FROM room WHERE $timeFilter');
    await page.getByRole('button', { name: 'Builder', exact: true }).click();
    await page.getByText('cannot be shown in the builder').waitFor();
    await page.getByRole('button', { name: 'Text', exact: true }).click();
    await expect.poll(() => statement().textContent()).toContain('celsius * 2');
  });

  test('the answer is a chart with figures, and dragging in it chooses the span', async () => {
    const { page } = visit;
    await run('SELECT mean(celsius) FROM room WHERE $timeFilter GROUP BY time($interval), "name"');
    const legend = page.getByRole('group', { name: 'Legend' });
    await legend.getByRole('row', { name: /mean name=kitchen 1\d.* 2\d/ }).waitFor();
    const plot = page.locator('.u-over');
    const box = await plot.boundingBox();
    if (box === null) throw new Error('the plot is not shown');
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.6, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.8, y, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/from=20\d\d/);
    const params = new URL(page.url()).searchParams;
    const minutes =
      (Date.parse(params.get('to') ?? '') - Date.parse(params.get('from') ?? '')) / 60_000;
    expect(minutes).toBeGreaterThan(10);
    expect(minutes).toBeLessThan(14);
    await visit.inspect('explore');
  });

  test('a link restores the view; one that would change something only shows it', async () => {
    const address = visit.page.url();
    const { page } = visit;
    await page.evaluate('sessionStorage.clear()');
    await page.goto(address);
    await page.getByRole('group', { name: 'Legend' }).getByText('mean name=attic').waitFor();

    await visit.show(`explore?db=house&q=${encodeURIComponent('DROP MEASUREMENT big')}`);
    await statement().getByText('DROP').waitFor();
    const kept = await query(visit.server.tsdb, 'SHOW MEASUREMENTS', 'house');
    expect(kept[0]?.values).toContainEqual(['big']);
  });

  test('times and long integers keep all their digits, in a zone that is chosen', async () => {
    const { page } = visit;
    await run('SELECT count FROM big');
    await page.getByRole('cell', { name: '9223372036854775807' }).waitFor();
    await page.getByRole('button', { name: /^Last|–/ }).click();
    await page.getByLabel('Time zone').fill('Asia/Tokyo');
    await page.getByLabel('Time zone').press('Enter');
    await visit.inspectThemes('explore-2');
    await page.keyboard.press('Escape');
    await page.getByRole('cell', { name: '2023-11-15 07:13:20.123456789' }).waitFor();
  });

  test('no more rows are read than are shown, until more are wanted', async () => {
    const { page } = visit;
    await run('SELECT value FROM many');
    await page.getByText('Showing the first 10,000 rows.').waitFor();
    await page.getByRole('button', { name: 'Chart', exact: true }).click();
    await page.getByRole('button', { name: 'Load more rows' }).click();
    await page.getByText(`${POINTS.toLocaleString('en')} rows ·`).waitFor();
    await rows('Rows of series 1 many').evaluate((frame) => frame.scrollTo(0, frame.scrollHeight));
    await page.getByRole('cell', { name: String(POINTS - 1), exact: true }).waitFor();
  });

  test('chart, table and raw answer stand side by side, as they are wanted', async () => {
    const { page } = visit;
    await visit.show('explore?db=house&view=raw&q=SELECT+count+FROM+big');
    await rows('Raw result of statement 1').getByText('9223372036854775807').waitFor();
    expect(await page.getByRole('cell', { name: /^9223/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'Table', exact: true }).click();
    await page.getByRole('button', { name: 'Chart', exact: true }).click();
    const parts = [
      page.locator('.chart-plot canvas'),
      rows('Rows of series 1 big'),
      rows('Raw result of statement 1'),
    ];
    const boxes = await Promise.all(parts.map((part) => part.boundingBox()));
    const lefts = boxes.map((box) => box?.x ?? NaN);
    expect(lefts).toEqual(lefts.toSorted((a, b) => a - b));
    expect(new Set(lefts).size).toBe(3);
    expect(new URL(page.url()).searchParams.get('view')).toBe('chart,table,raw');
    await visit.inspectThemes('explore-3');
  });

  test('charts share the cursor, and a chart is saved as a picture', async () => {
    const { page } = visit;
    await visit.show('explore?db=house&view=chart');
    await run(
      'SELECT celsius FROM room WHERE $timeFilter; SELECT doors FROM room WHERE $timeFilter',
    );
    const second = page.getByRole('region', { name: 'Statement 2' });
    const atCursor = second
      .getByRole('row', { name: /^doors/ })
      .getByRole('cell')
      .last();
    await second.locator('.u-over').waitFor();
    await page.getByRole('region', { name: 'Statement 1' }).locator('.u-over').hover();
    await expect.poll(() => atCursor.textContent()).toMatch(/^[012]$/);
    await page.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'PNG' }).click(),
    ]);
    const picture = await readFile(await download.path());
    expect(picture.subarray(1, 4).toString()).toBe('PNG');
    expect(picture.length).toBeGreaterThan(2000);
  });

  test('a span is typed as "now − x", doubled, and moved by keys', async () => {
    const { page } = visit;
    await page.getByRole('button', { name: /^Last/ }).click();
    await page.getByLabel('From').fill('now - 20m');
    await page.getByLabel('To', { exact: true }).fill('now-5m');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/from=now\+-\+20m&to=now-5m/);
    const figures = page.getByText(/rows ·/);
    await expect.poll(() => figures.textContent()).toMatch(/^5,\d\d\d rows/);
    await page.getByRole('button', { name: 'Zoom out' }).click();
    await page.waitForURL(/from=20\d\d/);
    await expect.poll(() => figures.textContent()).toMatch(/^[89],\d\d\d rows|^10,/);
    const { searchParams } = new URL(page.url());
    const at = (name: string): number => Date.parse(searchParams.get(name) ?? '');
    expect((at('to') - at('from')) / 60_000).toBeCloseTo(30, 1);
    // A chart alone: its data is moved, nothing is requested.
    const chart = page.getByRole('region', { name: 'Statement 1' }).getByRole('img');
    const last = page.getByRole('region', { name: 'Statement 1' }).getByRole('cell').nth(4);
    await chart.focus();
    const before = await last.textContent();
    for (let i = 0; i < 7; i++) await page.keyboard.press('ArrowLeft');
    await expect.poll(() => last.textContent()).not.toBe(before);
    await page.keyboard.press('Home');
    await expect.poll(() => last.textContent()).toBe(before);
  });

  test('a running query is cancelled, in the database too', async () => {
    const { page } = visit;
    const running = async (): Promise<boolean> =>
      JSON.stringify(await query(visit.server.tsdb, 'SHOW QUERIES')).includes('time(1ms)');
    await run(
      'SELECT count(m) FROM (SELECT mean(value) AS m FROM many WHERE time < 7h GROUP BY time(1ms) fill(0))',
    );
    await expect.poll(running).toBe(true);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'detached' });
    await expect.poll(running).toBe(false);
  });

  test('asks again by itself, as often as is chosen, what is chosen then', async () => {
    const { page } = visit;
    await visit.show('explore?db=house&refresh=1s&view=table');
    expect(await page.getByLabel('Refresh interval').inputValue()).toBe('1s');
    await run('SELECT last(value) FROM many');
    await page.getByRole('cell', { name: String(POINTS - 1), exact: true }).waitFor();
    await write(visit.server.tsdb, 'house', `many value=-7 ${POINTS + 1}`, { precision: 's' });
    await page.getByRole('cell', { name: '-7', exact: true }).waitFor();
    await page.getByLabel('Refresh interval').selectOption('');
    await expect.poll(() => page.url()).not.toContain('refresh=');
  });

  test('all points are drawn by what the database makes of them, no extreme hidden', async () => {
    const { page } = visit;
    await visit.show('explore?db=house&from=1970-01-01T00:00:00Z&to=1970-01-01T06:56:40Z');
    await run('SELECT value FROM many WHERE $timeFilter');
    await page.getByRole('button', { name: 'Show all, downsampled' }).click();
    const legend = page.getByRole('group', { name: 'Legend' });
    await legend.getByRole('row', { name: /^value 0 2[45][.\d]*k/ }).waitFor();
    await page.getByText('Downsampled: the smallest and largest value').waitFor();
    await visit.show('explore?db=house');
  });

  test('rows are saved as CSV and as line protocol', async () => {
    const { page } = visit;
    const save = async (kind: string): Promise<string> => {
      await page.getByRole('button', { name: 'Export' }).click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: kind }).click(),
      ]);
      return readFile(await download.path(), 'utf8');
    };
    await run('SELECT * FROM big');
    await rows('Rows of series 1 big').waitFor();
    expect(await save('CSV')).toBe(
      'name,time,count,note\nbig,2023-11-14T22:13:20.123456789Z,9223372036854775807,a\n',
    );
    expect(await save('Line protocol')).toBe(
      'big,note=a count=9223372036854775807i 1700000000123456789\n',
    );
    expect(await save('JSON')).toContain('9223372036854775807');
  });

  test('a wrong statement shows where it is wrong, while it is written and when it was run', async () => {
    const { page } = visit;
    await run('SELECT celsius FORM room');
    const caret = page.locator('pre.caret');
    await caret.waitFor();
    const [line, mark = ''] = ((await caret.textContent()) ?? '').split('\n');
    expect(line).toBe('SELECT celsius FORM room');
    expect(mark.indexOf('^')).toBe('SELECT celsius '.length);
    await page.locator('.cm-lintRange-error', { hasText: 'FORM' }).waitFor();
  });

  test('each of several statements has its own answer, an error among them too', async () => {
    const { page } = visit;
    await run('SELECT count FROM big; SHOW DATABASES; SELECT maen(celsius) FROM room');
    await page
      .getByRole('region', { name: 'Statement 3' })
      .getByText('did you mean mean()?')
      .waitFor();
    await page
      .getByRole('region', { name: 'Statement 1' })
      .getByRole('cell', { name: /^9223/ })
      .waitFor();
    await page
      .getByRole('region', { name: 'Statement 2' })
      .getByRole('cell', { name: 'house' })
      .waitFor();
  });

  test('a plan is a tree', async () => {
    const { page } = visit;
    await type('SELECT mean(celsius) FROM room');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page
      .getByRole('group', { name: 'Plan' })
      .getByText(/: total .*own /)
      .first()
      .waitFor();
    await visit.inspect('explore-plan');
  });

  test('explaining a text with a statement that changes something changes nothing', async () => {
    const { page, server } = visit;
    await write(server.tsdb, 'house', 'victim v=1 1');
    await type('SELECT v FROM victim; DROP MEASUREMENT victim');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('changes data, so it is not run automatically').waitFor();
    // The failed request is repeated, not the current statement.
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('changes data, so it is not run automatically').waitFor();

    expect(await query(server.tsdb, 'SELECT v FROM victim', 'house')).toHaveLength(1);
  });

  test('names of the database are completed', async () => {
    const { page } = visit;
    await type('SELECT mean(celsius) FROM ');
    await page.keyboard.press('Control+Space');
    await page.getByRole('option', { name: /room/ }).click();
    await expect.poll(() => statement().textContent()).toBe('SELECT mean(celsius) FROM room');
  });

  test('statements that were run are remembered', async () => {
    const { page } = visit;
    await page.getByRole('button', { name: 'History' }).click();
    await page.getByPlaceholder('Save this statement as').fill('mean');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Delete mean' }).waitFor();
    await visit.inspectThemes('explore-4');
    await page.getByRole('button', { name: 'SELECT count FROM big', exact: true }).click();
    await expect.poll(() => statement().textContent()).toBe('SELECT count FROM big');
  });

  test('the server keeps saved statements, including those that browsers have kept before', async () => {
    const { page } = visit;
    const old = JSON.stringify([{ name: 'old', text: 'SHOW DATABASES', database: '' }]);
    await page.evaluate(`localStorage.setItem('tidemark.preference.explore.saved', '${old}')`);
    await page.reload();
    await page.getByRole('button', { name: 'History' }).click();
    await page.getByRole('button', { name: 'old SHOW DATABASES' }).waitFor();
    await page.getByRole('button', { name: 'Delete mean' }).click();
    await page.getByRole('button', { name: 'Delete mean' }).waitFor({ state: 'detached' });
    const kept = await send(`${visit.server.tsdb}/api/documents?kind=queries`);
    expect(JSON.parse(kept.text)).toMatchObject({ documents: [{ title: 'old' }] });
    await page.keyboard.press('Escape');
  });

  test('on a phone a button leads to the schema, and a measurement in it to its chart', async () => {
    const { page } = visit;
    await page.setViewportSize({ width: 390, height: 844 });
    await page.reload();
    const way = page.getByRole('button', { name: 'Schema', exact: true });
    await way.waitFor();
    const tree = page.getByRole('complementary', { name: 'Schema' });
    expect(await tree.count()).toBe(0);
    await way.press('Enter');
    await tree.getByRole('button', { name: 'big', exact: true }).press('Enter');
    await expect.poll(() => statement().textContent()).toContain('FROM big');
    await visit.inspect('explore-phone');
    await page.setViewportSize({ width: 390, height: 844 });
    await way.press('Enter');
    await tree.waitFor({ state: 'detached' });
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('survives a restart of the services with what was typed', async () => {
    const { page } = visit;
    await type('SELECT count FROM big WHERE time > 0');
    await visit.restart(async () => {
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByText('Query failed').waitFor();
      await page.getByText(/is not responding\. Retrying/).waitFor();
      await visit.inspectThemes('explore-5');
    });
    await page.getByText(/is not responding\. Retrying/).waitFor({ state: 'detached' });
    await expect.poll(() => statement().textContent()).toBe('SELECT count FROM big WHERE time > 0');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('cell', { name: '9223372036854775807' }).waitFor();
    expect(visit.faults).toEqual([]);
  });
});
