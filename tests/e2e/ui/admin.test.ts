// Administration: databases, users, what runs and what was refused.
import { hasPrograms, query, send, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Visit } from './visit.ts';

describe.skipIf(!hasPrograms('chromium'))('the page of administration', () => {
  let visit: Visit;
  beforeAll(async () => {
    visit = await Visit.open();
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

  const tab = (name: string) => visit.page.getByRole('tab', { name, exact: true }).click();

  test('databases and retention policies are made and dropped', async () => {
    const { page } = visit;
    await page.getByPlaceholder('New database').fill('two words');
    await page.getByRole('button', { name: 'Create' }).click();
    await page
      .getByRole('row', { name: /^two words/ })
      .getByRole('button', { name: 'Retention policies' })
      .click();
    await page.getByPlaceholder('New policy').fill('week');
    await page.getByPlaceholder('kept for').fill('7d');
    await page.getByRole('button', { name: 'Create' }).last().click();
    await page.getByRole('row', { name: /^week 7d 1d/ }).waitFor();
    await visit.inspect('admin-databases');
    await page.getByRole('button', { name: 'Drop two words' }).click();
    await page.getByRole('dialog').getByText('DROP DATABASE "two words"').waitFor();
    expect(await visit.accessibilityFaults()).toEqual([]);
    await page.getByRole('button', { name: 'Drop', exact: true }).click();
    await page.getByRole('row', { name: /^two words/ }).waitFor({ state: 'detached' });
  });

  test('shards, continuous queries, cardinality and refused points are shown', async () => {
    const { page } = visit;
    await tab('Shards');
    await page.getByRole('row', { name: /house autogen 2017-/ }).waitFor();
    await visit.inspect('admin-shards');
    await tab('Continuous queries and subscriptions');
    await page.getByRole('row', { name: /hourly/ }).waitFor();
    await tab('Cardinality');
    await page.getByRole('row', { name: 'house room 2' }).waitFor();
    await tab('Refused points');
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
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'Rights' }).click();
    await page.getByLabel('Database').selectOption('house');
    await page.getByRole('button', { name: 'Grant' }).click();
    await page.getByRole('row', { name: /^house READ/ }).waitFor();
    await page.getByPlaceholder('New token').fill('telegraf');
    await page.getByPlaceholder('of user').fill('ann');
    await page.getByRole('button', { name: 'Make token' }).click();
    await page.getByText('It is shown only now').waitFor();
    await visit.inspect('admin-users');
    await page.getByRole('button', { name: 'Revoke on house' }).click();
    await page.getByRole('row', { name: /^house READ/ }).waitFor({ state: 'detached' });
  });

  test('what runs is shown', async () => {
    const { page } = visit;
    await tab('Running queries');
    await page.getByRole('cell', { name: 'SHOW QUERIES' }).waitFor();
  });

  test('counters, and the configuration of the engine without its secrets', async () => {
    const { page } = visit;
    await tab('Counters');
    await page.getByRole('row', { name: /^write pointReq \d/ }).waitFor();
    await tab('Configuration of the engine');
    await page.getByRole('row', { name: /^alerta token not set/ }).waitFor();
    expect(await visit.accessibilityFaults()).toEqual([]);
    expect(visit.faults).toEqual([]);
  });
});
