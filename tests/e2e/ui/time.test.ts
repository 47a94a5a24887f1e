// Time ranges: typed, chosen from the calendar and by name, in the zone that is chosen, and in
// links.
import { hasPrograms, query, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { houseLines } from './house.ts';
import { Visit } from './visit.ts';

describe.skipIf(!hasPrograms('chromium'))('time ranges', () => {
  let visit: Visit;
  const press = (name: string) => visit.page.getByRole('button', { name, exact: true }).click();
  const param = (name: string): string | null => new URL(visit.page.url()).searchParams.get(name);
  const picker = () => visit.page.locator('.range-picker .popover-anchor button');

  beforeAll(async () => {
    visit = await Visit.open();
    await query(visit.server.tsdb, 'CREATE DATABASE house');
    await write(visit.server.tsdb, 'house', houseLines(Date.now()));
  }, 60_000);
  afterAll(() => visit.close());

  test('typed times are in the chosen zone, and a link says the same everywhere', async () => {
    const { page } = visit;
    await visit.show('explore?db=house&q=SELECT+celsius+FROM+room+WHERE+%24timeFilter');
    await picker().click();
    const zone = page.getByLabel('Time zone');
    await zone.fill('Mars/Olympus');
    await zone.press('Enter');
    await page.getByText('Unknown time zone').waitFor();
    await zone.fill('america/new_york');
    await zone.press('Enter');
    await page.getByLabel('From', { exact: true }).fill('2026-01-15 02:00');
    await page.getByLabel('To', { exact: true }).fill('2026-07-15 02:00');
    await visit.inspectThemes('time-1');
    await press('Apply');
    await expect.poll(() => param('from')).toBe('2026-01-15T07:00:00.000Z');
    expect(param('to')).toBe('2026-07-15T06:00:00.000Z');
    await page
      .getByRole('button', { name: '2026-01-15 02:00:00 – 2026-07-15 02:00:00 · America/New_York' })
      .waitFor();

    // A colleague with another zone sees the same hours, as their clocks show them.
    const link = page.url();
    await page.evaluate(`localStorage.clear(); sessionStorage.clear()`);
    await page.goto(link);
    await picker().click();
    await zone.fill('UTC');
    await zone.press('Enter');
    await page
      .getByRole('button', { name: '2026-01-15 07:00:00 – 2026-07-15 06:00:00 · UTC' })
      .waitFor();
    await page.keyboard.press('Escape');
  });

  test('ranges have names, and move by their length', async () => {
    const { page } = visit;
    await visit.show('explore?db=house');
    await picker().click();
    for (const name of ['Last 5 minutes', 'Today', 'This week', 'Previous month']) {
      await page.getByRole('group', { name: 'Relative ranges' }).getByText(name).waitFor();
    }
    await page.getByRole('group', { name: 'Relative ranges' }).getByText('Yesterday').click();
    await page.getByRole('button', { name: /^Yesterday/ }).waitFor();
    expect([param('from'), param('to')]).toEqual(['now-1d/d', 'now-1d/d']);
    await press('Move range back');
    await expect.poll(() => param('to')).toMatch(/T\d\d:\d\d:\d\d/);
    const length = Date.parse(param('to') ?? '') - Date.parse(param('from') ?? '');
    expect(length).toBe(86_400_000 - 1);
    const before = param('from');
    await press('Move range back');
    await press('Move range forward');
    await expect.poll(() => param('from')).toBe(before);
  });

  test('days are chosen from the calendar, with a pointer and with keys', async () => {
    const { page } = visit;
    await visit.show('explore?db=house&from=2026-05-10T00:00:00.000Z&to=2026-05-12T00:00:00.000Z');
    await page.evaluate(`localStorage.setItem('tidemark.preference.zone', JSON.stringify('UTC'))`);
    await page.reload();
    await picker().click();
    await page.getByRole('group', { name: 'Calendar' }).getByText('May 2026').waitFor();
    await press('Select May 4, 2026');
    await press('Select May 6, 2026');
    const from = page.getByLabel('From', { exact: true });
    const to = page.getByLabel('To', { exact: true });
    expect(await from.inputValue()).toBe('2026-05-04 00:00:00');
    expect(await to.inputValue()).toBe('2026-05-06 23:59:59');
    await visit.inspectThemes('time-2');
    // The same by keys: four weeks on is the next month.
    for (let week = 0; week < 4; week++) await page.keyboard.press('ArrowDown');
    await page.getByText('June 2026').waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    expect(await from.inputValue()).toBe('2026-06-02 00:00:00');
    expect(await to.inputValue()).toBe('2026-06-03 23:59:59');
    await press('Apply');
    await expect.poll(() => param('from')).toBe('2026-06-02T00:00:00.000Z');
    expect(visit.faults).toEqual([]);
  });
});
