// Versions of a task and restoring them; changes of templates and vars of their tasks.
import { hasPrograms, query, send, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Visit } from './visit.ts';

const script = (limit: number): string => `stream
    |from()
        .measurement('room')
    |where(lambda: "celsius" > ${limit}.0)
    |httpOut('warm')
`;

describe.skipIf(!hasPrograms('chromium'))('versions and templates on the page of tasks', () => {
  let visit: Visit;
  const call = async (method: string, path: string, body: object): Promise<void> => {
    const answer = await send(`${visit.server.engine}/engine/v1/${path}`, {
      method,
      body: JSON.stringify(body),
    });
    expect(answer.status, answer.text).toBe(200);
  };
  const press = (name: string) => visit.page.getByRole('button', { name, exact: true }).click();

  beforeAll(async () => {
    visit = await Visit.open();
    await query(visit.server.tsdb, 'CREATE DATABASE house');
    const dbrps = [{ db: 'house', rp: 'autogen' }];
    await call('POST', 'tasks', { id: 'warm', dbrps, script: script(20), status: 'enabled' });
    await call('PATCH', 'tasks/warm', { script: script(30), split: 1 });
    await visit.show('tasks?id=warm&tab=versions');
  }, 60_000);
  afterAll(() => visit.close());

  test('the difference is shown, and the task returns to what it was', async () => {
    const { page } = visit;
    await page.getByText('still running the previous definition').waitFor();
    const difference = page.getByRole('group', { name: 'From version 1 to 2' });
    expect(await difference.textContent()).toContain('-     |where(lambda: "celsius" > 20.0)');
    expect(await difference.textContent()).toContain('+     |where(lambda: "celsius" > 30.0)');
    expect(await difference.textContent()).toContain('+ // Split into parts: 1');
    await visit.inspect('task-versions');
    await press('Restore this version');
    await page.getByRole('dialog').getByText('as a new version').waitFor();
    await visit.inspectThemes('task-versions-1');
    await page.getByRole('dialog').getByRole('button', { name: 'Restore this version' }).click();
    await page.getByText('Version 1 restored').waitFor();
    await page.getByRole('group', { name: /From version \d to 3/ }).waitFor();
    await page.getByText('still running the previous definition').waitFor({ state: 'detached' });
    await page.getByRole('tab', { name: 'Script' }).click();
    await page.getByRole('textbox', { name: 'Script' }).getByText('20.0').waitFor();
    // It runs so, too.
    await write(visit.server.engine, 'house', 'room celsius=25', { rp: 'autogen' });
    await expect
      .poll(async () => (await send(`${visit.server.engine}/engine/v1/tasks/warm/warm`)).text)
      .toContain('25');
    const { text } = await send(`${visit.server.engine}/engine/v1/tasks/warm`);
    expect(JSON.parse(text)).not.toHaveProperty('split');
  });

  test('the list tells how old what came last is, the pipeline what nodes keep', async () => {
    const { page } = visit;
    await page.getByRole('tab', { name: 'Pipeline' }).click();
    await page.getByRole('group', { name: 'Nodes' }).getByText('where2').waitFor();
    await page.getByRole('link', { name: 'All tasks' }).click();
    await page.getByRole('row', { name: /^warm .* ago/ }).waitFor();
  });

  test('a template is written and changed with its tasks, whose vars are fields', async () => {
    const { page } = visit;
    await page.getByText('No templates').waitFor();
    await press('New template');
    const dialog = page.getByRole('dialog', { name: 'New template' });
    await dialog.getByLabel('Template', { exact: true }).fill('above');
    await visit.inspectThemes('task-versions-2');
    await dialog.getByRole('button', { name: 'New template' }).click();
    await page.getByText('above was saved').waitFor();
    const dbrps = [{ db: 'house', rp: 'autogen' }];
    await call('POST', 'tasks', { id: 'hot', 'template-id': 'above', dbrps, status: 'enabled' });
    await press('Edit');
    const edited = page.getByRole('dialog', { name: 'Template above' });
    await edited.getByRole('textbox', { name: 'Template script' }).click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.insertText('// Changed.\n');
    await edited.getByRole('button', { name: 'Save' }).click();
    await edited.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'hot' }).click();
    await page.getByText('// Changed.').waitFor();
    await page.getByLabel('limit (float)').fill('42');
    await visit.restart(async () => {
      await press('Save');
      await page.getByText(/is not responding\. Retrying/).waitFor();
    });
    await page.getByText(/is not responding\. Retrying/).waitFor({ state: 'detached' });
    expect(await page.getByLabel('limit (float)').inputValue()).toBe('42');
    await press('Save');
    await page.getByText('hot was saved').waitFor();
    const { text } = await send(`${visit.server.engine}/engine/v1/tasks/hot`);
    expect(JSON.parse(text)).toMatchObject({ executing: true, vars: { limit: { value: 42 } } });
    await visit.inspect('task-vars');
    expect(visit.faults).toEqual([]);
  });
});
