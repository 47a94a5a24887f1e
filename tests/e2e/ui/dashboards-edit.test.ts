// Dashboards: created, filled, arranged, saved, and restored.
import { hasPrograms, query, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { HOUSE, houseLines, place, queryOf } from './house.ts';
import { Visit } from './visit.ts';

describe.skipIf(!hasPrograms('chromium'))('dashboards that are changed', () => {
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
    await page.getByText('Unsaved changes').waitFor();
    // Unsaved changes survive a reload.
    await page.reload();
    await expect
      .poll(async () => (await cell('Lines').boundingBox())?.width)
      .toBeGreaterThan(before);
    await press('Discard changes');
    await page.getByRole('dialog').getByRole('button', { name: 'Discard changes' }).click();
    await page.getByText('Unsaved changes').waitFor({ state: 'detached' });
  });

  test('options of a cell and of single series change what it shows', async () => {
    const { page } = visit;
    const now = {
      ...place(0, 0),
      id: 'now',
      title: 'Now',
      kind: 'single',
      queries: [queryOf('SELECT last(celsius) FROM room GROUP BY "name"')],
    };
    const content = { title: 'Options', database: 'house', cells: [now] };
    expect((await put('options', 0, content, 'Options')).status).toBe(201);
    await visit.show('dashboards?id=options&edit=1');
    await press('Actions for Now');
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');

    await dialog.getByLabel('Decimals', { exact: true }).fill('3');
    await dialog.getByLabel('Text after the value').fill(' deg');
    // The preview follows without a query.
    const preview = dialog.getByRole('region', { name: 'Preview' });
    await preview
      .getByText(/^1\d\.\d{3} deg$/)
      .first()
      .waitFor();
    for (const group of ['Value mappings', 'Overrides', 'Transformations']) {
      await dialog.locator('summary', { hasText: group }).click();
    }
    await press('Add a mapping');
    const mapping = dialog.getByRole('group', { name: 'Mapping 1' });
    await mapping.getByLabel('Mapped').selectOption('a range');
    await mapping.getByLabel('From').fill('19.5');
    await mapping.getByLabel('Shown as').fill('warm');
    await press('Add an override');
    const override = dialog.getByRole('group', { name: 'Override 1' });
    await override.getByLabel('Matches').fill('last name=attic');
    await override.getByLabel('Name').fill('Attic');
    await press('Add a transformation');
    const step = dialog.getByRole('group', { name: 'Transformation 1' });
    await step.getByLabel('Names').fill('last name=kitchen = Kitchen');
    await visit.inspect('cell-options');
    await preview.getByText('Kitchen', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();

    await cell('Now').getByText('Attic', { exact: true }).waitFor();
    await cell('Now').getByText('Kitchen', { exact: true }).waitFor();
    const values = await cell('Now').locator('strong').allTextContents();
    expect(values.toSorted()).toEqual([expect.stringMatching(/^1\d\.\d{3} deg$/), 'warm']);
    await press('Save');
    await page.getByText('Saved', { exact: true }).waitFor();
    await page.reload();
    await cell('Now').getByText('Attic', { exact: true }).waitFor();
    expect(visit.faults).toEqual([]);
  });

  test('a cell is copied to another dashboard, with keys, and asks its own database there', async () => {
    const { page } = visit;
    const other = { title: 'Other', database: '_internal', cells: [] };
    expect((await put('other', 0, other, 'Other')).status).toBe(201);
    await visit.show('dashboards?id=house&edit=1');
    await page.getByRole('button', { name: 'Actions for Now' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Copy to another dashboard' }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Copy to another dashboard' });
    await dialog.getByLabel('Dashboard').selectOption('Other');
    await visit.inspectThemes('dashboards-edit-1');
    await dialog.getByRole('button', { name: 'Copy', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Copied to Other').waitFor();
    await visit.show('dashboards?id=other');
    // `_internal` has no room: the values are those of the first database. The variable came along.
    await page.getByRole('group', { name: 'Variables' }).getByText('room').first().waitFor();
    await cell('Now')
      .getByText(/^\d+\.\d/)
      .first()
      .waitFor();
  });

  test('dashboards have a folder and tags, by which the list is narrowed', async () => {
    const { page } = visit;
    await visit.show('dashboards?id=other&edit=1');
    // The list of databases comes while somebody types.
    const goOn = await visit.hold('**/api/tsdb/query**');
    await press('Settings');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Folder').fill('Buildings');
    await dialog.getByLabel('Tags').pressSequentially('home, heat, home');
    await goOn();
    await dialog.getByRole('option', { name: 'house' }).waitFor({ state: 'attached' });
    await dialog.getByRole('button', { name: 'Done' }).click();
    await press('Save');
    await page.getByText('Saved', { exact: true }).waitFor();
    await visit.show('dashboards');
    await page.getByRole('row', { name: /^Other Buildings home heat/ }).waitFor();
    await page.getByRole('row', { name: /^House/ }).waitFor();
    await visit.inspect('dashboards-folders');
    await page.getByLabel('Folder').selectOption('Buildings');
    await page.getByRole('row', { name: /^House/ }).waitFor({ state: 'detached' });
    await page.getByLabel('Folder').selectOption('All folders');
    await page.getByRole('link', { name: 'heat', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: /^House/ }).waitFor({ state: 'detached' });
    await page.getByRole('row', { name: /^Other/ }).waitFor();
    await page.reload();
    expect(await page.getByLabel('Tag', { exact: true }).inputValue()).toBe('heat');
    await page.getByLabel('Tag', { exact: true }).selectOption('All tags');
    await page.getByLabel('Search dashboards').fill('build');
    await page.getByRole('row', { name: /^House/ }).waitFor({ state: 'detached' });
    await page.getByRole('row', { name: /^Other/ }).waitFor();
  });

  test('a row is folded and unfolded, and repeats with its cells for each value', async () => {
    const { page } = visit;
    const cells = [
      {
        ...place(0, 0, 12, 1),
        id: 'r',
        title: 'Room $room',
        kind: 'row',
        options: { repeat: 'room' },
      },
      {
        ...place(0, 1),
        id: 'c',
        title: 'Warmth of $room',
        kind: 'line',
        queries: [queryOf('SELECT celsius FROM room WHERE "name" =~ /^$room$/ AND $timeFilter')],
      },
    ];
    const content = { ...HOUSE, title: 'Rows', annotations: [], cells };
    expect((await put('rows', 0, content, 'Rows')).status).toBe(201);
    await visit.show('dashboards?id=rows');

    for (const room of ['attic', 'kitchen']) {
      await page.getByRole('heading', { name: `Room ${room}` }).waitFor();
      await cell(`Warmth of ${room}`).getByText('celsius').waitFor();
    }
    await visit.inspect('dashboard-rows');
    await page.getByRole('button', { name: 'Room attic', expanded: true }).click();
    await cell('Warmth of attic').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Room attic', expanded: false }).click();
    await cell('Warmth of attic').waitFor();
    expect(visit.faults).toEqual([]);
  });

  test('a dashboard is made, saved, brought back and deleted; somebody else may be first', async () => {
    const { page } = visit;
    await visit.show('dashboards');
    await visit.inspect('dashboards');
    const stored = async (): Promise<number> => {
      const answer = await fetch(`${visit.server.tsdb}/api/documents?kind=dashboards`);
      return ((await answer.json()) as { readonly documents: readonly unknown[] }).documents.length;
    };
    const before = await stored();
    await press('New dashboard');
    const dialog = page.getByRole('dialog');
    // Nothing is stored without a name.
    expect(await dialog.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true);
    await visit.inspectThemes('dashboards-edit-2');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await stored()).toBe(before);
    await press('New dashboard');
    await dialog.getByLabel('Title').fill('Mine');
    await dialog.getByLabel('Database').selectOption('house');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'Mine' }).waitFor();
    expect(await stored()).toBe(before + 1);
    await press('Settings');
    await visit.inspectThemes('dashboards-edit-3');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Add a cell' }).first().click();
    await dialog.getByLabel('Title').fill('Warmth');
    await dialog.getByRole('textbox', { name: 'Statement 1' }).click();
    await page.keyboard.insertText('SELECT celsius FROM room WHERE $timeFilter');
    // The preview runs the statement when typing pauses.
    await dialog.getByRole('list', { name: 'Legend' }).getByText('celsius').waitFor();
    await dialog.getByLabel('Search options').fill('gaps');
    await dialog.getByLabel('Connect gaps up to').fill('soon');
    await dialog.getByText('Not a duration. Example: 5m', { exact: true }).waitFor();
    await dialog.getByLabel('Connect gaps up to').fill('5m');
    expect(await dialog.getByLabel('Decimals').count()).toBe(0);
    await dialog.getByLabel('Search options').fill('');
    await visit.inspectThemes('dashboards-edit-4');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await cell('Warmth').getByText('celsius').waitFor();

    // Meanwhile somebody else has stored another version.
    const id = new URL(page.url()).searchParams.get('id') ?? '';
    expect((await put(id, 1, { title: 'Theirs', cells: [] }, 'Theirs')).status).toBe(200);
    await press('Save');
    await dialog.getByText('was changed meanwhile').waitFor();
    await visit.inspectThemes('dashboards-edit-5');
    await dialog.getByRole('button', { name: 'Overwrite' }).click();
    await page.getByText('Saved', { exact: true }).waitFor();

    await press('More');
    await page.getByRole('menuitem', { name: 'Versions' }).click();
    await visit.inspectThemes('dashboards-edit-6');
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

  test('typed text survives a restart of the services', async () => {
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
      await press('Refresh now');
      await page.getByText('is not responding. Retrying').waitFor();
    });
    await page.getByText('is not responding. Retrying').waitFor({ state: 'detached' });
    await cell('Rows').getByRole('cell', { name: 'kitchen' }).waitFor();
    await cell('While it was down').waitFor();
    await press('Save');
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(visit.faults).toEqual([]);
  });
});
