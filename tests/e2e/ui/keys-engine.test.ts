// Tasks, alerts, the overview and Administration with the keyboard alone; each view in both themes.
import { eventually, hasPrograms, query, send, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Keys } from './keys.ts';
import { Visit } from './visit.ts';

describe.skipIf(!hasPrograms('chromium'))('tasks and alerts with keys', () => {
  let visit: Visit;
  let keys: Keys;
  const button = (name: string) => visit.page.getByRole('button', { name, exact: true });
  const tab = (name: string) => visit.page.getByRole('tab', { name, exact: true });
  /** Goes from the selected tab to another one. */
  const openTab = async (name: string): Promise<void> => {
    await keys.reach(visit.page.getByRole('tab', { selected: true }).first());
    const wanted = tab(name);
    for (let i = 0; i < 8; i++) {
      if ((await wanted.getAttribute('aria-selected')) === 'true') return;
      await keys.keys('ArrowRight');
    }
    throw new Error(`no tab ${name}`);
  };
  const point = (celsius: number) =>
    write(visit.server.engine, 'house', `room,name=kitchen celsius=${celsius}`, { rp: 'autogen' });

  beforeAll(async () => {
    visit = await Visit.open({ args: ['--database-coordinator-keep-queries-after', '1us'] });
    keys = new Keys(visit.page);
    const { tsdb } = visit.server;
    await query(tsdb, 'CREATE DATABASE house');
    await write(tsdb, 'house', 'room,name=kitchen celsius=20');
    await send(`${tsdb}/write?db=house`, { method: 'POST', body: 'room celsius="warm"' });
  }, 60_000);
  afterAll(() => visit.close());

  test('a task is written, its unknown names are marked, and its parts are looked at', async () => {
    const { page } = visit;
    await visit.show('tasks');
    await keys.press(button('New task'));
    await page.getByRole('heading', { level: 1, name: 'New task' }).waitFor();
    await page.locator('.cm-editor').waitFor();
    await keys.type(page.getByLabel('Task', { exact: true }), 'hot');
    await keys.type(page.getByLabel('Databases and retention policies'), 'house.autogen');
    await keys.reach(page.getByRole('textbox', { name: 'Script' }));
    await keys.keys('Control+a');
    // As pasted: what is typed is completed.
    await page.keyboard.insertText(
      `stream|from().measurement('room').groupBy('name')
|eval(lambda: "kelvin" * 2.0).as('double').keep()
|alert().crit(lambda: "celsius" > 30.0).id('hot').topic('heat')`,
    );
    const missing = page.getByRole('status').filter({ hasText: 'does not have these names yet' });
    await missing.getByText('There is no field or tag kelvin.').waitFor();
    await visit.inspectThemes('task-unknown');
    await keys.press(missing.getByRole('button', { name: 'Show' }));
    await page.keyboard.insertText('"celsius"');
    await missing.waitFor({ state: 'detached' });
    await keys.press(button('New task'));
    await page.getByRole('heading', { level: 1, name: 'hot' }).waitFor();
    await page.getByText('running', { exact: true }).waitFor();

    await openTab('Pipeline');
    await keys.press(page.getByRole('button', { name: /^eval/ }));
    await page.getByText('No output yet. New output appears here.').waitFor();
    await expect
      .poll(async () => {
        await point(21);
        return page.getByRole('list', { name: /^Output of eval/ }).textContent();
      })
      .toContain('"double":42');
    await visit.inspectThemes('task-output');
    await openTab('Alert states');
    await page.getByRole('row', { name: /^OK name=kitchen/ }).waitFor();
    await openTab('Log');
    await visit.inspectThemes('task-log');
    await openTab('Versions');
    await page.getByText('Version 1').first().waitFor();
    await visit.inspectThemes('task-versions');
  });

  test('a handler that cannot deliver says so, and is deleted', async () => {
    const { page } = visit;
    await visit.show('alerts');
    await openTab('Handlers');
    await keys.press(button('New handler'));
    const form = page.getByRole('dialog', { name: 'New handler' });
    await form.getByRole('group', { name: 'Action 2' }).waitFor();
    await keys.type(form.getByLabel('Name', { exact: true }), 'mail');
    await keys.type(form.getByLabel('Topic', { exact: true }), 'heat');
    await keys.choose(
      form.getByRole('group', { name: 'Action 2' }).getByRole('combobox').first(),
      'smtp',
    );
    await visit.inspectThemes('handler-form');
    await keys.press(form.getByRole('button', { name: 'Save' }));
    const row = page.getByRole('row', { name: /^mail/ });
    await row.getByText('handler smtp: the service is not enabled').waitFor();
    await visit.inspectThemes('handler-warning');
    await keys.press(button('Test'));
    await keys.press(
      page.getByRole('dialog', { name: 'Test mail' }).getByRole('button', { name: 'Send' }),
    );
    await page.getByText(/^smtp: (?!delivered)/).waitFor();
    await visit.inspectThemes('handler-test');
    await keys.keys('Escape');
    await keys.press(button('Delete mail'));
    await page.getByRole('dialog').waitFor();
    await visit.inspectThemes('handler-delete');
    await keys.press(page.getByRole('dialog').getByRole('button', { name: 'Delete' }));
    await page.getByText('No handlers').waitFor();
  });

  test('an event leads to its data and to its task', async () => {
    const { page } = visit;
    await point(40);
    await eventually('the event', async () =>
      (await send(`${visit.server.engine}/engine/v1preview/alerts/topics/heat`)).text.includes(
        'CRITICAL',
      )
        ? true
        : undefined,
    );
    await visit.show('alerts');
    const event = page.getByRole('row', { name: /CRITICAL/ });
    await keys.press(event.getByRole('button', { name: 'Show data' }));
    await page.getByRole('heading', { level: 1, name: 'Explore' }).waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toContain(`"name" = 'kitchen'`);
    await page.goBack();
    await keys.press(event.getByRole('link', { name: 'hot' }));
    await page.getByRole('heading', { level: 1, name: 'hot' }).waitFor();
    await visit.show('alerts');
    await openTab('History');
    await page.getByRole('row', { name: /CRITICAL/ }).waitFor();
    await visit.inspectThemes('alerts-history');
  });

  test('the overview leads to what needs attention, a slow query to Explore', async () => {
    const { page } = visit;
    await visit.show('');
    const next = page.getByRole('region', { name: 'Next steps' });
    const rejected = next.getByRole('listitem').filter({ hasText: 'rejected' });
    await visit.inspectThemes('home');
    await keys.press(rejected.getByRole('link'));
    await page
      .getByText(/field type conflict/)
      .first()
      .waitFor();
    await visit.inspectThemes('admin-rejected');
    const sections = page.getByRole('navigation', { name: 'Sections' });
    await keys.press(sections.getByRole('link', { name: 'Queries', exact: true }), 'back');
    const slow = page
      .getByRole('group', { name: 'Slow queries' })
      .getByRole('row', { name: /CREATE DATABASE house/ });
    await visit.inspectThemes('admin-queries');
    await keys.press(slow.getByRole('link'));
    await page.getByRole('heading', { level: 1, name: 'Explore' }).waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toContain('CREATE DATABASE');
    await page.getByText('changes data, so it is not run automatically').waitFor();
    expect(visit.faults).toEqual([]);
  });
});
