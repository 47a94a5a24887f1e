// Try out: an undefined script on typed points and on data from the database, and its test file.
import { readFile } from 'node:fs/promises';
import { systemClock } from '@tidemark/core';
import { runTaskTests } from '@tidemark/engine/task-test';
import { eventually, hasPrograms, query, send, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Visit } from './visit.ts';

const SCRIPT = `stream
    |from()
        .measurement('room')
        .groupBy('name')
    |eval(lambda: "celsius" * 2.0)
        .as('double')
    |alert()
        .id('{{ index .Tags "name" }}')
        .crit(lambda: "double" > 60.0)
        .stateChangesOnly()
        .topic('heat')
`;

const POINTS = [21, 35, 36, 20]
  .map((celsius, i) => `room,name=kitchen celsius=${celsius} ${1_767_225_600 + i * 10}`)
  .join('\n');

describe.skipIf(!hasPrograms('chromium'))('the page that tries scripts', () => {
  let visit: Visit;
  beforeAll(async () => {
    visit = await Visit.open();
    const { tsdb, engine } = visit.server;
    await query(tsdb, 'CREATE DATABASE house');
    const seconds = Math.floor(Date.now() / 1000) - 600;
    const lines = [31, 20].map(
      (celsius, i) => `room,name=cellar celsius=${celsius} ${seconds + i}`,
    );
    await write(tsdb, 'house', lines.join('\n'), { precision: 's' });
    const task = { id: 'stored', script: SCRIPT, dbrps: [{ db: 'house', rp: 'autogen' }] };
    const made = await send(`${engine}/engine/v1/tasks`, {
      method: 'POST',
      body: JSON.stringify(task),
    });
    expect(made.status, made.text).toBe(200);
    await visit.show('try');
  }, 60_000);
  afterAll(() => visit.close());

  const script = () => visit.page.getByRole('textbox', { name: 'Script', exact: true });
  const alerts = () => visit.page.getByRole('group', { name: 'Alerts that would fire' });
  const press = (name: string) => visit.page.getByRole('button', { name, exact: true }).click();

  test('a script on typed points tells what leaves its nodes, and which alerts would fire', async () => {
    const { page } = visit;
    await page.getByText('No results yet').waitFor();
    await script().click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(SCRIPT);
    await page.getByLabel('Points', { exact: true }).fill(POINTS);
    await press('Run');
    await alerts().getByText('kitchen is CRITICAL').waitFor();
    await expect.poll(() => alerts().getByRole('row').count()).toBe(3);
    await page.getByText('4 inputs · 2 events').waitFor();
    const why = page.getByRole('list', { name: 'Conditions of alert3' });
    expect(await why.textContent()).toContain('"double" > 60.0');
    expect(await why.textContent()).toContain('(double=42)');
    await page.getByRole('button', { name: /^eval2/ }).click();
    const rows = page.getByRole('group', { name: 'Output points of eval2' });
    expect(await rows.textContent()).toContain('72');
    await visit.inspect('try');
  });

  test('the clock steps through it', async () => {
    const { page } = visit;
    for (let i = 0; i < 3; i++) await press('Step back');
    expect(await alerts().count()).toBe(0);
    await page.getByText('No alert would fire.').waitFor();
    await press('Step forward');
    await alerts().getByText('kitchen is CRITICAL').waitFor();
    await press('Play');
    await page.getByText('(at the end)').waitFor();
    await expect.poll(() => alerts().getByRole('row').count()).toBe(3);
  });

  test('it is saved as a test that holds', async () => {
    const { page } = visit;
    await press('Save as test');
    const dialog = page.getByRole('dialog', { name: 'Save as test' });
    await dialog.getByLabel('Test name').fill('a warm kitchen');
    await dialog.getByText('Output of eval2').click();
    await visit.inspectThemes('try-1');
    const saved = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Download' }).click();
    const file = await saved;
    expect(file.suggestedFilename()).toBe('a-warm-kitchen.task-test');
    const text = await readFile(await file.path(), 'utf8');
    const options = {
      clock: systemClock(),
      readScript: (): never => {
        throw new Error('no file');
      },
    };
    const [result] = await runTaskTests(text, options);
    expect(result).toMatchObject({ name: 'a warm kitchen', failures: [], checkCount: 2 });
  });

  test('typed text stays while a service restarts', async () => {
    const { page } = visit;
    await script().click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.insertText('// Warm rooms.\n');
    await visit.restart(async () => {
      await press('Run');
      await page.getByText(/is not responding\. Retrying/).waitFor();
    });
    await page.getByText(/is not responding\. Retrying/).waitFor({ state: 'detached' });
    await script().getByText('// Warm rooms.').waitFor();
    await press('Run');
    await alerts().getByText('kitchen is CRITICAL').waitFor();
  });

  test('a recording is the source', async () => {
    const { page } = visit;
    const { engine } = visit.server;
    await press('Recording');
    await page.getByText('There are no recordings yet.').waitFor();
    const body = JSON.stringify({
      id: 'evening',
      query: 'SELECT celsius FROM house.autogen.room GROUP BY *',
      type: 'stream',
    });
    const started = await send(`${engine}/engine/v1/recordings/query`, { method: 'POST', body });
    expect(started.status, started.text).toBe(201);
    await eventually('the recording', async () =>
      (await send(`${engine}/engine/v1/recordings/evening`)).text.includes('"finished"')
        ? true
        : undefined,
    );
    await press('Database');
    await press('Recording');
    await page.getByLabel('Recording', { exact: true }).selectOption('evening');
    await press('Run');
    await alerts().getByText('cellar is CRITICAL').waitFor();
    await page.getByText('2 inputs · 2 events').waitFor();
    await visit.inspectThemes('try-2');
  });

  test('the script of a task, on the last hour, and a mistake in it', async () => {
    const { page } = visit;
    await visit.show('tasks?id=stored');
    await page.getByRole('main').getByRole('link', { name: 'Try out' }).click();
    await page.getByLabel('Databases and retention policies').waitFor();
    await expect
      .poll(() => page.getByLabel('Databases and retention policies').inputValue())
      .toBe('house.autogen');
    await press('Database');
    await press('Run');
    await alerts().getByText('cellar is CRITICAL').waitFor();
    await script().click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('stream|frm()');
    await press('Run');
    await page
      .getByRole('alert')
      .getByText(/invalid TICKscript/)
      .waitFor();
    await visit.inspectThemes('try-3');
    expect(visit.faults).toEqual([]);
  });
});
