// What all pages share, with keys: dialogs, menus, the palette, and an address without a page.
import { hasPrograms, send } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Visit } from './visit.ts';

const TASK = {
  id: 'warm',
  script: "stream|from().measurement('room')",
  dbrps: [{ db: 'house', rp: 'autogen' }],
};

describe.skipIf(!hasPrograms('chromium'))('the frame of all pages', () => {
  let visit: Visit;
  const focused = () => visit.page.evaluate('document.activeElement.textContent');
  beforeAll(async () => {
    visit = await Visit.open();
    const { engine, tsdb } = visit.server;
    const task = { method: 'POST', body: JSON.stringify(TASK) };
    expect((await send(`${engine}/engine/v1/tasks`, task)).status).toBe(200);
    const content = { title: 'Boilers', cells: [] };
    const dashboard = { method: 'PUT', body: JSON.stringify({ title: 'Boilers', content }) };
    const path = '/api/documents?kind=dashboards&id=boilers&version=0';
    expect((await send(tsdb + path, dashboard)).status).toBe(201);
    await visit.show('dashboards');
  }, 60_000);
  afterAll(() => visit.close());

  test('a dialog takes the focus, closes on Escape and gives it back', async () => {
    const { page } = visit;
    await page.getByRole('button', { name: 'New dashboard' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'New dashboard' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focused()).toBe('New dashboard');
  });

  test('a menu opens, moves by arrow keys and acts', async () => {
    const { page } = visit;
    await visit.show('dashboards?id=boilers');
    await page.getByRole('button', { name: 'More', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Kiosk mode' }).waitFor();
    await visit.inspectThemes('shell-1');
    await page.keyboard.press('ArrowUp');
    expect(await focused()).toBe('Delete');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Exit kiosk mode' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  });

  test('the palette finds commands and leads to pages; keys do, too', async () => {
    const { page } = visit;
    await page.keyboard.press('Control+k');
    await page.getByLabel('Search commands').fill('keybo');
    await visit.inspectThemes('shell-2');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Keyboard shortcuts' }).waitFor();
    await page.getByRole('cell', { name: 'g h' }).waitFor();
    await visit.inspect('shortcuts');
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/ui/');
  });

  test.each([
    ['boilers', /^Boilers ?Dashboards/, 'Boilers'],
    ['warm', /^warm ?Tasks/, 'warm'],
    ['audit log', /^Audit log/, 'Administration'],
    ['dead letters', /^Dead letters/, 'Alerts'],
    ['free disk', /^Storage/, 'Administration'],
    ['smtp', /^smtp ?Settings/, 'Administration'],
    ['undelivered', /^Dead letters/, 'Alerts'],
  ])(
    'the palette finds %j: a document, a task, a tab or a setting',
    async (typed, option, heading) => {
      const { page } = visit;
      await visit.show('');
      await page.keyboard.press('Control+k');
      await page.getByLabel('Search commands').fill(typed);
      // It is found when what is stored has been loaded; until then, others may come first.
      await page.getByRole('option', { name: option }).first().waitFor();
      await expect
        .poll(() => page.getByRole('option', { selected: true }).textContent())
        .toMatch(option);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
    },
  );

  test('an address without a page says so, and leads to the overview', async () => {
    const { page } = visit;
    await visit.show('nowhere');
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
    await visit.inspect('no-page');
    await page.getByRole('main').getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expect(visit.faults).toEqual([]);
  });
});
