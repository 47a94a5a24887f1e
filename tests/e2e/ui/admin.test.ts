// Administration: databases, users, running queries and refused points.
import { hasPrograms, query, send, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Visit } from './visit.ts';

type BrowserStyles = {
  readonly getComputedStyle: (of: unknown) => { readonly backgroundImage: string };
};

describe.skipIf(!hasPrograms('chromium'))('the page of administration', () => {
  let visit: Visit;
  beforeAll(async () => {
    visit = await Visit.open({
      args: [
        '--database-coordinator-keep-queries-after',
        '1us',
        // A query that takes as long as somebody reads.
        '--database-coordinator-max-filled-windows',
        '0',
      ],
    });
    const { tsdb } = visit.server;
    await query(tsdb, 'CREATE DATABASE house');
    await write(
      tsdb,
      'house',
      'room,name=a celsius=1\nroom,name=b celsius=1\nroom,name=a celsius=1 1500000000000000000',
    );
    await query(
      tsdb,
      'CREATE CONTINUOUS QUERY hourly ON house BEGIN SELECT mean(celsius) INTO hours FROM room GROUP BY time(1h) END',
    );
    await send(`${tsdb}/write?db=house`, { method: 'POST', body: 'room celsius="warm"' });
    await visit.show('admin');
  }, 60_000);
  afterAll(() => visit.close());

  const tab = (name: string) =>
    visit.page
      .getByRole('navigation', { name: 'Sections' })
      .getByRole('link', { name, exact: true })
      .click();

  test('databases and retention policies are made and dropped', async () => {
    const { page } = visit;
    await page.getByPlaceholder('New database').fill('two words');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page
      .getByRole('row', { name: /^two words/ })
      .getByRole('button', { name: 'Retention policies' })
      .click();
    await page.getByPlaceholder('New policy').fill('week');
    await page.getByPlaceholder('Duration, e.g.').fill('7d');
    await page.getByRole('button', { name: 'Create' }).last().click();
    await page.getByRole('row', { name: /^week 7d 1d/ }).waitFor();
    await visit.inspect('admin-databases');
    await page.getByRole('button', { name: 'Drop two words' }).click();
    await page.getByRole('dialog').getByText('DROP DATABASE "two words"').waitFor();
    await visit.inspectThemes('admin-1');
    await page.getByRole('button', { name: 'Drop', exact: true }).click();
    await page.getByRole('row', { name: /^two words/ }).waitFor({ state: 'detached' });
  });

  test('databases are listed with their size, series, retention and last write', async () => {
    const { page } = visit;
    await page.getByRole('row', { name: /^house .* B 2 forever \d.* ago / }).waitFor();
    await query(visit.server.tsdb, 'CREATE DATABASE unwritten WITH DURATION 7d');
    await page.getByRole('row', { name: /^unwritten 0 B 0 7d none since start / }).waitFor();
  });

  test('sections are in groups, and in a menu where there is no room', async () => {
    const { page } = visit;
    const sections = page.getByRole('navigation', { name: 'Sections' });
    await expect
      .poll(() => sections.getByRole('heading').allTextContents())
      .toEqual(['Data', 'Access', 'Activity', 'Backup and import', 'Task engine']);
    await page.setViewportSize({ width: 390, height: 844 });
    // A shadow at the edge says that the table goes on, and the keys lead there.
    const table = page.getByRole('group', { name: 'Databases' });
    await expect
      .poll(() =>
        table.evaluate((frame) => {
          const { getComputedStyle } = globalThis as unknown as BrowserStyles;
          const { backgroundImage } = getComputedStyle(frame);
          return (
            frame.scrollWidth > frame.clientWidth && backgroundImage.includes('radial-gradient')
          );
        }),
      )
      .toBe(true);
    await table.press('ArrowRight');
    await expect.poll(() => table.evaluate((frame) => frame.scrollLeft)).toBeGreaterThan(0);
    await sections.getByRole('button', { name: 'Databases' }).press('Enter');
    await sections.getByRole('link', { name: 'Storage' }).press('Enter');
    await page.getByText('Free disk space').waitFor();
    await sections.getByRole('link', { name: 'Storage' }).waitFor({ state: 'hidden' });
    await page.setViewportSize({ width: 1280, height: 800 });
    await tab('Databases');
  });

  test('shards, continuous queries, cardinality and refused points are shown', async () => {
    const { page } = visit;
    await tab('Storage');
    await page.getByRole('row', { name: /house autogen 2017-.* B Drop shard/ }).waitFor();
    await page.getByText('Free disk space').waitFor();
    await visit.inspect('admin-storage');
    await tab('Continuous queries and subscriptions');
    await page.getByRole('row', { name: /hourly/ }).waitFor();
    await tab('Cardinality');
    await page.getByRole('row', { name: 'house room 2' }).getByRole('button').click();
    await page.getByRole('row', { name: 'name 2' }).waitFor();
    await tab('Rejected points');
    await page
      .getByText(/field type conflict/)
      .first()
      .waitFor();
    await visit.inspect('admin-refused');
  });

  test('users get rights and tokens', async () => {
    const { page } = visit;
    await tab('Users');
    await page.getByPlaceholder('New user').fill('ann');
    await page.getByPlaceholder('Password', { exact: true }).fill('pw');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('button', { name: 'Permissions' }).click();
    await page.getByLabel('Database').selectOption('house');
    await page.getByRole('button', { name: 'Grant' }).click();
    await page.getByRole('row', { name: /^house READ/ }).waitFor();
    await page.getByPlaceholder('New token').fill('telegraf');
    await page.getByPlaceholder('User', { exact: true }).fill('ann');
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByText('It will not be shown again').waitFor();
    await visit.inspect('admin-users');
    await page.getByRole('button', { name: 'Revoke on house' }).click();
    await page.getByRole('row', { name: /^house READ/ }).waitFor({ state: 'detached' });
  });

  test('the servers of a cluster are shown, and what is away; without one it says so', async () => {
    const { page } = visit;
    await tab('Cluster');
    await page.getByText('No cluster').waitFor();
    await visit.inspect('admin-no-cluster');
    const load = { diskBytes: 3_000_000, queueCount: 7, delaySeconds: 12 };
    const replicas = [
      { shard: 1, url: 'http://one:8123', isUp: true, load },
      { shard: 2, url: 'http://two:8123', isUp: false, reason: 'connection refused' },
    ];
    // A real cluster takes half a minute to start; its own answer is checked where there is one.
    await page.route('**/debug/replicas', (route) => route.fulfill({ json: { replicas } }));
    await tab('Storage');
    await tab('Cluster');
    await page.getByRole('row', { name: /^1 http:\/\/one:8123 available .* 7 12 s$/ }).waitFor();
    await page.getByRole('row', { name: /^2 http:\/\/two:8123 unavailable connection/ }).waitFor();
    await page.getByRole('alert').getByText('No replica of shard 2 is available').waitFor();
    await visit.inspect('admin-cluster');
    await page.unroute('**/debug/replicas');
  });

  test('running and slow queries are shown', async () => {
    const { page } = visit;
    await tab('Queries');
    await page.getByRole('cell', { name: 'SHOW QUERIES' }).first().waitFor();
    await page
      .getByRole('group', { name: 'Slow queries' })
      .getByText('CREATE DATABASE house')
      .waitFor();
    await visit.inspect('admin-queries');
  });

  test('a query that runs is ended', async () => {
    const { page } = visit;
    const endless =
      'SELECT mean(celsius) FROM room WHERE time >= 0 AND time < 2000000000s GROUP BY time(1s) fill(0)';
    const search = new URLSearchParams({ db: 'house', q: endless, chunked: 'true' });
    const answer = await fetch(`${visit.server.tsdb}/query?${search}`);
    await tab('Queries');
    const row = page
      .getByRole('group', { name: 'Queries', exact: true })
      .getByRole('row')
      .filter({ hasText: 'fill(0)' });
    await row.getByRole('button').click();
    expect(await answer.text()).toContain('"error":"query interrupted"');
    await page.getByText(/^Query \d+ /).waitFor();
    await row.waitFor({ state: 'detached' });
  });

  test('a roll-up is made and run over the past', async () => {
    const { page } = visit;
    await tab('Continuous queries and subscriptions');
    await page.getByLabel('Name', { exact: true }).fill('daily');
    await page.getByLabel('Database', { exact: true }).selectOption('house');
    await page.getByLabel('Measurement').selectOption('room');
    await page.getByLabel('Every').selectOption('1d');
    expect(await page.getByLabel('Statement').inputValue()).toBe(
      'SELECT mean(*) INTO room_1d FROM room GROUP BY time(1d), *',
    );
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page
      .getByRole('row', { name: /^house daily/ })
      .getByRole('button', { name: 'Backfill' })
      .click();
    await page.getByLabel('From', { exact: true }).fill('2017-07-01T00:00:00Z');
    await page.getByLabel('To', { exact: true }).fill('2017-08-01T00:00:00Z');
    const panel = page.getByRole('region', { name: 'Backfill daily' });
    await panel.getByRole('button', { name: 'Backfill' }).click();
    await panel.getByText('1 point written for 31 intervals.').waitFor();
    await visit.inspect('admin-automatic');
    const [series] = await query(visit.server.tsdb, 'SELECT mean_celsius FROM room_1d', 'house');
    expect(series?.values).toEqual([['2017-07-14T00:00:00Z', 1]]);
  });

  test('a subscription is made and dropped', async () => {
    const { page } = visit;
    await page.getByLabel('Subscription name').fill('to elsewhere');
    await page.getByLabel('Source database').selectOption('house');
    const form = page.getByRole('region', { name: 'New subscription' });
    await form.getByLabel('Retention policy').selectOption('autogen');
    await form.getByLabel('Sent to').selectOption('ANY');
    await form.getByLabel('Destinations').fill('http://127.0.0.1:1\nudp://127.0.0.1:2\n');
    await form
      .getByText(
        `CREATE SUBSCRIPTION "to elsewhere" ON house.autogen DESTINATIONS ANY 'http://127.0.0.1:1', 'udp://127.0.0.1:2'`,
      )
      .waitFor();
    await form.getByRole('button', { name: 'Create subscription' }).click();
    const made = page.getByRole('row', { name: /^house autogen to elsewhere ANY .*127.0.0.1:2/ });
    await made.getByRole('button').click();
    await page.getByRole('button', { name: 'Drop', exact: true }).click();
    await made.waitFor({ state: 'detached' });
  });

  test('the audit logs of both services are shown', async () => {
    const { page } = visit;
    await tab('Audit log');
    await page.getByPlaceholder('User, database').fill('continuous query hourly');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('row', { name: /CREATE CONTINUOUS QUERY hourly .* 127/ }).waitFor();
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await visit.inspect('admin-audit');
    await page.getByLabel('Service', { exact: true }).selectOption('engine');
    await page.getByText('No audit records yet').waitFor();
  });

  test('counters, and the configuration of the engine without its secrets', async () => {
    const { page } = visit;
    await tab('Counters');
    await page.getByRole('row', { name: /^write pointReq \d/ }).waitFor();
    await tab('Engine configuration');
    await page.getByPlaceholder('Search sections').fill('smtp');
    await page.getByRole('row', { name: /^smtp .* off/ }).waitFor();
    await visit.inspect('admin-engine');
  });

  test('the configuration of the engine is changed, tested, and taken back', async () => {
    const { page } = visit;
    const row = (name: RegExp) => page.getByRole('row', { name });
    const dialog = page.getByRole('dialog');
    await row(/^smtp/).getByRole('button', { name: 'Change' }).click();
    await dialog.getByLabel('password', { exact: true }).fill('secret-word');
    await dialog.getByLabel('port', { exact: true }).fill('-1');
    await dialog.getByRole('button', { name: 'Save and apply' }).click();
    await dialog.getByText(/port.*65535/).waitFor();
    await dialog.getByLabel('port', { exact: true }).fill('2525');
    await dialog.getByRole('button', { name: 'Save and apply' }).click();
    await row(/^smtp .* 2 options/).waitFor();
    await row(/^smtp/).getByRole('button', { name: 'Change' }).click();
    expect(await dialog.getByLabel('port', { exact: true }).inputValue()).toBe('2525');
    await dialog.getByPlaceholder('Set. Type to replace it').waitFor();
    expect(await page.content()).not.toContain('secret-word');
    await visit.inspect('admin-engine-change');
    await dialog.getByRole('button', { name: 'Reset port to the file' }).click();
    await dialog.getByRole('button', { name: 'Save and apply' }).click();
    await row(/^smtp .* 1 option /).waitFor();
    await row(/^smtp/).getByRole('button', { name: 'Test' }).click();
    await dialog.getByRole('button', { name: 'Test now' }).click();
    await dialog.getByText(/Test failed: .*not enabled/).waitFor();
    await visit.inspectThemes('admin-2');
    await page.keyboard.press('Escape');
    const { text } = await send(`${visit.server.engine}/engine/v1/config/smtp/`);
    expect(JSON.parse(text)).toMatchObject({ options: { port: 25, password: true } });
  });

  test('an element of a list is added and removed', async () => {
    const { page } = visit;
    await page.getByPlaceholder('Search sections').fill('tsdb');
    await page.getByLabel('Section', { exact: true }).selectOption('tsdb');
    await page.getByLabel('name', { exact: true }).fill('other');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText(/at least one/).waitFor();
    await page.getByLabel('Section', { exact: true }).selectOption('httppost');
    await page.getByLabel('endpoint', { exact: true }).fill('hook');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByPlaceholder('Search sections').fill('httppost');
    const added = page.getByRole('row', { name: /^httppost hook/ });
    await added.getByText('added here').waitFor();
    await added.getByRole('button', { name: 'Remove httppost hook?' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await added.waitFor({ state: 'detached' });
    expect(visit.faults).toEqual([]);
  });
});
