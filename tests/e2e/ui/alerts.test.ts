// Alerts: a rule by form that is previewed and becomes a task, open events and history, handlers
// that are created and tested, and dead letters.
import { eventually, hasPrograms, query, send, TestServer, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Visit } from './visit.ts';

describe.skipIf(!hasPrograms('chromium'))('the page of alerts', () => {
  let visit: Visit;
  const receiver = new TestServer();
  beforeAll(async () => {
    await receiver.open();
    visit = await Visit.open();
    await query(visit.server.tsdb, 'CREATE DATABASE house');
    const now = Math.floor(Date.now() / 60_000) * 60;
    const lines = [21, 22, 35, 36, 21, 20].map(
      (celsius, i) => `room,name=kitchen,floor=1 celsius=${celsius} ${now - 3600 + i * 60}`,
    );
    await write(visit.server.tsdb, 'house', lines.join('\n'), { precision: 's' });
    await visit.show('alerts');
  }, 60_000);
  afterAll(async () => {
    await visit.close();
    await receiver.close();
  });

  const press = (name: string) => visit.page.getByRole('button', { name, exact: true }).click();
  const tab = (name: string) => visit.page.getByRole('tab', { name }).click();
  const choose = (label: string, value: string) =>
    visit.page.getByLabel(label, { exact: true }).selectOption(value);
  const fill = (label: string, value: string) =>
    visit.page.getByLabel(label, { exact: true }).fill(value);

  test('without alerts it says so', async () => {
    const { page } = visit;
    await page.getByText('No open events').waitFor();
    await tab('History');
    await page.getByText('No level changes yet').waitFor();
    await tab('Dead letters');
    await page.getByText('No dead letters').waitFor();
    await tab('Handlers');
    await page.getByText('No handlers').waitFor();
  });

  test('a rule by form shows its script, and what would have fired', async () => {
    const { page } = visit;
    await tab('New rule');
    await choose('Database', 'house');
    await choose('Measurement', 'room');
    await choose('Field', 'celsius');
    await page.getByLabel('name', { exact: true }).check();
    await choose('Aggregate', 'none');
    await fill('Warning', '30');
    await fill('Critical', '35.5');
    await fill('Name', 'warm-rooms');
    await fill('Topic', 'heat');
    const script = page.getByRole('textbox', { name: 'Script' });
    await script.getByText(".groupBy('name')").waitFor();
    await press('Preview');
    const fired = page.getByRole('group', { name: 'Alerts that would fire' });
    await fired.getByText('warm-rooms name=kitchen is CRITICAL: celsius is 36').waitFor();
    await expect.poll(() => fired.getByRole('row').count()).toBe(4);
    await visit.inspect('alerts-rule');
  });

  test.each([
    {
      kind: 'Change',
      name: 'changed-rooms',
      typed: { Window: '1m', 'Compare with value before': '2m' },
      part: '|shift(2m)',
      fired: 'changed-rooms name=kitchen is CRITICAL: celsius changed by',
    },
    {
      kind: 'No data',
      name: 'silent-rooms',
      typed: { 'Alert after no data for': '5m' },
      part: '|deadman(0.0, 5m)',
      fired: 'no room for 5m',
    },
  ])('a rule of the kind $kind is previewed and becomes a task', async (rule) => {
    const { page } = visit;
    await press(rule.kind);
    await fill('Name', rule.name);
    for (const [label, text] of Object.entries(rule.typed)) await fill(label, text);
    const script = page.getByRole('textbox', { name: 'Script' });
    await expect.poll(() => script.textContent()).toContain(rule.part);
    await press('Preview');
    const fired = page.getByRole('group', { name: 'Alerts that would fire' });
    await fired.getByText(rule.fired).first().waitFor();
    await visit.inspectThemes('alerts-1');
    await press('Create task');
    await page.getByRole('heading', { level: 1, name: rule.name }).waitFor();
    await page.getByText('running', { exact: true }).waitFor();
    await visit.show('alerts?tab=rules');
    await press('Threshold');
    await fill('Name', 'warm-rooms');
  });

  test('choices survive a restart of a service, and become a task', async () => {
    const { page } = visit;
    await visit.restart(async () => {
      await press('Create task');
      await page.getByText(/is not responding\. Retrying/).waitFor();
    });
    await page.getByText(/is not responding\. Retrying/).waitFor({ state: 'detached' });
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('warm-rooms');
    await press('Create task');
    await page.getByRole('heading', { level: 1, name: 'warm-rooms' }).waitFor();
    await page.getByText('running', { exact: true }).waitFor();
  });

  test('a handler is made and tried', async () => {
    const { page } = visit;
    await visit.show('alerts?tab=handlers');
    await press('New handler');
    const dialog = page.getByRole('dialog', { name: 'New handler' });
    await dialog.getByLabel('Name', { exact: true }).fill('hook');
    await dialog.getByLabel('Topic', { exact: true }).fill('heat');
    await dialog.getByLabel('url', { exact: true }).fill(`${receiver.url}/hook`);
    await visit.inspectThemes('alerts-2');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('hook was saved').waitFor();
    await press('Test');
    const tried = page.getByRole('dialog', { name: 'Test hook' });
    await tried.getByLabel('Message').fill('a test of hooks');
    await tried.getByRole('button', { name: 'Send' }).click();
    await tried.getByText('post: delivered').waitFor();
    expect(receiver.requests.at(-1)?.body).toContain('a test of hooks');
    await visit.inspectThemes('alerts-3');
    await page.keyboard.press('Escape');
  });

  test('a handler that cannot deliver says so where it is listed', async () => {
    const { page } = visit;
    const path = `${visit.server.engine}/engine/v1preview/alerts/topics/heat/handlers`;
    const body = JSON.stringify({ id: 'mail', kind: 'smtp', options: {} });
    expect((await send(path, { method: 'POST', body })).status).toBe(200);
    await page
      .getByRole('row', { name: /^mail/ })
      .getByText('handler smtp: the service is not enabled')
      .waitFor();
    await visit.inspect('alerts-handlers');
    expect((await send(`${path}/mail`, { method: 'DELETE' })).status).toBe(204);
    await page.getByRole('row', { name: /^mail/ }).waitFor({ state: 'detached' });
  });

  test('an open event is shown, with its history and its delivery', async () => {
    const { page } = visit;
    receiver.answer = () => ({ status: 400, body: 'no such hook' });
    const point = `room,name=cellar celsius=40 ${Date.now()}`;
    const search = { rp: 'autogen', precision: 'ms' };
    await write(visit.server.engine, 'house', point, search);
    await eventually('the dead letter', async () => {
      const path = '/engine/v1preview/alerts/dead-letters';
      const { text } = await send(visit.server.engine + path);
      return text.includes('"total":1') ? true : undefined;
    });
    await tab('Events');
    await page
      .getByRole('group', { name: 'Open events' })
      .getByText('warm-rooms name=cellar is CRITICAL: celsius is 40', { exact: true })
      .waitFor();
    await visit.inspect('alerts');
    // From the event to the data of its group at that time, and to its task, with keys.
    const event = page.getByRole('row', { name: /CRITICAL.*name=cellar/ });
    await event.getByRole('button', { name: 'Show data' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Explore' }).waitFor();
    const { searchParams } = new URL(page.url());
    expect(searchParams.get('db')).toBe('house');
    expect(searchParams.get('q')).toBe(
      `SELECT mean(celsius) FROM room WHERE $timeFilter AND "name" = 'cellar' GROUP BY time($interval) fill(none)`,
    );
    const [from, to] = ['from', 'to'].map((name) => Date.parse(searchParams.get(name) ?? ''));
    expect((to ?? 0) - (from ?? 0)).toBe(3_600_000);
    await page.goBack();
    await event.getByRole('link', { name: 'warm-rooms' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'warm-rooms' }).waitFor();
    await page.goBack();
    await tab('History');
    await page.getByRole('img', { name: 'warm-rooms name=cellar: 1 change' }).waitFor();
    await visit.inspect('alerts-history');
    await tab('Handlers');
    await press('Last deliveries of hook');
    const recent = page.getByRole('dialog', { name: 'Last deliveries of hook' });
    await recent
      .getByText(/no such hook|400/)
      .first()
      .waitFor();
    await visit.inspectThemes('alerts-4');
    await page.keyboard.press('Escape');
  });

  test('dead letters are delivered again', async () => {
    const { page } = visit;
    await tab('Dead letters');
    const letters = page.getByRole('group', { name: 'Undelivered events' });
    await letters.getByText('warm-rooms name=cellar').waitFor();
    await visit.inspectThemes('alerts-5');
    receiver.answer = () => ({});
    const before = receiver.requests.length;
    await letters.getByRole('button', { name: 'Retry' }).click();
    await page.getByText('Retrying 1 event').waitFor();
    await receiver.until(() => receiver.requests.length > before);
    await page.getByText('No dead letters').waitFor();
    await tab('Handlers');
    await press('Delete hook');
    await visit.inspectThemes('alerts-6');
    await press('Delete');
    await page.getByText('No handlers').waitFor();
  });

  test('of very many open events the most severe are shown, and how many there are', async () => {
    const { page } = visit;
    const script = `stream|from().measurement('many').groupBy('n')
      |alert().id('{{ index .Tags "n" }}').warn(lambda: "v" > 0).crit(lambda: "v" > 1).topic('many')
        .post('${receiver.url}')`;
    receiver.answer = () => ({ status: 400 });
    const dbrps = [{ db: 'house', rp: 'autogen' }];
    const task = { id: 'many', type: 'stream', status: 'enabled', dbrps, script };
    await send(`${visit.server.engine}/engine/v1/tasks`, {
      method: 'POST',
      body: JSON.stringify(task),
    });
    const lines = Array.from({ length: 1005 }, (_, i) => `many,n=e${i} v=${i === 7 ? 2 : 1}`);
    await write(visit.server.engine, 'house', lines.join('\n'), { rp: 'autogen' });

    await visit.show('alerts?topic=many');
    await page.getByText('The 1,000 most severe of 1,005 events are shown.').waitFor();
    const [, first = ''] = await page
      .getByRole('group', { name: 'Events' })
      .getByRole('row')
      .allTextContents();
    expect(first).toMatch(/^CRITICALe7/);
    // Of the others, too: the first thousand are read.
    await page.getByLabel('Search').fill('e1004');
    await page.getByRole('row', { name: /^WARNING e1004 / }).waitFor();
    await visit.show('alerts?tab=dead');
    await page.getByText(/^The newest 1,000 of 1,00\d events are shown\.$/).waitFor();
    await send(`${visit.server.engine}/engine/v1preview/alerts/dead-letters`, {
      method: 'POST',
      body: JSON.stringify({ action: 'drop', all: true }),
    });
    await send(`${visit.server.engine}/engine/v1/tasks/many`, { method: 'DELETE' });
    await send(`${visit.server.engine}/engine/v1preview/alerts/topics/many`, { method: 'DELETE' });
    await visit.show('alerts');
  });

  test('a level that a point from before its begin changed is held for no time', async () => {
    const { page } = visit;
    const search = { rp: 'autogen', precision: 'ms' };
    for (const [celsius, agoMs] of [
      [40, 0],
      [31, 300_000],
    ] as const) {
      const point = `room,name=roof celsius=${celsius} ${Date.now() - agoMs}`;
      await write(visit.server.engine, 'house', point, search);
    }
    await eventually('the event', async () =>
      (
        await send(`${visit.server.engine}/engine/v1preview/alerts/topics/heat/events`)
      ).text.includes('"duration":"-')
        ? true
        : undefined,
    );
    for (const [part, list] of [
      ['Events', 'Open events'],
      ['History', 'Level changes'],
    ] as const) {
      await tab(part);
      const row = page
        .getByRole('group', { name: list })
        .getByRole('row', { name: /WARNING.*name=roof/ });
      await row.getByRole('cell', { name: '0s', exact: true }).waitFor();
    }
    expect(visit.faults).toEqual([]);
  });
});
