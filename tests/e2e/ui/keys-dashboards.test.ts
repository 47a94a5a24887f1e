// Dashboards with the keyboard alone; each view in both themes.
import { readFile } from 'node:fs/promises';

import { hasPrograms, query, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { houseLines, place, queryOf } from './house.ts';
import { Keys } from './keys.ts';
import { Visit } from './visit.ts';

const LINE = 'SELECT mean(celsius) FROM room WHERE $timeFilter GROUP BY time(1m), "name"';

describe.skipIf(!hasPrograms('chromium'))('dashboards with keys', () => {
  let visit: Visit;
  let keys: Keys;
  const put = (id: string, content: object) =>
    fetch(`${visit.server.tsdb}/api/documents?kind=dashboards&id=${id}&version=0`, {
      method: 'PUT',
      body: JSON.stringify({ title: id, content: { database: 'house', ...content } }),
    });
  const chart = (id: string, y: number, more: object = {}) => ({
    ...place(0, y, 6, 5),
    id,
    title: id,
    kind: 'line',
    queries: [queryOf(LINE.replace('celsius)', `celsius) AS ${id}`))],
    ...more,
  });
  const cell = (title: string) =>
    visit.page.getByRole('region', { name: new RegExp(`^${title} \\(`) });
  const button = (name: string) => visit.page.getByRole('button', { name, exact: true });
  const item = (name: string) => visit.page.getByRole('menuitem', { name, exact: true });
  const dialog = () => visit.page.getByRole('dialog');
  /** Opens the menu with the focus on its first item, and goes down to another. */
  const choose = async (menu: string, name: string): Promise<void> => {
    await keys.press(button(menu));
    await item(name).waitFor();
    const wanted = item(name);
    for (let i = 0; i < 10; i++) {
      if (await wanted.evaluate((each) => each.ownerDocument.activeElement === each)) break;
      await keys.keys('ArrowDown');
    }
  };

  beforeAll(async () => {
    visit = await Visit.open();
    keys = new Keys(visit.page);
    const { tsdb } = visit.server;
    await query(tsdb, 'CREATE DATABASE house');
    await write(tsdb, 'house', houseLines(Date.now()));
  }, 60_000);
  afterAll(() => visit.close());

  test('cells that the focus leaves and returns to are not asked again', async () => {
    const { page } = visit;
    await put('scrolled', { cells: [chart('near', 0), chart('far', 60)] });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.postData() ?? ''));
    const countOf = (id: string) => asked.filter((body) => body.includes(`AS+${id}+`)).length;
    await visit.show('dashboards?id=scrolled');
    await cell('near').getByText('near name=attic').waitFor();
    expect([countOf('near'), countOf('far')]).toEqual([1, 0]);
    await keys.reach(button('Actions for far'));
    await cell('far').getByText('far name=attic').waitFor();
    await keys.reach(button('Actions for near'), 'back');
    await cell('near').getByText('near name=attic').waitFor();
    await keys.reach(button('Actions for far'));
    await cell('far').getByText('far name=attic').waitFor();
    expect([countOf('near'), countOf('far')]).toEqual([1, 1]);
  });

  test('the last picture stays with a mark while the database is away', async () => {
    const { page } = visit;
    await put('away', { cells: [chart('kept', 0)] });
    await visit.show('dashboards?id=away');
    await cell('kept').getByText('kept name=attic').waitFor();
    await page.route('**/api/tsdb/query**', (route) => route.abort());
    await keys.press(button('Refresh now'));
    const stale = cell('kept').getByRole('button', { name: 'Not up to date' });
    await stale.waitFor();
    await cell('kept').getByText('kept name=attic').waitFor();
    await visit.inspectThemes('dashboard-away');
    // It also asks again by itself: the button may go once the database is back.
    await keys.reach(stale);
    await page.unroute('**/api/tsdb/query**');
    await keys.keys('Enter');
    await stale.waitFor({ state: 'detached' });
  });

  test('an import asks for its database; rows fold and repeat, titles have their values', async () => {
    const { page } = visit;
    const panel = {
      type: 'timeseries',
      title: 'Warmth of $room',
      gridPos: { x: 0, y: 1, w: 24, h: 8 },
    };
    const target = {
      query: 'SELECT celsius FROM room WHERE "name" =~ /^$room$/ AND $timeFilter',
      rawQuery: true,
    };
    const imported = {
      title: 'Imported',
      panels: [
        {
          type: 'row',
          title: 'Room $room',
          repeat: 'room',
          collapsed: false,
          gridPos: { x: 0, y: 0, w: 24, h: 1 },
        },
        { ...panel, targets: [target] },
      ],
      templating: {
        list: [
          { name: 'room', type: 'query', multi: true, query: 'SHOW TAG VALUES WITH KEY = "name"' },
        ],
      },
    };
    await visit.show('dashboards');
    await keys.press(button('Import'));
    await keys.type(dialog().getByLabel('JSON'), JSON.stringify(imported));
    await dialog().getByText('From Grafana: 2 cells, 1 variable.').waitFor();
    await visit.inspectThemes('dashboard-import');
    const take = dialog().getByRole('button', { name: 'Import dashboard' });
    expect(await take.isDisabled()).toBe(true);
    await keys.choose(dialog().getByLabel('Database'), 'house');
    await keys.press(take);
    await cell('Warmth of attic').getByText('celsius').waitFor();
    await cell('Warmth of kitchen').waitFor();
    await keys.press(page.getByRole('button', { name: 'Room attic', expanded: true }));
    await cell('Warmth of attic').waitFor({ state: 'detached' });
    await visit.inspectThemes('dashboard-folded');
    await keys.press(page.getByRole('button', { name: 'Room attic', expanded: false }));
    await cell('Warmth of attic').waitFor();

    await keys.press(page.getByRole('group', { name: 'Variables' }).getByRole('button'), 'back');
    await keys.toggle(page.getByRole('checkbox', { name: 'kitchen' }));
    await cell('Warmth of attic').waitFor({ state: 'detached' });
    await visit.inspectThemes('dashboard-variable');
    await keys.keys('Escape');
  });

  test('a dashboard is made, filled, arranged, undone and saved', async () => {
    const { page } = visit;
    await visit.show('dashboards');
    await keys.press(button('New dashboard'));
    await keys.type(dialog().getByLabel('Title'), 'Mine');
    await keys.choose(dialog().getByLabel('Database'), 'house');
    await visit.inspectThemes('dashboard-new');
    await keys.press(dialog().getByRole('button', { name: 'Create' }));
    await page.getByRole('heading', { level: 1, name: 'Mine' }).waitFor();
    await keys.press(button('Add a cell').first());
    await keys.type(dialog().getByLabel('Title'), 'Warmth');
    await keys.type(
      dialog().getByRole('textbox', { name: 'Statement 1' }),
      'SELECT celsius FROM room WHERE $timeFilter GROUP BY "name"',
    );
    const preview = dialog().getByRole('region', { name: 'Preview' });
    await preview.getByText('celsius name=attic').waitFor();
    await keys.type(dialog().getByLabel('Unit', { exact: true }), 'Celsius (°C)');
    await keys.keys('Tab');
    await keys.type(dialog().getByLabel('Y min', { exact: true }), '10');
    await keys.choose(dialog().getByLabel('Scale', { exact: true }), 'Log');
    await keys.type(dialog().getByLabel('Search options'), 'connect gaps', 'back');
    await keys.type(dialog().getByLabel('Connect gaps up to'), '5m');
    await keys.type(dialog().getByLabel('Search options'), 'threshold', 'back');
    await keys.press(dialog().getByRole('button', { name: /^Add a threshold/ }));
    await visit.inspectThemes('cell-editor');
    await keys.press(dialog().getByRole('button', { name: 'Done' }));
    await cell('Warmth').getByText('celsius name=attic').waitFor();

    await choose('Actions for Warmth', 'Duplicate');
    await visit.inspectThemes('cell-menu');
    await keys.keys('Enter');
    await expect.poll(() => page.getByRole('region', { name: /^.*Warmth.* \(/ }).count()).toBe(2);
    await keys.press(button('Undo'), 'back');
    await expect.poll(() => page.getByRole('region', { name: /^.*Warmth.* \(/ }).count()).toBe(1);
    await keys.reach(button('Move Warmth, with the arrow keys too'));
    await keys.keys('ArrowRight', 'ArrowRight');
    await page.getByRole('region', { name: 'Warmth (3, 1)' }).waitFor();
    const before = (await cell('Warmth').boundingBox())?.height ?? 0;
    await keys.reach(button('Size of Warmth, with the arrow keys too'));
    await keys.keys('ArrowDown');
    await expect
      .poll(async () => (await cell('Warmth').boundingBox())?.height)
      .toBeGreaterThan(before);
    await keys.press(button('Undo'), 'back');
    await expect.poll(async () => (await cell('Warmth').boundingBox())?.height).toBe(before);

    await keys.press(button('Settings'));
    await keys.type(dialog().getByLabel('Folder'), 'Buildings');
    await keys.type(dialog().getByLabel('Tags'), 'heat');
    await visit.inspectThemes('dashboard-settings');
    await keys.press(dialog().getByRole('button', { name: 'Done' }));
    await keys.press(button('Save'));
    await page.getByText('Saved', { exact: true }).waitFor();
    const id = new URL(page.url()).searchParams.get('id') ?? '';
    const stored = await fetch(`${visit.server.tsdb}/api/documents?kind=dashboards&id=${id}`);
    expect(await stored.json()).toMatchObject({
      content: {
        cells: [
          {
            x: 2,
            options: {
              unit: 'celsius',
              yMin: 10,
              scale: 'log2',
              bridgeMs: 300_000,
              thresholds: [{}],
            },
          },
        ],
      },
    });
    await visit.show('dashboards');
    await keys.choose(page.getByLabel('Folder'), 'Buildings');
    await page.getByRole('row', { name: /^Imported/ }).waitFor({ state: 'detached' });
    await keys.press(page.getByRole('link', { name: 'Mine' }));
    await page.getByRole('heading', { level: 1, name: 'Mine' }).waitFor();
  });

  test('a cell is copied, saved, explored; the dashboard is alone on the screen, and cloned', async () => {
    const { page } = visit;
    await put('source', { cells: [chart('warm', 0)] });
    await visit.show('dashboards?id=source&edit=1');
    await choose('Actions for warm', 'Copy to another dashboard');
    await keys.keys('Enter');
    await keys.choose(dialog().getByLabel('Dashboard'), 'scrolled');
    await visit.inspectThemes('cell-copy');
    await keys.press(dialog().getByRole('button', { name: 'Copy', exact: true }));
    await page.getByText('Copied to scrolled').waitFor();

    await visit.show('dashboards?id=source');
    await cell('warm').getByText('warm name=attic').waitFor();
    for (const [name, start] of [
      ['Download CSV', /^name,name,time,warm/],
      ['Download PNG', /PNG/],
    ] as const) {
      await choose('Actions for warm', name);
      const [file] = await Promise.all([page.waitForEvent('download'), keys.keys('Enter')]);
      expect(String(await readFile(await file.path())).slice(0, 30)).toMatch(start);
    }
    await keys.reach(page.getByRole('link', { name: 'All dashboards' }), 'back');
    await keys.keys('f');
    await page.getByRole('navigation').waitFor({ state: 'hidden' });
    await visit.inspectThemes('dashboard-kiosk');
    await keys.keys('Escape');
    await page.getByRole('navigation').waitFor();
    await choose('More', 'Clone');
    await keys.keys('Enter');
    await page.getByRole('heading', { level: 1, name: 'Copy of source' }).waitFor();
    await cell('warm').getByText('warm name=attic').waitFor();
    await choose('Actions for warm', 'Open in Explore');
    await keys.keys('Enter');
    await page.getByRole('heading', { level: 1, name: 'Explore' }).waitFor();
    await page.getByRole('group', { name: 'Legend' }).getByText('warm name=attic').waitFor();
    expect(visit.faults.filter((fault) => !fault.includes('ERR_FAILED'))).toEqual([]);
  });
});
