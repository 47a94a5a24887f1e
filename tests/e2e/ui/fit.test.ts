// Charts show whole lines of all series, however short their windows and however many rows.
import { hasPrograms, query, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { place, queryOf } from './house.ts';
import { Visit } from './visit.ts';

const STEP_MS = 10_000;
const HOSTS = 100;
const POINTS = 480;

describe.skipIf(!hasPrograms('chromium'))('charts of many points', () => {
  let visit: Visit;
  const now = Date.now();
  /** Texts of statements sent by the page since the last reset. */
  let asked: string[] = [];
  const press = (name: string) => visit.page.getByRole('button', { name, exact: true }).click();
  const intervals = () => asked.flatMap((text) => /time\((\w+)\)/.exec(text)?.[1] ?? []);
  const cell = (title: string) =>
    visit.page.getByRole('region', { name: new RegExp(`^${title} \\(`) });
  const put = (id: string, cells: readonly object[]) =>
    fetch(`${visit.server.tsdb}/api/documents?kind=dashboards&id=${id}&version=0`, {
      method: 'PUT',
      body: JSON.stringify({ title: id, content: { database: 'fleet', cells } }),
    });

  beforeAll(async () => {
    visit = await Visit.open();
    const { tsdb } = visit.server;
    await query(tsdb, 'CREATE DATABASE fleet');
    const lines: string[] = [];
    for (let host = 0; host < HOSTS; host++) {
      for (let i = 1; i <= POINTS; i++) {
        const value = host + (i === 100 ? 1000 : Math.sin(i / 30));
        lines.push(`cpu,host=h${host} value=${value} ${now - i * STEP_MS}`);
      }
    }
    await write(tsdb, 'fleet', lines.join('\n'), { precision: 'ms' });
    visit.page.on('request', (request) => {
      const text = new URLSearchParams(request.postData() ?? '').get('q');
      if (text?.startsWith('SELECT') === true) asked.push(text);
    });
  }, 60_000);
  afterAll(() => visit.close());

  test('windows are never shorter than the step of the data, and a refresh is one query', async () => {
    const text = `SELECT mean(value) FROM cpu WHERE $timeFilter AND host = 'h1' GROUP BY time($interval)`;
    await put('zoomed', [
      { ...place(0, 0, 12, 6), id: 'a', title: 'a', kind: 'line', queries: [queryOf(text)] },
    ]);
    const { page } = visit;
    // 20 minutes on 1000 pixels: windows of 2 or 5 seconds are wanted.
    await visit.show('dashboards?id=zoomed&from=now-20m&to=now');
    await cell('a').getByText('mean').waitFor();
    await expect.poll(intervals).toHaveLength(2);
    expect(intervals()[0]).toMatch(/^[25]s$/);
    expect(intervals()[1]).toBe('10s');
    asked = [];
    await press('Refresh now');
    await expect.poll(intervals).toEqual(['10s']);

    asked = [];
    await visit.show(`explore?db=fleet&from=now-20m&to=now&q=${encodeURIComponent(text)}`);
    await page
      .getByRole('group', { name: 'Legend' })
      .getByRole('button', { name: 'mean' })
      .waitFor();
    await expect.poll(() => intervals().at(-1)).toBe('10s');
    // No window is empty but those at the ends.
    const rows = page.getByText(/rows ·/);
    await expect
      .poll(async () => Number.parseInt((await rows.textContent()) ?? ''))
      .toBeLessThan(130);
  });

  test('a cell shows all series of more rows than are read, and says what each lacks', async () => {
    const text = 'SELECT value FROM cpu WHERE $timeFilter GROUP BY host';
    const windows = 'SELECT mean(value) FROM cpu WHERE $timeFilter GROUP BY time($interval), host';
    await put('many', [
      { ...place(0, 0, 12, 8), id: 'raw', title: 'raw', kind: 'line', queries: [queryOf(text)] },
      {
        ...place(0, 8, 12, 8),
        id: 'mean',
        title: 'mean',
        kind: 'line',
        queries: [queryOf(windows)],
      },
    ]);
    await visit.show('dashboards?id=many&from=now-90m&to=now');
    const raw = cell('raw');
    await raw.getByText('Showing the first 400 points of each of 100 series.').waitFor();
    await raw.getByText(`value host=h${HOSTS - 1}`).waitFor();
    await expect.poll(() => raw.getByRole('listitem').count()).toBe(HOSTS);
    await raw.getByRole('button', { name: 'Show all, downsampled' }).click();
    await raw.getByText('Showing the first').waitFor({ state: 'detached' });
    await expect.poll(() => raw.getByRole('listitem').count()).toBe(HOSTS);
    await cell('mean').scrollIntoViewIfNeeded();
    await cell('mean')
      .getByText(`mean host=h${HOSTS - 1}`)
      .waitFor();
    await expect.poll(() => cell('mean').getByRole('listitem').count()).toBe(HOSTS);
    expect(await cell('mean').getByText('Showing the first').count()).toBe(0);
    await visit.inspectThemes('fit-1');
  });

  test('Explore shares its rows among the series, reads more, and draws all of it', async () => {
    const { page } = visit;
    const text = 'SELECT value FROM cpu WHERE $timeFilter GROUP BY host';
    await visit.show(`explore?db=fleet&from=now-1h&to=now&q=${encodeURIComponent(text)}`);
    await page.getByText('Showing the first 100 points of each of 100 series.').waitFor();
    const legend = page.getByRole('group', { name: 'Legend' });
    await expect.poll(() => legend.getByRole('row').count()).toBe(HOSTS + 1);
    await press('Load more rows');
    await page.getByText('Showing the first 600 points of each of 100 series.').waitFor();
    await press('Show all, downsampled');
    await page.getByText('Downsampled: the smallest and largest value').waitFor();
    await legend.getByRole('row', { name: /^value host=h7 .* 1007 / }).waitFor();
    expect(visit.faults).toEqual([]);
  });
});
