// Tasks: the list, a script that is edited and saved, and its pipeline with counters and output.
import { hasPrograms, query, send, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Keys } from './keys.ts';
import { Visit } from './visit.ts';

const SCRIPT = `var limit = 30.0

stream
    |from()
        .measurement('room')
        .groupBy('name')
    |eval(lambda: "celsius" * 2.0)
        .as('double')
    |alert()
        .crit(lambda: "double" > limit)
        .topic('heat')
`;

describe.skipIf(!hasPrograms('chromium'))('the page of tasks', () => {
  let visit: Visit;
  const point = async (celsius: number): Promise<void> => {
    await write(visit.server.engine, 'house', `room,name=kitchen celsius=${celsius}`, {
      rp: 'autogen',
    });
  };

  beforeAll(async () => {
    visit = await Visit.open();
    await query(visit.server.tsdb, 'CREATE DATABASE house');
    const template = await send(`${visit.server.engine}/engine/v1/templates`, {
      method: 'POST',
      body: JSON.stringify({
        id: 'above',
        type: 'stream',
        script:
          '// The limit.\nvar limit = 5.0\nvar measurement string\nstream|from().measurement(measurement)|alert().crit(lambda: "x" > limit)',
      }),
    });
    expect(template.status, template.text).toBe(200);
    await visit.show('tasks');
  }, 60_000);
  afterAll(() => visit.close());

  const script = () => visit.page.getByRole('textbox', { name: 'Script' });

  test('the first task that is offered works under default settings', async () => {
    const { page } = visit;
    await page.getByRole('button', { name: 'New task' }).click();
    await page.getByLabel('Task', { exact: true }).fill('offered');
    await page.getByLabel('Databases and retention policies').fill('house.autogen');
    await page.getByRole('button', { name: 'New task' }).click();
    await page.getByText('running', { exact: true }).waitFor();
    await visit.show('tasks');
    await page.getByRole('button', { name: 'Delete offered' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('link', { name: 'offered' }).waitFor({ state: 'detached' });
  });

  test('a task is written with the help of the parser, and made', async () => {
    const { page } = visit;
    await page.getByRole('button', { name: 'New task' }).click();
    await page.getByLabel('Task', { exact: true }).fill('hot');
    await page.getByLabel('Databases and retention policies').fill('house.autogen');
    await script().click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('stream|frm()');
    await page.locator('.cm-lintRange-error').waitFor();
    await page.getByRole('button', { name: 'New task' }).click();
    await page
      .getByRole('alert')
      .getByText(/invalid TICKscript/)
      .waitFor();
    await visit.inspectThemes('tasks-1');

    // Only the engine knows that of a script.
    await page.getByText('This engine is not in one').waitFor();
    await page.getByLabel('Split into parts').fill('4');
    await script().click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('stream|from()\n|union(stream|from())\n|log()');
    await page.locator('.cm-lintRange-error').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'New task' }).click();
    await page
      .getByRole('alert')
      .getByText(/^line 2 char 2: the task cannot be split: union\d+ orders the points/)
      .waitFor();
    await expect
      .poll(() => page.locator('.cm-lintRange-error').allTextContents())
      .toEqual(['union(stream|from())']);
    await visit.inspect('task-not-split');

    // A refusal names the section of the file that `tidemark up` reads.
    await script().click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText("stream|from()|alert().crit(lambda: TRUE).exec('/bin/true')");
    await page.getByRole('button', { name: 'New task' }).click();
    await page
      .getByRole('alert')
      .getByText(/write into the section \[engine\.alert\] .*allowed-programs/)
      .waitFor();

    await script().click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(SCRIPT);
    await page.locator('.cm-lintRange-error').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Format' }).click();
    await expect.poll(() => script().textContent()).toContain('stream    |from()');
    await page.getByRole('navigation', { name: 'Outline' }).getByText('alert').waitFor();
    await page.locator('.cm-content').getByText('alert').first().hover();
    await page.locator('.editor-hover').waitFor();
    await page.getByRole('button', { name: 'New task' }).click();
    await page.getByRole('heading', { level: 1, name: 'hot' }).waitFor();
    await page.getByText('running', { exact: true }).waitFor();
    await visit.inspect('task');
    await page.getByRole('tab', { name: 'Where it runs' }).click();
    await page.getByText('The task asks for 4 parts and runs as a whole.').waitFor();
    await visit.inspect('task-alone');
  });

  test('a node shows what leaves it, and the picture counts', async () => {
    const { page } = visit;
    await page.getByRole('tab', { name: 'Pipeline' }).click();
    await page
      .getByRole('group', { name: 'Pipeline' })
      .getByRole('button', { name: /^eval/ })
      .click();
    await page.getByText('No output yet. New output appears here.').waitFor();
    await expect
      .poll(
        async () => {
          await point(21);
          return page.getByRole('list', { name: /^Output of eval/ }).textContent();
        },
        { timeout: 12_000 },
      )
      .toContain('"double":42');
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await visit.inspect('task-pipeline');
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByLabel('Filter by group').fill('name=nowhere');
    await page.getByText('No output yet. New output appears here.').waitFor();
    await point(22);
    await page.getByText('No output yet. New output appears here.').waitFor();
    await page.getByLabel('Filter by group').fill('');
  });

  test('failures are counted, listed and logged', async () => {
    const { page } = visit;
    await page.getByRole('tab', { name: 'Log' }).click();
    const log = page.getByRole('list', { name: 'Log' });
    await expect
      .poll(
        async () => {
          // Without the field that the script looks at.
          await write(visit.server.engine, 'house', 'room,name=kitchen fahrenheit=70', {
            rp: 'autogen',
          });
          return log.textContent();
        },
        { timeout: 12_000 },
      )
      .toContain('task=hot node=eval2 err=');
    await visit.inspect('task-log');
    await page.getByRole('link', { name: 'All tasks' }).click();
    const cells = page.getByRole('row', { name: /^hot / }).getByRole('cell');
    const THROUGHPUT = 3;
    const ERRORS = 5;
    await expect.poll(() => cells.nth(ERRORS).textContent()).toMatch(/^[1-9]/);
    await expect
      .poll(
        async () => {
          for (let i = 0; i < 50; i++) await point(20);
          return cells.nth(THROUGHPUT).textContent();
        },
        { timeout: 12_000 },
      )
      .toMatch(/[1-9].*\/s/);
    await page.getByRole('link', { name: 'hot', exact: true }).click();
  });

  test('a running task tells its last error, and what its groups are in', async () => {
    const { page } = visit;
    const last = page.getByRole('status').filter({ hasText: 'The last one in eval2, line 7:' });
    await last.getByText('Point: room,name=kitchen fahrenheit=70').waitFor();
    await expect.poll(() => page.locator('.page-head').textContent()).toMatch(/\/s over 5 min/);
    await page.getByRole('tab', { name: 'Log' }).click();
    // Logged before the page was opened.
    await page
      .getByRole('listitem')
      .filter({ hasText: 'task=hot node=eval2 err=' })
      .first()
      .waitFor();
    await page.getByRole('tab', { name: 'Alert states' }).press('Enter');
    await page
      .getByRole('row', { name: /^OK .*|^CRITICAL .*name=kitchen/ })
      .first()
      .waitFor();
    await visit.inspect('task-groups');
  });

  test('every group of an alert is listed with its state, a page at a time, by keys', async () => {
    const { page } = visit;
    const keys = new Keys(page);
    const lines = Array.from(
      { length: 230 },
      (_, i) => `room,name=r${i} celsius=${i > 2 ? 1 : 50}`,
    );
    await write(visit.server.engine, 'house', lines.join('\n'), { rp: 'autogen' });
    const list = page.getByRole('group', { name: 'States of groups' });
    // A group that never left OK has no event.
    await list.getByRole('row', { name: /^OK name=r50\s*$/ }).waitFor();
    const [, first = ''] = await list.getByRole('row').allTextContents();
    expect(first).toMatch(/^CRITICAL/);
    for (const name of ['r0', 'r1', 'r2'])
      await list
        .getByRole('row', { name: new RegExp(`^CRITICAL name=${name} .*20\\d\\d-.* is CRITICAL`) })
        .waitFor();
    await page.getByText('1–100 of 231 groups').waitFor();
    await visit.inspectThemes('task-groups-many');
    // A topic may have very many events: one page of groups needs none of the others.
    const asked: string[] = [];
    const note = (request: { url: () => string }): void => void asked.push(request.url());
    page.on('request', note);
    await keys.press(page.getByRole('button', { name: 'Next groups' }));
    await page.getByText('101–200 of 231 groups').waitFor();
    expect(await list.getByRole('row', { name: /CRITICAL/ }).count()).toBe(0);
    await keys.press(page.getByRole('button', { name: 'Next groups' }));
    await page.getByText('201–231 of 231 groups').waitFor();
    expect(await page.getByRole('button', { name: 'Next groups' }).isDisabled()).toBe(true);
    expect(await list.getByRole('row').count()).toBe(32);
    expect(asked.filter((url) => /\/alerts\/groups\//.test(url)).length).toBeGreaterThan(1);
    expect(asked.filter((url) => /\/events|\/history/.test(url))).toEqual([]);
    page.off('request', note);
    const search = page.getByRole('textbox', { name: 'Search groups' });
    await keys.type(search, 'name=r22', 'back');
    await expect.poll(() => list.getByRole('row').count()).toBe(12);
    await keys.type(search, 'nowhere');
    await page.getByText('No matching groups').waitFor();
    await visit.inspectThemes('task-groups-none');
  });

  test('names that the database does not have are marked before saving', async () => {
    const { page } = visit;
    await write(visit.server.tsdb, 'house', 'room,name=kitchen celsius=20');
    await visit.show('tasks?new=1');
    const dbrps = page.getByLabel('Databases and retention policies');
    const missing = page.getByRole('status').filter({ hasText: 'does not have these names yet' });
    const items = missing.getByRole('listitem');
    await dbrps.fill('house.weekly, nowhere');
    await expect
      .poll(() => items.allTextContents())
      .toEqual([
        'There is no retention policy weekly in house.',
        'Database nowhere does not exist.',
        'There is no measurement cpu in house. Show',
      ]);
    await dbrps.fill('house');
    await script().click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(
      `stream|from().measurement('room').groupBy('floor').where(lambda: "celsus" > 1.0)
|eval(lambda: "celsius" * 2.0, lambda: "double" + "kelvin").as('double', 'sum')
|alert().crit(lambda: "sum" > 1.0)`,
    );
    await expect
      .poll(() => items.allTextContents())
      .toEqual([
        'There is no tag floor. Show',
        'There is no field or tag celsus. Show',
        'There is no field or tag kelvin. Show',
      ]);
    await expect
      .poll(() => page.locator('.cm-lintRange-warning').allTextContents())
      .toEqual(["groupBy('floor')", '"celsus"', '"kelvin"']);
    await visit.inspect('task-unknown-names');
    await items.getByRole('button', { name: 'Show' }).nth(2).press('Enter');
    await page.keyboard.insertText('"celsius"');
    await expect.poll(() => items.count()).toBe(2);
    await page.getByRole('link', { name: 'All tasks' }).click();
    await page.getByRole('link', { name: 'hot', exact: true }).click();
  });

  test('a change is kept while it is not saved, over a reload and a restart', async () => {
    const { page } = visit;
    await page.getByRole('tab', { name: 'Script' }).click();
    await script().click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.insertText('// Warm rooms.\n');
    await page.reload();
    await page.getByRole('button', { name: 'Discard changes' }).waitFor();
    await visit.restart(async () => {
      await page.getByText(/is not responding\. Retrying/).waitFor();
    });
    await page.getByText(/is not responding\. Retrying/).waitFor({ state: 'detached' });
    await script().getByText('// Warm rooms.').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('hot was saved').waitFor();
    const { text } = await send(`${visit.server.engine}/engine/v1/tasks/hot`);
    expect(text).toContain('// Warm rooms.');
  });

  test('a template becomes a task by a form of its vars', async () => {
    const { page } = visit;
    await page.getByRole('link', { name: 'All tasks' }).click();
    await page.getByRole('button', { name: 'Create task' }).click();
    const dialog = page.getByRole('dialog', { name: 'New task from template above' });
    await dialog.getByText('The limit.').waitFor();
    await visit.inspectThemes('tasks-2');
    await dialog.getByLabel('Task', { exact: true }).fill('above-cpu');
    await dialog.getByLabel('Databases and retention policies').fill('house.autogen');
    await dialog.getByLabel('limit (float)').fill('7.5');
    await dialog.getByLabel('measurement (string)').fill('cpu');
    await dialog.getByRole('button', { name: 'New task' }).click();
    await page.getByRole('link', { name: 'above-cpu' }).waitFor();
    const { text } = await send(`${visit.server.engine}/engine/v1/tasks/above-cpu`);
    expect(JSON.parse(text).vars.limit.value).toBe(7.5);
  });

  test('only the tasks that are shown are asked for, and the others found by their name', async () => {
    const { page } = visit;
    const { engine } = visit.server;
    for (let i = 0; i < 103; i++) {
      const task = { id: `z-${100 + i}`, type: 'stream', script: 'stream|from()' };
      const dbrps = [{ db: 'house', rp: 'autogen' }];
      const made = await send(`${engine}/engine/v1/tasks`, {
        method: 'POST',
        body: JSON.stringify({ ...task, dbrps }),
      });
      expect(made.status, made.text).toBe(200);
    }
    const asked: string[] = [];
    page.on('request', (request) => asked.push(decodeURIComponent(request.url())));
    await visit.show('tasks');
    await page.getByText('The first 100 tasks are shown.').waitFor();
    const links = page.getByRole('link', { name: /^z-/ });
    expect(await links.count()).toBeLessThanOrEqual(100);
    expect(await page.getByRole('link', { name: 'z-202' }).count()).toBe(0);
    const lists = asked.filter((url) => /\/tasks\?/.test(url) && url.includes('stats'));
    expect(lists.length).toBeGreaterThan(0);
    expect(lists.every((url) => url.includes('limit=101'))).toBe(true);
    await page.getByPlaceholder('Search').fill('z-202');
    await page.getByRole('link', { name: 'z-202' }).waitFor();
    expect(await links.count()).toBe(1);
    await page.getByPlaceholder('Search').fill('');
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByRole('link', { name: 'z-202' }).waitFor();
    await page.getByText('The first 100 tasks are shown.').waitFor({ state: 'detached' });
    for (let i = 0; i < 103; i++) {
      await send(`${engine}/engine/v1/tasks/z-${100 + i}`, { method: 'DELETE' });
    }
    await visit.show('tasks');
  });

  test('tasks are disabled, enabled and deleted in the list', async () => {
    const { page } = visit;
    await page.getByRole('button', { name: 'Disable hot' }).click();
    await page.getByRole('row', { name: /^hot .*disabled/ }).waitFor();
    await visit.inspect('tasks');
    await page.getByRole('button', { name: 'Enable hot' }).click();
    await page.getByRole('row', { name: /^hot .*running/ }).waitFor();
    await page.getByRole('button', { name: 'Delete above-cpu' }).click();
    await visit.inspectThemes('tasks-3');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('link', { name: 'above-cpu' }).waitFor({ state: 'detached' });
    expect(visit.faults).toEqual([]);
  });
});
