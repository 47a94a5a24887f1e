// Rules for every page; a page missing from the table fails.
import { hasPrograms, query, send, write } from '@tidemark/testkit';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Visit } from './visit.ts';

/**
 * Pages by their address with a place to type into, where they have one; the overview and the list
 * of keys have none. Parts of Administration are pages of their own to a user.
 */
const PAGES: Readonly<Record<string, ((page: Page) => ReturnType<Page['locator']>) | undefined>> = {
  '': undefined,
  'explore?db=house': (page) => page.getByRole('textbox', { name: 'Statement' }),
  'explore?db=house&view=log': (page) => page.getByLabel('Search in texts'),
  dashboards: undefined,
  alerts: undefined,
  'alerts?tab=history': undefined,
  'alerts?tab=handlers': undefined,
  'alerts?tab=dead': undefined,
  'alerts?tab=rules': (page) => page.getByLabel('Name', { exact: true }),
  tasks: (page) => page.getByPlaceholder('Search'),
  'tasks?tab=instances': undefined,
  'tasks?new=1': (page) => page.getByRole('textbox', { name: 'Script', exact: true }),
  'tasks?id=hot': (page) => page.getByRole('textbox', { name: 'Script', exact: true }),
  'tasks?id=hot&tab=versions': undefined,
  try: (page) => page.getByRole('textbox', { name: 'Script', exact: true }),
  recordings: (page) => page.getByLabel(/minutes$/),
  write: (page) => page.getByRole('textbox', { name: 'Line protocol' }),
  'admin?tab=databases': (page) => page.getByPlaceholder('New database'),
  'admin?tab=automatic': (page) => page.getByLabel('Name', { exact: true }),
  'admin?tab=users': (page) => page.getByPlaceholder('New user'),
  'admin?tab=audit': (page) => page.getByPlaceholder('User, database'),
  'admin?tab=backup': (page) => page.getByLabel('Only this database'),
  'admin?tab=import': (page) => page.getByLabel('Address').first(),
  'admin?tab=cluster': undefined,
  'admin?tab=counters': undefined,
  'admin?tab=engine': undefined,
  start: (page) => page.getByLabel('API token'),
  shortcuts: undefined,
};

/** These show a form, or need no service: the notice above them suffices. */
const WITHOUT_SERVICE = [
  'alerts?tab=rules',
  'tasks?new=1',
  'try',
  'write',
  'admin?tab=backup',
  'admin?tab=import',
  'start',
  'shortcuts',
];

const TYPED = '7';

describe.skipIf(!hasPrograms('chromium'))('every page', () => {
  let visit: Visit;
  const open = new Map<string, Page>();
  beforeAll(async () => {
    visit = await Visit.open();
    const { engine, tsdb } = visit.server;
    await query(tsdb, 'CREATE DATABASE house');
    await write(tsdb, 'house', 'room,name=a celsius=1');
    await write(tsdb, 'house', 'events,name=a message="door opened",level="info"');
    const made = await send(`${engine}/engine/v1/tasks`, {
      method: 'POST',
      body: JSON.stringify({
        id: 'hot',
        script: 'stream|from()',
        dbrps: [{ db: 'house', rp: 'autogen' }],
      }),
    });
    expect(made.status, made.text).toBe(200);
  }, 60_000);
  afterAll(() => visit.close());

  const heldBy = (place: ReturnType<Page['locator']>): Promise<string> =>
    place.evaluate((element) =>
      'value' in element ? String(element.value) : (element.textContent ?? ''),
    );

  test('is walked over here', async () => {
    await visit.show('');
    const links = visit.page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    const addresses = await links.evaluateAll((all) =>
      all.map((link) => link.getAttribute('href') ?? ''),
    );
    const ids = addresses.map((address) => /([a-z]*)$/.exec(address)?.[1] ?? '');
    const walked = new Set(Object.keys(PAGES).map((path) => path.replace(/\?.*/, '')));
    expect(ids.length).toBeGreaterThan(7);
    expect(ids.filter((id) => !walked.has(id))).toEqual([]);
  });

  test.each(Object.keys(PAGES))('has no fault that axe finds, and fits: %j', async (path) => {
    const page = await visit.another(path);
    const place = PAGES[path]?.(page);
    await place?.waitFor();
    await visit.inspect(`page-${(path || 'home').replaceAll(/\W+/g, '-')}`, page);
    open.set(path, page);
    if (place === undefined) return;
    await place.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.type(TYPED);
  });

  test('survives a restart of the services with what was typed', async () => {
    expect(open.size).toBe(Object.keys(PAGES).length);
    const down = (page: Page) => page.getByText(/is not responding\. Retrying/);
    await visit.restart(async () => {
      for (const page of open.values()) {
        // As when somebody comes back to it: otherwise it looks every ten seconds.
        await page.evaluate("dispatchEvent(new Event('focus'))");
        await down(page).waitFor();
      }
    });
    for (const [path, page] of open) {
      await down(page).waitFor({ state: 'detached' });
      const place = PAGES[path]?.(page);
      if (place !== undefined) expect(await heldBy(place), path).toBe(TYPED);
      expect(await page.getByText('Something went wrong on this page').count(), path).toBe(0);
      await page.locator('main h1').waitFor();
    }
    expect(visit.faults).toEqual([]);
    for (const page of open.values()) await page.close();
  });

  test('loads while its service is slow, and says what is away and what to do', async () => {
    const { context } = visit;
    const SERVICES = /\/api\/(?:tsdb|engine)\//;
    // As the page's server answers then.
    const json = { error: 'the service does not answer: connect ECONNREFUSED 127.0.0.1:1' };
    let slow = Promise.resolve();
    await context.route(SERVICES, (route) => slow.then(() => route.fulfill({ status: 502, json })));
    const alone = new Set(WITHOUT_SERVICE);
    for (const path of Object.keys(PAGES)) {
      let answer = (): void => {};
      slow = new Promise<void>((resolve) => (answer = resolve));
      const page = await visit.another(path);
      if (!alone.has(path)) {
        const main = page.getByRole('main');
        await main.getByRole('status', { name: 'Loading' }).first().waitFor();
        expect(await main.getByRole('alert').count(), path).toBe(0);
      }
      answer();
      await page.getByText(/is not responding\. Retrying/).waitFor();
      if (!alone.has(path)) {
        const failure = page.getByRole('main').getByRole('alert').first();
        await failure
          .getByText(/^(?:Database|Task engine) is not responding\. .*If it was stopped, start it/)
          .waitFor();
        await failure.getByRole('button', { name: 'Try again' }).waitFor();
      }
      expect(await page.getByText('ECONNREFUSED').count(), path).toBe(0);
      await page.close();
    }
    await context.unroute(SERVICES);
  }, 180_000);
});
