// Explore, its charts and time ranges with the keyboard alone; each view in both themes.
import { readFile } from 'node:fs/promises';

import { hasPrograms, query, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Keys } from './keys.ts';
import { Visit } from './visit.ts';

const HOSTS = 12;
const POINTS = 1000;

describe.skipIf(!hasPrograms('chromium'))('Explore with keys', () => {
  let visit: Visit;
  let keys: Keys;
  const button = (name: string) => visit.page.getByRole('button', { name, exact: true });
  const statement = () => visit.page.getByRole('textbox', { name: 'Statement' });
  const picker = () => visit.page.locator('.range-picker .popover-anchor button');
  const param = (name: string): string | null => new URL(visit.page.url()).searchParams.get(name);
  const explore = (text: string, more = '') =>
    visit.show(`explore?db=fleet&q=${encodeURIComponent(text)}${more}`);

  beforeAll(async () => {
    visit = await Visit.open();
    keys = new Keys(visit.page);
    const { tsdb } = visit.server;
    await query(tsdb, 'CREATE DATABASE fleet');
    const now = Date.now();
    const lines = Array.from({ length: HOSTS }, (_, host) =>
      Array.from(
        { length: POINTS },
        (_, i) => `cpu,host=h${host},zone=z${host % 2} busy=${host * 10} ${now - i * 3000}`,
      ).join('\n'),
    );
    await write(tsdb, 'fleet', lines.join('\n'), { precision: 'ms' });
    await write(tsdb, 'fleet', `victim v=1 ${now}`, { precision: 'ms' });
  }, 60_000);
  afterAll(() => visit.close());

  test('a text that would change something is not explained', async () => {
    const { page } = visit;
    await visit.show('explore?db=fleet');
    await page.locator('.cm-editor').waitFor();
    await keys.type(statement(), 'SELECT v FROM victim; DROP MEASUREMENT victim');
    await keys.press(button('Explain'));
    await page.getByText('changes data, so it is not run automatically').waitFor();
    await visit.inspectThemes('explore-refused');
    const kept = await query(visit.server.tsdb, 'SHOW MEASUREMENTS', 'fleet');
    expect(kept[0]?.values).toContainEqual(['victim']);
  });

  test('times are typed in a zone that is chosen, days come from the calendar', async () => {
    const { page } = visit;
    await explore('SELECT busy FROM cpu WHERE $timeFilter LIMIT 1');
    await keys.press(picker());
    const [from, to] = ['From', 'To'].map((name) => page.getByLabel(name, { exact: true }));
    const zone = page.getByLabel('Time zone');
    if (from === undefined || to === undefined) throw new Error('there are no fields');
    await keys.type(from, 'soon');
    await keys.type(zone, 'Mars/Olympus');
    await keys.keys('Enter');
    await page.getByText('Unknown time zone').waitFor();
    await visit.inspectThemes('time-range-wrong');
    await keys.type(zone, 'america/new_york');
    await keys.keys('Enter');
    await keys.type(from, '2026-01-15 02:00', 'back');
    await keys.type(to, '2026-01-16 02:00');
    await visit.inspectThemes('time-range');
    await keys.press(button('Apply'));
    await expect.poll(() => param('from')).toBe('2026-01-15T07:00:00.000Z');
    expect(param('to')).toBe('2026-01-16T07:00:00.000Z');

    await keys.press(picker());
    const calendar = page.getByRole('group', { name: 'Calendar' });
    await keys.press(calendar.getByRole('button', { name: 'Next month' }));
    await calendar.getByText('February 2026').waitFor();
    await keys.reach(calendar.locator('[data-day][tabindex="0"]'));
    await keys.keys('ArrowDown', 'Enter', 'ArrowRight', 'ArrowRight', 'Enter');
    expect(await from.inputValue()).toBe('2026-02-08 00:00:00');
    expect(await to.inputValue()).toBe('2026-02-10 23:59:59');
    await keys.press(button('Apply'));
    await expect.poll(() => param('from')).toBe('2026-02-08T05:00:00.000Z');

    await keys.press(picker());
    await keys.press(page.getByRole('group', { name: 'Relative ranges' }).getByText('Yesterday'));
    await expect.poll(() => param('from')).toBe('now-1d/d');
    await keys.press(button('Move range back'), 'back');
    await expect.poll(() => param('to')).toMatch(/T\d\d:\d\d:\d\d/);
    await page.evaluate('localStorage.clear()');
  });

  test('values of a chart are read, its series searched and hidden, its range selected', async () => {
    const { page } = visit;
    await explore(
      'SELECT mean(busy) FROM cpu WHERE $timeFilter GROUP BY time($interval), host',
      '&from=now-30m&to=now',
    );
    const chart = page.getByRole('img', { name: /^Chart of .*Comma and period/ });
    const tooltip = page.getByRole('tooltip');
    const valueOf = (name: string) => tooltip.getByRole('cell', { name, exact: true });
    await keys.reach(chart);
    await keys.keys('.');
    await valueOf('mean host=h11').waitFor();
    const timeOf = async () => /\d\d:\d\d:\d\d/.exec((await tooltip.textContent()) ?? '')?.[0];
    const first = await timeOf();
    await keys.keys('.');
    await expect.poll(timeOf).not.toBe(first);
    await visit.inspectThemes('chart-values');
    const legend = page.getByRole('group', { name: 'Legend' });
    const names = () => legend.locator('.legend-name').allTextContents();
    await keys.type(legend.getByRole('searchbox'), 'h1');
    await expect.poll(names).toEqual(['mean host=h1', 'mean host=h10', 'mean host=h11']);
    const h11 = legend.getByRole('button', { name: 'mean host=h11' });
    await keys.press(h11);
    expect(await h11.getAttribute('aria-pressed')).toBe('false');
    await visit.inspectThemes('chart-legend');
    await keys.keys('Enter');
    const h1 = legend.getByRole('button', { name: 'mean host=h1', exact: true });
    await keys.reach(h1, 'back');
    await keys.keys('Control+Enter');
    await expect.poll(() => h11.getAttribute('aria-pressed')).toBe('false');
    expect(await h1.getAttribute('aria-pressed')).toBe('true');
    await keys.keys('Control+Enter');
    await expect.poll(() => h11.getAttribute('aria-pressed')).toBe('true');
    await keys.press(h11);
    await keys.reach(chart, 'back');
    await keys.keys('.');
    await valueOf('mean host=h10').waitFor();
    expect(await valueOf('mean host=h11').count()).toBe(0);

    // What the keys have zoomed to becomes the range of the page, as with dragging.
    await keys.keys('+', 'Enter');
    await expect.poll(() => param('from')).toMatch(/^20\d\d/);
    const [from = '', to = ''] = [param('from') ?? '', param('to') ?? ''];
    const minutes = (Date.parse(to) - Date.parse(from)) / 60_000;
    expect(minutes).toBeGreaterThan(14);
    expect(minutes).toBeLessThan(16);
  });

  test('keys step through a chart from its edge, whatever the range begins with', async () => {
    const { page } = visit;
    const tooltip = page.getByRole('tooltip');
    const timeOf = async () => /\d\d:\d\d:\d\d/.exec((await tooltip.textContent()) ?? '')?.[0];
    const text = "SELECT busy FROM cpu WHERE host = 'h1' AND $timeFilter";
    const end = Date.now() - 60_000;
    for (const [minutes, shiftMs] of [
      [5, 0],
      [5, 1370],
      [7, 2740],
      [20, 700],
      [11, 2990],
    ] as const) {
      const [from, to] = [end - minutes * 60_000 + shiftMs, end + shiftMs].map((time) =>
        new Date(time).toISOString(),
      );
      await explore(text, `&from=${from}&to=${to}`);
      await keys.reach(page.getByRole('img', { name: /^Chart of .*Comma and period/ }));
      for (const [key, presses, isLater] of [
        ['.', 4, true],
        [',', 3, false],
      ] as const) {
        let before = '';
        for (let i = 0; i < presses; i++) {
          await keys.keys(key);
          await expect.poll(timeOf).not.toBe(before);
          const time = (await timeOf()) ?? '';
          if (before !== '') expect(time > before).toBe(isLater);
          before = time;
        }
      }
    }
  });

  test('what the limit of rows hides is read or drawn', async () => {
    const { page } = visit;
    await explore('SELECT busy FROM cpu WHERE $timeFilter GROUP BY host', '&from=now-1h&to=now');
    await page.getByText(/^Showing the first .* points of each of 12 series\.$/).waitFor();
    await visit.inspectThemes('explore-cut');
    await keys.press(button('Show all, downsampled'));
    await page.getByText('Downsampled: the smallest and largest value').waitFor();
    await visit.inspectThemes('explore-reduced');
    await explore('SELECT busy FROM cpu');
    await page.getByText('Showing the first 10,000 rows.').waitFor();
    await keys.press(button('Load more rows'));
    await page.getByText(/^12,000 rows ·/).waitFor();
  });

  test('a measurement of the schema answers at once; the builder and the text say the same', async () => {
    const { page } = visit;
    await visit.show('explore?db=fleet');
    const schema = page.getByRole('complementary', { name: 'Schema' });
    const inSchema = (name: string) => schema.getByRole('button', { name, exact: true });
    await keys.press(inSchema('cpu'));
    await expect
      .poll(() => statement().textContent())
      .toBe('SELECT mean(busy) FROM cpu WHERE $timeFilter GROUP BY time($interval), host, zone');
    await page.getByRole('group', { name: 'Legend' }).getByText('host=h3').waitFor();
    await keys.press(inSchema('Open cpu'), 'back');
    await keys.press(inSchema('Open zone'));
    await keys.press(inSchema('z1'));
    await expect.poll(() => statement().textContent()).toContain(`zone = 'z1'`);
    await visit.inspectThemes('explore-schema');
    await keys.press(button('Builder'));
    await keys.choose(page.getByLabel('Windows', { exact: true }), '5m');
    await keys.press(button('Add a field'));
    await keys.press(page.getByRole('dialog').getByRole('button', { name: 'busy' }));
    await visit.inspectThemes('explore-builder');
    await keys.toggle(page.getByRole('checkbox', { name: 'host' }));
    await keys.press(button('Text'), 'back');
    await expect
      .poll(() => statement().textContent())
      .toBe(
        `SELECT mean(busy), mean(busy) FROM cpu WHERE $timeFilter AND zone = 'z1' GROUP BY time(5m), zone`,
      );
  });

  test('results are exported, remembered and put on a dashboard', async () => {
    const { page } = visit;
    await explore('SELECT last(busy) FROM cpu GROUP BY host');
    await page.getByText(/^12 rows ·/).waitFor();
    await keys.press(button('Export'));
    await page.getByRole('menuitem', { name: 'CSV' }).waitFor();
    await visit.inspectThemes('explore-export');
    const [file] = await Promise.all([page.waitForEvent('download'), keys.keys('Enter')]);
    expect(await readFile(await file.path(), 'utf8')).toMatch(/^name,host,time,last\ncpu,h0,/);
    await keys.press(button('Run'), 'back');
    // Enter saves, also before the statements saved earlier are read.
    const goOn = await visit.hold('**/api/documents?**');
    await keys.press(button('History'));
    await keys.type(page.getByPlaceholder('Save this statement as'), 'latest');
    await keys.keys('Enter');
    await goOn();
    await button('Delete latest').waitFor();
    await visit.inspectThemes('explore-history');
    await keys.keys('Escape');
    await keys.press(button('Add to dashboard'));
    const dialog = page.getByRole('dialog');
    await keys.type(dialog.getByLabel('Title'), 'Latest');
    await visit.inspectThemes('explore-to-dashboard');
    await keys.keys('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  test('on a phone the schema opens, and tables are scrolled', async () => {
    const { page } = visit;
    await page.setViewportSize({ width: 390, height: 844 });
    await explore('SELECT * FROM cpu LIMIT 3', '&view=table');
    await keys.press(button('Schema'));
    const schema = page.getByRole('complementary', { name: 'Schema' });
    await keys.press(schema.getByRole('button', { name: 'victim', exact: true }));
    await expect.poll(() => statement().textContent()).toContain('FROM victim');
    await visit.inspectThemes('explore-phone-schema');
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(visit.faults).toEqual([]);
  });
});
