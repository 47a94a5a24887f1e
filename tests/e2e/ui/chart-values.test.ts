// The values below the cursor of a chart: with a mouse, with a finger and with keys.
import { hasPrograms, query, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { place, queryOf } from './house.ts';
import { Visit } from './visit.ts';

const HOSTS = 15;
const MINUTES = 60;

describe.skipIf(!hasPrograms('chromium'))('values below the cursor', () => {
  let visit: Visit;
  const cell = (title: string) =>
    visit.page.getByRole('region', { name: new RegExp(`^${title} \\(`) });
  const tooltip = () => visit.page.getByRole('tooltip');
  /** Labels and values of the tooltip, in their order. */
  const rows = () => tooltip().getByRole('row').allTextContents();

  beforeAll(async () => {
    visit = await Visit.open();
    const { tsdb } = visit.server;
    await query(tsdb, 'CREATE DATABASE fleet');
    const lines: string[] = [];
    for (let host = 0; host < HOSTS; host++) {
      // Constant lines, ten apart: h0 is at 0, h14 at 140.
      for (let i = 0; i < MINUTES; i++) {
        lines.push(`cpu,host=h${host} value=${host * 10} ${Date.UTC(2026, 0, 1, 10, i)}`);
      }
    }
    await write(tsdb, 'fleet', lines.join('\n'), { precision: 'ms' });
    const text = 'SELECT mean(value) AS v FROM cpu WHERE $timeFilter GROUP BY time(1m), host';
    const chart = (id: string, x: number, more: object = {}) => ({
      ...place(x, 0, 6, 9),
      id,
      title: id,
      kind: 'line',
      queries: [{ ...queryOf(text), label: '$tag_host' }],
      ...more,
    });
    const cells = [
      chart('left', 0),
      chart('right', 6),
      { ...chart('low', 0), ...place(0, 9, 6, 3) },
    ];
    await fetch(`${tsdb}/api/documents?kind=dashboards&id=values&version=0`, {
      method: 'PUT',
      body: JSON.stringify({ title: 'Values', content: { database: 'fleet', cells } }),
    });
    await visit.show(
      'dashboards?id=values&from=2026-01-01T10:00:00.000Z&to=2026-01-01T11:00:00.000Z',
    );
    await cell('left').getByRole('button', { name: 'h14' }).waitFor();
    await cell('right').getByRole('button', { name: 'h14' }).waitFor();
  }, 60_000);
  afterAll(() => visit.close());

  test('the mouse shows the time and all values, nearest first, and a line in the other cells', async () => {
    const { page } = visit;
    const box = await cell('left').locator('.u-over').boundingBox();
    if (box === null) throw new Error('the plot is not shown');
    // Near the top: h14 is nearest, then h13.
    await page.mouse.move(box.x + box.width / 2, box.y + box.height * 0.06);
    await tooltip().waitFor();
    await expect.poll(() => tooltip().count()).toBe(1);
    await tooltip().getByText('2026-01-01 10:30:00').waitFor();
    expect((await rows()).slice(0, 3)).toEqual(['h14140', 'h13130', 'h12120']);
    await tooltip().getByText('3 more series').waitFor();
    const cursor = (await cell('right').locator('.u-cursor-x').getAttribute('style')) ?? '';
    expect(cursor).toMatch(/translate\(\d{2,}/);
    await page.mouse.move(box.x + box.width / 2, box.y + box.height * 0.94);
    await expect.poll(async () => (await rows())[0]).toBe('h00');
    await visit.inspectThemes('chart-values-1');
    await page.mouse.move(2, 2);
    await tooltip().waitFor({ state: 'detached' });
  });

  test('the search of the legend finds series in the values too; a hidden one is not listed', async () => {
    const { page } = visit;
    const left = cell('left');
    await left.getByRole('searchbox', { name: 'Search series' }).fill('h1');
    expect(await left.getByRole('listitem').allTextContents()).toEqual([
      'h1',
      'h10',
      'h11',
      'h12',
      'h13',
      'h14',
    ]);
    await left.getByRole('button', { name: 'h14' }).click();
    const box = await left.locator('.u-over').boundingBox();
    if (box === null) throw new Error('the plot is not shown');
    await page.mouse.move(box.x + box.width / 2, box.y + box.height * 0.06);
    await expect.poll(rows).toEqual(['h13130', 'h12120', 'h11110', 'h10100', 'h110']);
    await page.mouse.move(2, 2);
  });

  test('a finger shows them and leaves them; keys go from point to point', async () => {
    const { page } = visit;
    const plot = cell('right').locator('.u-over');
    const box = await plot.boundingBox();
    if (box === null) throw new Error('the plot is not shown');
    const touch = (type: string, at: number) =>
      plot.dispatchEvent(type, {
        pointerType: 'touch',
        clientX: box.x + box.width * at,
        clientY: box.y + box.height / 2,
      });
    await cell('right').getByRole('img').dispatchEvent('pointerenter', { pointerType: 'touch' });
    await touch('pointerdown', 0.25);
    await tooltip().getByText('10:15:00').waitFor();
    await touch('pointermove', 0.75);
    await tooltip().getByText('10:45:00').waitFor();
    await cell('right').getByRole('img').dispatchEvent('pointerleave', { pointerType: 'touch' });
    await tooltip().getByText('10:45:00').waitFor();

    await cell('right').getByRole('img').focus();
    await page.keyboard.press('.');
    await tooltip().getByText('10:46:00').waitFor();
    await page.keyboard.press(',');
    await page.keyboard.press(',');
    await tooltip().getByText('10:44:00').waitFor();
    await page.keyboard.press('Tab');
    await tooltip().waitFor({ state: 'detached' });
    // Three rows are for the lines alone.
    expect(await cell('low').getByRole('list', { name: 'Legend' }).count()).toBe(0);
    expect((await cell('low').locator('.u-over').boundingBox())?.height).toBeGreaterThan(60);
    expect(visit.faults).toEqual([]);
  });

  test('series and values of tables lead to addresses with what they are', async () => {
    const { page } = visit;
    const text = `SELECT last(value) AS v FROM cpu WHERE $timeFilter AND host = 'h3' GROUP BY host`;
    const lines = "SELECT value FROM cpu WHERE $timeFilter AND host = 'h3' GROUP BY host";
    const cells = [
      {
        ...place(0, 0),
        id: 'a',
        title: 'Lines',
        kind: 'line',
        queries: [queryOf(lines)],
        options: { link: 'https://wiki.example/$tag_host?from=$from' },
      },
      {
        ...place(4, 0),
        id: 'b',
        title: 'Rows',
        kind: 'table',
        queries: [queryOf(text)],
        options: { link: 'explore?db=fleet&q=$host+$col+$value' },
      },
    ];
    const body = JSON.stringify({ title: 'Links', content: { database: 'fleet', cells } });
    const path = `${visit.server.tsdb}/api/documents?kind=dashboards&id=links&version=0`;
    expect((await fetch(path, { method: 'PUT', body })).status).toBe(201);
    await visit.show(
      'dashboards?id=links&from=2026-01-01T10:00:00.000Z&to=2026-01-01T11:00:00.000Z',
    );
    const link = cell('Lines').getByRole('link', { name: /^Link of / });
    expect(await link.getAttribute('href')).toBe(
      'https://wiki.example/h3?from=2026-01-01T10%3A00%3A00.000Z',
    );
    await visit.inspect('cell-links');
    await cell('Rows').getByRole('link', { name: '30', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Explore' }).waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toBe('h3 v 30');
  });

  test('lines have the colours of the thresholds that they reach', async () => {
    const { page } = visit;
    const text = `SELECT value FROM cpu WHERE $timeFilter AND host =~ /^h(?:1|14)$/ GROUP BY host`;
    const options = {
      isByValue: true,
      thresholdStyle: 'off',
      hasLegend: false,
      thresholds: [{ value: 100, level: 'bad' }],
    };
    const chart = { ...place(0, 0), id: 'a', title: 'Hot', kind: 'line', options };
    const cells = [{ ...chart, queries: [queryOf(text)] }];
    const body = JSON.stringify({ title: 'Colours', content: { database: 'fleet', cells } });
    const path = `${visit.server.tsdb}/api/documents?kind=dashboards&id=colours&version=0`;
    expect((await fetch(path, { method: 'PUT', body })).status).toBe(201);
    await visit.show(
      'dashboards?id=colours&from=2026-01-01T10:00:00.000Z&to=2026-01-01T11:00:00.000Z',
    );
    await cell('Hot').locator('.u-over').waitFor();
    /** How many pixels of the upper and of the lower half have the colour of the level. */
    const count = `(() => {
      const probe = document.body.appendChild(document.createElement('i'));
      probe.style.color = 'var(--bad)';
      const wanted = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
      probe.remove();
      const canvas = document.querySelector('.dash-cell canvas');
      const { width, height } = canvas;
      const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
      const halves = [0, 0];
      for (let i = 0; i < data.length; i += 4) {
        const isIt = wanted.every((part, at) => Math.abs(data[i + at] - part) < 30);
        if (isIt && data[i + 3] > 150) halves[i / 4 / width < height / 2 ? 0 : 1]++;
      }
      return halves;
    })()`;
    await expect
      .poll(async () => ((await page.evaluate(count)) as number[])[0])
      .toBeGreaterThan(50);
    expect(((await page.evaluate(count)) as number[])[1]).toBe(0);
    expect(visit.faults).toEqual([]);
  });
});
