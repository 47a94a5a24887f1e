// First minutes: snippets with filled-in values, and a sample that is loaded and removed.
import { hasPrograms, query, run, send } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Visit } from './visit.ts';

describe.skipIf(!hasPrograms('chromium'))('the first minutes', () => {
  let visit: Visit;
  beforeAll(async () => {
    visit = await Visit.open();
    await visit.show('');
  }, 60_000);
  afterAll(() => visit.close());

  test('an empty server leads here', async () => {
    await visit.page.getByRole('main').getByRole('link', { name: 'Get started' }).last().click();
    await visit.page.getByRole('heading', { level: 1, name: 'Get started' }).waitFor();
  });

  test('snippets have the address of this database in them, and write into it', async () => {
    const { page } = visit;
    const { tsdb } = visit.server;
    const snippet = async (kind: string): Promise<string> => {
      await page.getByRole('tab', { name: kind }).click();
      return (await page.getByRole('tabpanel').locator('pre').textContent()) ?? '';
    };
    await page.getByText(`urls = ["${tsdb}"]`).waitFor();
    await page.getByLabel('Database', { exact: true }).fill('first-steps');
    const rows = async (): Promise<unknown> =>
      (await query(tsdb, 'SELECT count(celsius) FROM room', 'first-steps'))[0]?.values?.[0]?.[1];
    const sent = await run('bash', ['-ec', await snippet('curl')]);
    expect([sent.status, await rows()], sent.stderr).toEqual([0, 1]);
    const file = ['--input-type=module', '-e', await snippet('JavaScript')];
    const written = await run(process.execPath, file);
    expect([written.status, await rows()], written.stderr).toEqual([0, 2]);
    await query(tsdb, 'DROP DATABASE "first-steps"');
  });

  test('snippets have address, database and token in them, as they are typed', async () => {
    const { page } = visit;
    await page.getByRole('tab', { name: 'Telegraf' }).click();
    await page.getByLabel('Address of the database').fill('http://db.example:8086');
    await page.getByLabel('Database', { exact: true }).fill('house');
    await page.getByLabel('API token').fill('tmk_x');
    await page.getByText('urls = ["http://db.example:8086"]').waitFor();
    await page.getByRole('tab', { name: 'curl' }).click();
    await page.getByText("'http://db.example:8086/write?db=house'").waitFor();
    await page.getByText('Authorization: Token tmk_x').first().waitFor();
    await visit.inspect('start');
  });

  test('the sample is loaded, looked at and taken away', async () => {
    const { page } = visit;
    const { tsdb, engine } = visit.server;
    await page.getByRole('button', { name: 'Load sample data' }).click();
    await page.getByRole('link', { name: 'Open task' }).waitFor();
    const [counted] = await query(tsdb, 'SELECT count(celsius) FROM room', 'sample');
    expect(counted?.values?.[0]?.[1]).toBe(24 * 60 * 4);
    expect((await send(`${engine}/engine/v1/tasks/sample-warm-rooms`)).text).toContain(
      '"executing":true',
    );

    await page.getByRole('link', { name: 'Open dashboard' }).click();
    const windows = page.getByRole('region', { name: /^Windows/ });
    await windows.getByRole('listitem').first().waitFor();
    await visit.inspect('dashboard-sample');
    await page.goBack();
    await page.getByRole('link', { name: 'View data' }).click();
    await page.getByRole('group', { name: 'Legend' }).getByText('mean name=attic').waitFor();
    await visit.inspect('explore-sample');
    await page.goBack();
    await page.getByRole('button', { name: 'Remove sample data' }).click();
    await visit.inspectThemes('start-1');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove sample data' }).click();
    await page.getByRole('button', { name: 'Load sample data' }).waitFor();
    const databases = await query(tsdb, 'SHOW DATABASES');
    expect(databases[0]?.values).not.toContainEqual(['sample']);
    expect((await send(`${engine}/engine/v1/tasks/sample-warm-rooms`)).status).toBe(404);
    const documents = await send(`${tsdb}/api/documents?kind=dashboards`);
    expect(documents.text).toBe('{"documents":[]}\n');
    expect(visit.faults).toEqual([]);
  });
});
