// Dashboards: made, filled, arranged, saved, and brought back.
import { hasPrograms, query, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Visit } from './visit.ts';

const MINUTES = 50;

/** Rooms of a house, a value a minute until now. */
function houseLines(nowMs: number): string {
  const lines: string[] = [];
  for (let i = 0; i < MINUTES; i++) {
    const time = BigInt(nowMs - (MINUTES - i) * 60_000) * 1_000_000n;
    for (const [at, room] of ['attic', 'kitchen'].entries()) {
      const celsius = 18 + at * 3 + Math.sin(i / 8) * 2;
      const state = i < 20 ? 'ok' : i < 30 ? 'warning' : 'ok';
      lines.push(`room,name=${room} celsius=${celsius.toFixed(2)},state="${state}" ${time}`);
    }
  }
  lines.push(`event text="window opened" ${BigInt(nowMs - 25 * 60_000) * 1_000_000n}`);
  return lines.join('\n');
}

const queryOf = (text: string) => ({ text, database: '', label: '' });
const MEAN = queryOf(
  'SELECT mean(celsius) FROM room WHERE $timeFilter AND "name" =~ /^$room$/ GROUP BY time($interval), "name" fill(none)',
);
const place = (x: number, y: number, w = 4, h = 5) => ({ x, y, w, h });

/** One cell of each kind. */
const HOUSE = {
  title: 'House',
  database: 'house',
  variables: [
    { name: 'room', kind: 'query', query: 'SHOW TAG VALUES WITH KEY = "name"', isMulti: true },
  ],
  annotations: [
    { name: 'events', kind: 'query', query: 'SELECT text FROM event WHERE $timeFilter' },
  ],
  cells: [
    { id: 'a', title: 'Lines', kind: 'line', queries: [MEAN], ...place(0, 0) },
    { id: 'b', title: 'Areas', kind: 'area', isStacked: true, queries: [MEAN], ...place(4, 0) },
    { id: 'c', title: 'Points', kind: 'scatter', queries: [MEAN], ...place(8, 0) },
    {
      id: 'd',
      title: 'Groups',
      kind: 'bar',
      queries: [queryOf('SELECT mean(celsius) FROM room WHERE $timeFilter GROUP BY "name"')],
      ...place(0, 5),
    },
    { id: 'e', title: 'Spread', kind: 'histogram', queries: [MEAN], ...place(4, 5) },
    { id: 'f', title: 'Heat', kind: 'heatmap', queries: [MEAN], ...place(8, 5) },
    {
      id: 'g',
      title: 'Now',
      kind: 'single',
      thresholds: [{ value: 15, level: 'good' }],
      queries: [MEAN],
      ...place(0, 10),
    },
    {
      id: 'h',
      title: 'Gauge',
      kind: 'gauge',
      max: 30,
      thresholds: [{ value: 21, level: 'warn' }],
      queries: [MEAN],
      ...place(4, 10),
    },
    {
      id: 'i',
      title: 'States',
      kind: 'states',
      queries: [queryOf('SELECT state FROM room WHERE $timeFilter GROUP BY "name"')],
      ...place(8, 10),
    },
    {
      id: 'j',
      title: 'Rows',
      kind: 'table',
      queries: [queryOf('SELECT last(celsius) FROM room GROUP BY "name"')],
      ...place(0, 15),
    },
    {
      id: 'k',
      title: 'About',
      kind: 'note',
      note: '# Read me\n\n- **warm**\n- `cold`',
      ...place(4, 15),
    },
    { id: 'l', title: 'Alerts', kind: 'alerts', ...place(8, 15) },
  ],
};

describe.skipIf(!hasPrograms('chromium'))('dashboards', () => {
  let visit: Visit;
  const put = (id: string, version: number, content: object, title: string) =>
    fetch(`${visit.server.tsdb}/api/documents?kind=dashboards&id=${id}&version=${version}`, {
      method: 'PUT',
      body: JSON.stringify({ title, content }),
    });
  const cell = (title: string) =>
    visit.page.getByRole('region', { name: new RegExp(`^${title} \\(`) });
  const press = (name: string) => visit.page.getByRole('button', { name, exact: true }).click();

  beforeAll(async () => {
    visit = await Visit.open();
    const { tsdb } = visit.server;
    await query(tsdb, 'CREATE DATABASE house');
    await write(tsdb, 'house', houseLines(Date.now()));
    expect((await put('house', 0, HOUSE, 'House')).status).toBe(201);
  }, 60_000);
  afterAll(() => visit.close());

  test('every kind of cell shows its data, and variables choose it', async () => {
    const { page } = visit;
    await visit.show('dashboards?id=house');
    await cell('Lines').getByText('mean name=attic').waitFor();
    await cell('Groups').getByRole('rowheader', { name: 'mean name=kitchen' }).waitFor();
    await cell('States').getByText('warning').first().waitFor();
    await cell('Rows').getByRole('cell', { name: 'kitchen' }).waitFor();
    await cell('Heat').locator('rect').first().waitFor();
    await cell('Gauge').getByRole('img').first().waitFor();
    await cell('About').getByRole('heading', { name: 'Read me' }).waitFor();
    await cell('Alerts').getByText('Nothing alerts.').waitFor();
    await visit.inspect('dashboard');

    await press('all');
    await page.getByRole('checkbox', { name: 'attic' }).check();
    await cell('Lines').getByText('mean name=kitchen').waitFor({ state: 'detached' });
    expect(await visit.accessibilityFaults()).toEqual([]);
    await page.reload();
    await cell('Lines').getByText('mean name=attic').waitFor();
    expect(await cell('Lines').getByText('mean name=kitchen').count()).toBe(0);
  });

  test('cells are moved and sized by keys and by dragging, and each step can be taken back', async () => {
    const { page } = visit;
    await visit.show('dashboards?id=house&edit=1');
    const handle = page.getByRole('button', { name: 'Move Lines, with the arrow keys too' });
    await handle.focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('region', { name: 'Lines (2, 1)' }).waitFor();
    await press('Undo');
    await page.getByRole('region', { name: 'Lines (1, 1)' }).waitFor();

    const corner = page.getByRole('button', { name: 'Size of Lines, with the arrow keys too' });
    const before = (await cell('Lines').boundingBox())?.width ?? 0;
    const at = await corner.boundingBox();
    await page.mouse.move((at?.x ?? 0) + 8, (at?.y ?? 0) + 8);
    await page.mouse.down();
    await page.mouse.move((at?.x ?? 0) + 8 + before / 2, (at?.y ?? 0) + 8, { steps: 4 });
    await page.mouse.up();
    await expect
      .poll(async () => (await cell('Lines').boundingBox())?.width)
      .toBeGreaterThan(before);
    await page.getByText('There are changes that are not saved').waitFor();
    // What is not saved survives a reload.
    await page.reload();
    await expect
      .poll(async () => (await cell('Lines').boundingBox())?.width)
      .toBeGreaterThan(before);
    await press('Discard changes');
    await page.getByRole('dialog').getByRole('button', { name: 'Discard changes' }).click();
    await page.getByText('There are changes that are not saved').waitFor({ state: 'detached' });
  });

  test('a dashboard is made, saved, brought back and deleted; somebody else may be first', async () => {
    const { page } = visit;
    await visit.show('dashboards');
    await visit.inspect('dashboards');
    await press('New dashboard');
    await press('Settings');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Title').fill('Mine');
    await dialog.getByLabel('Database').selectOption('house');
    expect(await visit.accessibilityFaults()).toEqual([]);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Add a cell' }).first().click();
    await dialog.getByLabel('Title').fill('Warmth');
    await dialog.getByRole('textbox', { name: 'Statement 1' }).click();
    await page.keyboard.insertText('SELECT celsius FROM room WHERE $timeFilter');
    expect(await visit.accessibilityFaults()).toEqual([]);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await cell('Warmth').getByText('celsius').waitFor();

    // Meanwhile somebody else has stored another version.
    const id = new URL(page.url()).searchParams.get('id') ?? '';
    expect((await put(id, 1, { title: 'Theirs', cells: [] }, 'Theirs')).status).toBe(200);
    await press('Save');
    await dialog.getByText('was changed meanwhile').waitFor();
    expect(await visit.accessibilityFaults()).toEqual([]);
    await dialog.getByRole('button', { name: 'Overwrite' }).click();
    await page.getByText('Saved').waitFor();

    await press('More');
    await page.getByRole('menuitem', { name: 'Versions' }).click();
    expect(await visit.accessibilityFaults()).toEqual([]);
    await dialog.getByRole('row', { name: 'Theirs' }).getByRole('button').click();
    await page.getByRole('heading', { name: 'Theirs', level: 1 }).waitFor();
    await press('More');
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Dashboards', level: 1 }).waitFor();
    await expect.poll(() => page.getByRole('link', { name: 'Theirs' }).count()).toBe(0);
    await page.getByRole('link', { name: 'House' }).waitFor();
    expect(visit.faults).toEqual([]);
  });

  test('what nobody sees is not asked for', async () => {
    const { page } = visit;
    const cellAt = (id: string, y: number) => ({
      ...place(0, y),
      id,
      title: id,
      kind: 'table',
      queries: [queryOf(`SELECT last(celsius) AS ${id} FROM room`)],
    });
    const content = { database: 'house', cells: [cellAt('near', 0), cellAt('far', 60)] };
    expect((await put('long', 0, content, 'Long')).status).toBe(201);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.postData() ?? ''));
    const isAsked = (id: string): boolean => asked.some((body) => body.includes(`AS+${id}+`));
    await visit.show('dashboards?id=long');
    await cell('near').getByRole('columnheader', { name: 'near' }).waitFor();
    expect([isAsked('near'), isAsked('far')]).toEqual([true, false]);
    await cell('far').scrollIntoViewIfNeeded();
    await cell('far').getByRole('columnheader', { name: 'far' }).waitFor();
    expect(isAsked('far')).toBe(true);
  });

  test('a dashboard is shown alone, cloned, exported, and imported again', async () => {
    const { page } = visit;
    await visit.show('dashboards?id=house');
    await cell('About').waitFor();
    await page.keyboard.press('f');
    await page.getByRole('navigation').waitFor({ state: 'hidden' });
    expect(await visit.accessibilityFaults()).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('navigation').waitFor();
    await press('More');
    await page.getByRole('menuitem', { name: 'Clone' }).click();
    await page.getByRole('heading', { level: 1, name: 'Copy of House' }).waitFor();
    await press('More');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Export as JSON' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('Copy of House.json');
    await visit.show('dashboards');
    await press('Import');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('From a file').setInputFiles(await download.path());
    await dialog.getByText('From Tidemark: 12 cells, 1 variable. Nothing is left out.').waitFor();
    await dialog.getByLabel('JSON').fill('{"cells": 3}');
    await dialog.getByText('This is no dashboard').waitFor();
    await dialog.getByLabel('JSON').fill('{');
    await dialog.getByText('This is no JSON').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  });

  test('a statement goes from Explore to a dashboard', async () => {
    const { page } = visit;
    await visit.show('explore?db=house&q=SELECT+max(celsius)+FROM+room');
    await press('Put it on a dashboard');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Dashboards').selectOption('Long');
    await dialog.getByLabel('Title').fill('Highest');
    await dialog.getByLabel('Shown as').selectOption('single');
    expect(await visit.accessibilityFaults()).toEqual([]);
    await dialog.getByRole('button', { name: 'Add it' }).click();
    await page.getByRole('heading', { level: 1, name: 'Long' }).waitFor();
    await cell('Highest').scrollIntoViewIfNeeded();
    await cell('Highest').getByText('23').waitFor();
  });

  test('what is typed survives a restart of the services', async () => {
    const { page } = visit;
    await visit.show('dashboards?id=house&edit=1');
    await cell('Rows').getByRole('cell', { name: 'kitchen' }).waitFor();
    await page.getByRole('button', { name: 'Add a cell' }).click();
    const title = page.getByRole('dialog').getByLabel('Title');
    await title.fill('While it was');
    await visit.restart(async () => {
      await title.pressSequentially(' down');
      await page.getByRole('dialog').getByLabel('Shown as').selectOption('note');
      await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click();
      await press('Ask again');
      await page.getByText('does not answer. Trying').waitFor();
    });
    await page.getByText('does not answer. Trying').waitFor({ state: 'detached' });
    await cell('Rows').getByRole('cell', { name: 'kitchen' }).waitFor();
    await cell('While it was down').waitFor();
    await press('Save');
    await page.getByText('Saved').waitFor();
    expect(visit.faults).toEqual([]);
  });
});
