// Dashboards: looked at, shown alone, cloned, taken along.
import { hasPrograms, query, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { HOUSE, houseLines, place, queryOf } from './house.ts';
import { Visit } from './visit.ts';

describe.skipIf(!hasPrograms('chromium'))('dashboards', () => {
  let visit: Visit;
  const put = (id: string, version: number, content: object, title: string) =>
    fetch(`${visit.server.tsdb}/api/documents?kind=dashboards&id=${id}&version=${version}`, {
      method: 'PUT',
      body: JSON.stringify({ title, content }),
    });
  const cell = (title: string) =>
    visit.page.getByRole('region', { name: new RegExp(`^${title} \\(`) });
  const press = (name: string) => visit.page.getByRole('button', { name, exact: true }).click();

  beforeAll(async () => {
    visit = await Visit.open();
    const { tsdb } = visit.server;
    await query(tsdb, 'CREATE DATABASE house');
    await write(tsdb, 'house', houseLines(Date.now()));
    expect((await put('house', 0, HOUSE, 'House')).status).toBe(201);
  }, 60_000);
  afterAll(() => visit.close());

  test('every kind of cell shows its data, and variables choose it', async () => {
    const { page } = visit;
    await visit.show('dashboards?id=house');
    await cell('Lines').getByText('mean name=attic').waitFor();
    await cell('Groups').getByRole('rowheader', { name: 'mean name=kitchen' }).waitFor();
    await cell('States').getByText('warning').first().waitFor();
    await cell('Rows').getByRole('cell', { name: 'kitchen' }).waitFor();
    await cell('Heat').locator('rect').first().waitFor();
    await cell('Gauge').getByRole('img').first().waitFor();
    await cell('About').getByRole('heading', { name: 'Read me' }).waitFor();
    await cell('Alerts').getByText('Nothing alerts.').waitFor();
    await visit.inspect('dashboard');

    await press('all');
    await page.getByRole('checkbox', { name: 'attic' }).check();
    await cell('Lines').getByText('mean name=kitchen').waitFor({ state: 'detached' });
    expect(await visit.accessibilityFaults()).toEqual([]);
    await page.reload();
    await cell('Lines').getByText('mean name=attic').waitFor();
    expect(await cell('Lines').getByText('mean name=kitchen').count()).toBe(0);
  });

  test('what nobody sees is not asked for', async () => {
    const { page } = visit;
    const cellAt = (id: string, y: number) => ({
      ...place(0, y),
      id,
      title: id,
      kind: 'table',
      queries: [queryOf(`SELECT last(celsius) AS ${id} FROM room`)],
    });
    const content = { database: 'house', cells: [cellAt('near', 0), cellAt('far', 60)] };
    expect((await put('long', 0, content, 'Long')).status).toBe(201);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.postData() ?? ''));
    const isAsked = (id: string): boolean => asked.some((body) => body.includes(`AS+${id}+`));
    await visit.show('dashboards?id=long');
    await cell('near').getByRole('columnheader', { name: 'near' }).waitFor();
    expect([isAsked('near'), isAsked('far')]).toEqual([true, false]);
    await cell('far').scrollIntoViewIfNeeded();
    await cell('far').getByRole('columnheader', { name: 'far' }).waitFor();
    expect(isAsked('far')).toBe(true);
  });

  test('a dashboard is shown alone, cloned, exported, and imported again', async () => {
    const { page } = visit;
    await visit.show('dashboards?id=house');
    await cell('About').waitFor();
    await page.keyboard.press('f');
    await page.getByRole('navigation').waitFor({ state: 'hidden' });
    expect(await visit.accessibilityFaults()).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('navigation').waitFor();
    await press('More');
    await page.getByRole('menuitem', { name: 'Clone' }).click();
    await page.getByRole('heading', { level: 1, name: 'Copy of House' }).waitFor();
    await press('More');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Export as JSON' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('Copy of House.json');
    await visit.show('dashboards');
    await press('Import');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('From a file').setInputFiles(await download.path());
    await dialog.getByText('From Tidemark: 12 cells, 1 variable. Nothing is left out.').waitFor();
    await dialog.getByLabel('JSON').fill('{"cells": 3}');
    await dialog.getByText('This is no dashboard').waitFor();
    await dialog.getByLabel('JSON').fill('{');
    await dialog.getByText('This is no JSON').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  });

  test('a statement goes from Explore to a dashboard', async () => {
    const { page } = visit;
    await visit.show('explore?db=house&q=SELECT+max(celsius)+FROM+room');
    await press('Put it on a dashboard');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Dashboards').selectOption('Long');
    await dialog.getByLabel('Title').fill('Highest');
    await dialog.getByLabel('Shown as').selectOption('single');
    expect(await visit.accessibilityFaults()).toEqual([]);
    await dialog.getByRole('button', { name: 'Add it' }).click();
    await page.getByRole('heading', { level: 1, name: 'Long' }).waitFor();
    await cell('Highest').scrollIntoViewIfNeeded();
    await cell('Highest').getByText('23').waitFor();
    expect(visit.faults).toEqual([]);
  });
});
