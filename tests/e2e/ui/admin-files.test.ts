// Administration: backups to and from files, and imports from other servers.
import { readFile } from 'node:fs/promises';

import {
  hasPrograms,
  makeDirectory,
  query,
  removeDirectory,
  send,
  TestServer,
  write,
} from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Visit } from './visit.ts';

/** Answers by path as a Kapacitor 1.5 does that has one task. */
const KAPACITOR: Readonly<Record<string, object>> = {
  '/kapacitor/v1/templates': { templates: [] },
  '/kapacitor/v1/tasks': { tasks: [{ id: 'hot', status: 'enabled' }] },
  '/kapacitor/v1/tasks/hot': {
    id: 'hot',
    type: 'stream',
    dbrps: [{ db: 'house', rp: 'autogen' }],
    script: 'stream|from().measurement(\'room\')|alert().crit(lambda: "celsius" > 30)',
    vars: {},
    status: 'enabled',
  },
  '/kapacitor/v1preview/alerts/topics': { topics: [] },
};

async function oldKapacitor(): Promise<TestServer> {
  const server = new TestServer(({ path }) => {
    const [plain = ''] = path.split('?');
    if (plain === '/kapacitor/v1/ping') return { status: 204 };
    const answer = KAPACITOR[plain];
    return answer === undefined ? { status: 404 } : { body: JSON.stringify(answer) };
  });
  await server.open();
  return server;
}

describe.skipIf(!hasPrograms('chromium'))('the page of administration', () => {
  let visit: Visit;
  let directory: string;
  beforeAll(async () => {
    directory = await makeDirectory();
    visit = await Visit.open();
    const { tsdb } = visit.server;
    await query(tsdb, 'CREATE DATABASE house');
    await write(
      tsdb,
      'house',
      'room,name=a celsius=1\nroom,name=b celsius=1\nroom,name=a celsius=1 1500000000000000000',
    );
    await visit.show('admin');
  }, 60_000);
  afterAll(async () => {
    await visit.close();
    await removeDirectory(directory);
  });

  const tab = (name: string) =>
    visit.page
      .getByRole('navigation', { name: 'Sections' })
      .getByRole('link', { name, exact: true })
      .click();

  test('a backup is made into a file, and comes back under another name', async () => {
    const { page } = visit;
    await tab('Backups');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Back up', exact: true }).click(),
    ]);
    await page.getByText(/tidemark-.*tdmbak is complete/).waitFor();
    expect((await readFile(await file.path())).subarray(0, 6).toString()).toBe('TDMBAK');

    // One that takes its time shows that it goes on, and can be ended.
    await page.route('**/api/backup**', () => new Promise(() => {}));
    await page.getByRole('button', { name: 'Back up', exact: true }).click();
    await page.getByRole('progressbar', { name: 'Progress' }).waitFor();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('progressbar', { name: 'Progress' }).waitFor({ state: 'detached' });
    await page.unroute('**/api/backup**');

    const [full, next] = [`${directory}/full.tdmbak`, `${directory}/next.tdmbak`];
    await file.saveAs(full);
    await write(visit.server.tsdb, 'house', 'room,name=c celsius=4');
    await page.getByLabel('Only changes since this backup').setInputFiles(full);
    const [second] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Back up', exact: true }).click(),
    ]);
    await second.saveAs(next);
    const files = page.getByLabel('Backup files');
    await files.setInputFiles(next);
    await page.getByText('Files are missing').waitFor();
    expect(await page.getByRole('button', { name: 'Restore' }).isDisabled()).toBe(true);
    await files.setInputFiles({ name: 'x', mimeType: '', buffer: Buffer.from('x') });
    await page.getByText('x is not a Tidemark backup').waitFor();
    await files.setInputFiles([full, next]);
    await page.getByRole('row', { name: /^next.tdmbak incremental .*house/ }).waitFor();
    await page.getByLabel('Only this database').fill('house');
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByText(/exists already/).waitFor();
    await page.getByLabel('Restore as').fill('house_again');
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('house_again restored.').waitFor();
    const [series] = await query(
      visit.server.tsdb,
      'SELECT count(celsius) FROM room',
      'house_again',
    );
    expect(series?.values?.[0]?.[1]).toBe(4);
  });

  test('the definitions of the engine are backed up and come back while the page is open', async () => {
    const { page } = visit;
    const { engine } = visit.server;
    const made = await send(`${engine}/engine/v1/tasks`, {
      method: 'POST',
      body: JSON.stringify({ id: 'kept', script: 'stream|from()', dbrps: [{ db: 'd', rp: 'r' }] }),
    });
    expect(made.status, made.text).toBe(200);
    const [definitions] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Back up definitions' }).click(),
    ]);
    expect(definitions.suggestedFilename()).toMatch(/^engine-.*\.mdb$/);
    expect((await send(`${engine}/engine/v1/tasks/kept`, { method: 'DELETE' })).status).toBe(204);
    const panel = page.getByRole('region', { name: 'Task engine definitions' });
    const file = panel.getByLabel('Backup file');
    await file.setInputFiles({ name: 'x', mimeType: '', buffer: Buffer.from('x') });
    await panel.getByRole('button', { name: 'Replace definitions' }).click();
    const dialog = page.getByRole('dialog');
    await visit.inspectThemes('admin-files-1');
    await dialog.getByRole('button', { name: 'Replace definitions' }).click();
    await panel.getByText('not a backup of a task engine').waitFor();
    await file.setInputFiles(await definitions.path());
    await panel.getByRole('button', { name: 'Replace definitions' }).click();
    await dialog.getByRole('button', { name: 'Replace definitions' }).click();
    await panel.getByText('The engine runs with the definitions of the backup').waitFor();
    expect((await send(`${engine}/engine/v1/tasks/kept`)).status).toBe(200);
    await visit.inspect('admin-backups');
  });

  test('points and definitions are imported from other servers', async () => {
    const { page } = visit;
    const { engine, tsdb } = visit.server;
    await tab('Import');
    const influx = page.getByRole('region', { name: 'Import from InfluxDB 1.x' });
    await influx.getByLabel('Address').fill(tsdb);
    await influx.getByLabel('Databases, separated by commas').fill('house');
    await influx.getByLabel('Import users, with new passwords').uncheck();
    await influx.getByRole('button').click();
    await page.getByText('Counts and sums match on both servers.').waitFor();
    await visit.inspect('admin-import');
    // So much is imported in a moment that an answer in the middle is made from the last one.
    await page.route('**/api/import', async (route) => {
      const response = await route.fetch();
      const { job } = (await response.json()) as { readonly job: object };
      await route.fulfill({
        response,
        json: { job: { ...job, state: 'running', done: 3, total: 4 } },
      });
    });
    const progress = page.getByRole('progressbar', { name: 'Progress' });
    await expect.poll(() => progress.getAttribute('value')).toBe('0.75');
    await page.unroute('**/api/import');
    await progress.waitFor({ state: 'detached' });
    const kapacitor = page.getByRole('region', { name: 'Import from Kapacitor 1.x' });
    await kapacitor.getByLabel('Address').fill('http://127.0.0.1:1');
    await kapacitor.getByRole('button').click();
    await page.getByText(/no task engine answers|does not answer/).waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await page.getByRole('region', { name: 'Last import' }).waitFor({ state: 'detached' });
    const old = await oldKapacitor();
    await kapacitor.getByLabel('Address').fill(old.url);
    await kapacitor.getByRole('button').click();
    const last = page.getByRole('region', { name: 'Last import' });
    await last.getByText('finished', { exact: true }).waitFor();
    await old.close();
    await last.getByRole('row', { name: /^task hot / }).waitFor();
    await visit.inspect('admin-import-kapacitor');
    const { text } = await send(`${engine}/engine/v1/tasks/hot`);
    expect(JSON.parse(text)).toMatchObject({ id: 'hot', status: 'disabled' });
    expect(visit.faults).toEqual([]);
  });
});
