// Dashboards: viewed, in full screen, cloned, exported.
import { readFile } from 'node:fs/promises';

import { eventually, hasPrograms, query, send, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { HOUSE, houseLines, place, queryOf } from './house.ts';
import { Visit } from './visit.ts';

const SCRIPT = `stream
    |from()
        .measurement('room')
        .where(lambda: "name" == 'kitchen')
    |alert()
        .id('k')
        .warn(lambda: "celsius" > 22.0)
        .stateChangesOnly()
        .topic('warm')
`;

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
    await cell('Alerts').getByText('No open events.').waitFor();
    await visit.inspect('dashboard');

    await press('all');
    await page.getByRole('checkbox', { name: 'attic' }).check();
    await cell('Lines').getByText('mean name=kitchen').waitFor({ state: 'detached' });
    await visit.inspectThemes('dashboards-1');
    await page.reload();
    await cell('Lines').getByText('mean name=attic').waitFor();
    expect(await cell('Lines').getByText('mean name=kitchen').count()).toBe(0);
  });

  test('a cell is saved as rows and as a picture, and its query goes to Explore', async () => {
    const { page } = visit;
    await visit.show('dashboards?id=house');
    await cell('Lines').getByText('mean name=attic').waitFor();
    const save = async (item: string): Promise<Buffer> => {
      await press('Actions for Lines');
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: item }).click(),
      ]);
      expect(download.suggestedFilename()).toMatch(/^Lines\.(csv|png)$/);
      return readFile(await download.path());
    };
    expect(String(await save('Download CSV'))).toMatch(/^name,name,time,mean\nroom,attic,20\d\d/);
    expect((await save('Download PNG')).subarray(1, 4).toString()).toBe('PNG');
    await press('Actions for Lines');
    await visit.inspectThemes('dashboards-2');
    await page.getByRole('menuitem', { name: 'Open in Explore' }).click();
    await page.getByRole('heading', { level: 1, name: 'Explore' }).waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toContain('"name" =~ /^.*$/');
    await page.getByRole('group', { name: 'Legend' }).getByText('mean name=attic').waitFor();
  });

  test('charts share cursor and span, and are marked where something happened', async () => {
    const { page } = visit;
    const { engine } = visit.server;
    const task = { id: 'warm', script: SCRIPT, dbrps: [{ db: 'house', rp: 'autogen' }] };
    const made = await send(`${engine}/engine/v1/tasks`, {
      method: 'POST',
      body: JSON.stringify({ ...task, type: 'stream', status: 'enabled' }),
    });
    expect(made.status, made.text).toBe(200);
    await write(engine, 'house', houseLines(Date.now()), { rp: 'autogen' });
    await eventually('a change of levels', async () =>
      (await send(`${engine}/engine/v1preview/alerts/history?topic=warm`)).text.includes('"OK"')
        ? true
        : undefined,
    );
    const annotations = [
      ...HOUSE.annotations,
      { name: 'warm', kind: 'alerts', topic: 'w*' },
      { name: 'others', kind: 'alerts', topic: 'x*' },
    ];
    // Wide enough for the words of all marks.
    const cells = HOUSE.cells.slice(0, 2).map((each, i) => ({ ...each, ...place(0, i * 5, 12) }));
    const content = { ...HOUSE, annotations, cells, refresh: '45s' };
    expect((await put('marked', 0, content, 'Marked')).status).toBe(201);
    const drawn = await visit.drawnTexts();
    await visit.show('dashboards?id=marked');
    await expect.poll(drawn).toContain('window opened');
    await expect.poll(drawn).toContain('WARNING k');
    expect(await page.getByLabel('Refresh interval').inputValue()).toBe('45s');

    const cursor = (title: string) => cell(title).locator('.u-cursor-x');
    const plot = cell('Lines').locator('.u-over');
    await plot.hover();
    const cursorAt = async (title: string): Promise<string> =>
      /translate\(.*?\)/.exec((await cursor(title).getAttribute('style')) ?? '')?.[0] ?? '';
    const own = await cursorAt('Lines');
    expect(own).toMatch(/^translate\(\d{2,}/);
    await expect.poll(() => cursorAt('Areas')).toBe(own);

    const box = await plot.boundingBox();
    if (box === null) throw new Error('the plot is not shown');
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 2, box.y + 20, { steps: 3 });
    await page.mouse.up();
    await page.waitForURL(/from=20\d\d/);
    await cell('Areas').getByText('mean name=attic').waitFor();
  });

  test('a list of alerts begins with the most severe ones, whatever their names', async () => {
    const { engine } = visit.server;
    const script = `stream|from().measurement('load').groupBy('host')|alert().id('load {{ index .Tags "host" }}')
      .info(lambda: "value" > 0).crit(lambda: "value" > 90).topic('many')`;
    const made = await send(`${engine}/engine/v1/tasks`, {
      method: 'POST',
      body: JSON.stringify({
        id: 'many',
        type: 'stream',
        status: 'enabled',
        dbrps: [{ db: 'house', rp: 'autogen' }],
        script,
      }),
    });
    expect(made.status, made.text).toBe(200);
    const hosts = Array.from({ length: 70 }, (_, i) => `load,host=h${100 + i} value=${i + 22}`);
    await write(engine, 'house', hosts.join('\n'), { rp: 'autogen' });
    await eventually('the events', async () =>
      (await send(`${engine}/engine/v1preview/alerts/topics/many`)).text.includes('CRITICAL')
        ? true
        : undefined,
    );
    const cells = [{ id: 'a', title: 'Many', kind: 'alerts', topic: 'many', ...place(0, 0, 12) }];
    expect((await put('many', 0, { ...HOUSE, cells }, 'Many')).status).toBe(201);
    await visit.show('dashboards?id=many');
    const rows = cell('Many').getByRole('row');
    await rows.nth(1).getByText('CRITICAL').waitFor();
    await rows.nth(1).getByText('load h169').waitFor();
    expect(await rows.count()).toBe(51);
    await cell('Many')
      .getByText(/50 .*70/)
      .waitFor();
  });

  test('statements that would change something are not sent; what is left is not run on', async () => {
    const { page } = visit;
    const one = (id: string, text: string, x: number) => ({
      ...place(x, 0),
      id,
      title: id,
      kind: 'table',
      queries: [queryOf(text)],
    });
    const windows = 'SELECT mean(celsius) AS m FROM room WHERE time > now() - 9h';
    const content = {
      database: 'house',
      cells: [
        one('drops', 'DROP MEASUREMENT event', 0),
        one('long', `SELECT count(m) FROM (${windows} GROUP BY time(1ms) fill(0))`, 6),
      ],
    };
    expect((await put('careless', 0, content, 'Careless')).status).toBe(201);
    const running = async (): Promise<boolean> =>
      JSON.stringify(await query(visit.server.tsdb, 'SHOW QUERIES')).includes('time(1ms)');
    await visit.show('dashboards?id=careless');
    await cell('drops').getByText('changes data, so it is not run automatically').waitFor();
    await expect.poll(running).toBe(true);
    await page.getByRole('link', { name: 'All dashboards' }).click();
    await expect.poll(running).toBe(false);
    const kept = await query(visit.server.tsdb, 'SHOW MEASUREMENTS', 'house');
    expect(kept[0]?.values).toContainEqual(['event']);
  });

  test('cells out of sight are not queried', async () => {
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
    await visit.inspectThemes('dashboards-3');
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
    await dialog
      .getByText('From Tidemark: 12 cells, 1 variable. Everything is imported.')
      .waitFor();
    await dialog.getByLabel('JSON').fill('{"cells": 3}');
    await dialog.getByText('Not a dashboard').waitFor();
    await dialog.getByLabel('JSON').fill('{');
    await dialog.getByText('Invalid JSON').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  });

  test('a statement goes from Explore to a dashboard', async () => {
    const { page } = visit;
    await visit.show('explore?db=house&q=SELECT+max(celsius)+FROM+room');
    await press('Add to dashboard');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Dashboards').selectOption('Long');
    await dialog.getByLabel('Title').fill('Highest');
    await dialog.getByLabel('Shown as').selectOption('single');
    await visit.inspectThemes('dashboards-4');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('heading', { level: 1, name: 'Long' }).waitFor();
    await cell('Highest').scrollIntoViewIfNeeded();
    await cell('Highest').getByText('23').waitFor();
    expect(visit.faults).toEqual([]);
  });
});
