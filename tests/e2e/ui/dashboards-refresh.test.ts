// Dashboards that refresh: what is asked for, and what is shown while the services are away.
import { hasPrograms, query, send, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { houseLines, place, queryOf } from './house.ts';
import { Visit } from './visit.ts';

const LINE = 'SELECT mean(celsius) FROM room WHERE $timeFilter GROUP BY time(1m), "name"';

describe.skipIf(!hasPrograms('chromium'))('dashboards that refresh', () => {
  let visit: Visit;
  const put = (id: string, content: object) =>
    fetch(`${visit.server.tsdb}/api/documents?kind=dashboards&id=${id}&version=0`, {
      method: 'PUT',
      body: JSON.stringify({ title: id, content: { database: 'house', ...content } }),
    });
  const chart = (id: string, y: number, text = LINE) => ({
    ...place(0, y, 12, 5),
    id,
    title: id,
    kind: 'line',
    queries: [queryOf(text.replace('celsius)', `celsius) AS ${id}`))],
  });
  const cell = (title: string) =>
    visit.page.getByRole('region', { name: new RegExp(`^${title} \\(`) });
  const press = (name: string) => visit.page.getByRole('button', { name, exact: true }).click();

  beforeAll(async () => {
    visit = await Visit.open();
    const { tsdb } = visit.server;
    await query(tsdb, 'CREATE DATABASE house');
    await write(tsdb, 'house', houseLines(Date.now()));
  }, 60_000);
  afterAll(() => visit.close());

  test('a cell that leaves the screen and returns is not blank, and asks for what it missed', async () => {
    const { page } = visit;
    await put('scroll', { cells: [chart('near', 0), chart('far', 50)], refresh: '10s' });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.postData() ?? ''));
    const countOf = (id: string): number =>
      asked.filter((body) => body.includes(`AS+${id}+`)).length;
    await page.clock.install();
    await visit.show('dashboards?id=scroll');
    await cell('near').getByText('near name=attic').waitFor();
    expect([countOf('near'), countOf('far')]).toEqual([1, 0]);
    await page.evaluate(`window.blank = 0;
      new MutationObserver(() => {
        if (document.querySelector('[aria-label^="near"] .skeleton') !== null) window.blank++;
      }).observe(document.body, { childList: true, subtree: true });`);

    await cell('far').scrollIntoViewIfNeeded();
    await cell('far').getByText('far name=attic').waitFor();
    await cell('near').scrollIntoViewIfNeeded();
    await cell('near').getByText('near name=attic').waitFor();
    await cell('far').scrollIntoViewIfNeeded();
    await page.evaluate(`new Promise((left) => {
      new IntersectionObserver(([{ isIntersecting }]) => {
        if (!isIntersecting) left();
      }).observe(document.querySelector('[aria-label^="near"]'));
    })`);
    expect([countOf('near'), countOf('far')]).toEqual([1, 1]);

    await page.clock.runFor(10_500);
    await expect.poll(() => countOf('far')).toBe(2);
    expect(countOf('near')).toBe(1);
    await cell('near').scrollIntoViewIfNeeded();
    await expect.poll(() => countOf('near')).toBe(2);
    expect(await page.evaluate('window.blank')).toBe(0);
  });

  test('twenty cells ask one query each for a refresh, and none while off screen', async () => {
    const { page, server } = visit;
    const cells = Array.from({ length: 20 }, (_, i) => ({
      ...chart(`c${i}`, Math.floor(i / 4) * 5),
      ...place((i % 4) * 3, Math.floor(i / 4) * 4, 3, 4),
    }));
    const far = Array.from({ length: 5 }, (_, i) => chart(`far${i}`, 90 + i * 5));
    await put('twenty', { cells: [...cells, ...far] });
    await page.setViewportSize({ width: 1280, height: 1100 });
    await visit.show('dashboards?id=twenty');
    for (const { id } of cells) await cell(id).getByText(`${id} name=attic`).waitFor();
    const requests = async (): Promise<number> => {
      const [stats] = await query(server.tsdb, "SHOW STATS FOR 'httpd'");
      return Number(stats?.values?.[0]?.[stats.columns.indexOf('queryReq')]);
    };
    const asked: string[] = [];
    page.on('requestfinished', (request) => {
      if (request.url().includes('/query')) asked.push(request.postData() ?? '');
    });
    // Nothing of the page's beginning is on its way any more.
    let known = 0;
    const othersAsk = async (): Promise<number> => {
      const before = known;
      known = await requests();
      return known - before - 1;
    };
    await expect.poll(othersAsk, { interval: 1000 }).toBe(0);
    const ofRefresh = async (): Promise<number> => {
      asked.length = 0;
      const before = await requests();
      await press('Refresh now');
      await expect.poll(() => asked.length).toBe(20);
      return (await requests()) - before;
    };
    // One of them asks for the count. Once a minute the engine asks, too, for its subscriptions.
    await expect.poll(ofRefresh).toBe(21);
    expect(new Set(asked).size).toBe(20);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('an outage leaves the last picture with a mark; a failed save is forgotten afterwards', async () => {
    const { page } = visit;
    await put('outage', { cells: [chart('near', 0)] });
    await visit.show('tasks?new=1');
    const tasks = page;
    await tasks.getByLabel('Task', { exact: true }).fill('late');
    const dashboard = await visit.another('dashboards?id=outage');
    const explore = await visit.another('explore?db=house');
    const seen = dashboard.getByRole('region', { name: /^near \(/ });
    await seen.getByText('near name=attic').waitFor();
    const stale = seen.getByRole('button', { name: 'Not up to date' });
    const failed = tasks.getByText('Task engine is not responding. This loads');
    await visit.restart(async () => {
      await dashboard.getByRole('button', { name: 'Refresh now' }).click();
      await stale.waitFor();
      await seen.getByText('near name=attic').waitFor();
      expect(await visit.accessibilityFaults('all', dashboard)).toEqual([]);
      await tasks.getByRole('button', { name: 'New task' }).click();
      await failed.waitFor();
      // Names that fail to load are no empty database.
      await explore.getByRole('button', { name: 'Builder', exact: true }).click();
      await explore.getByText('Database is not responding. This loads').first().waitFor();
    });
    await stale.waitFor({ state: 'detached' });
    await failed.waitFor({ state: 'detached' });
    await explore.getByLabel('Measurement', { exact: true }).selectOption('room');
    await dashboard.close();
    await explore.close();
  });

  test('an event of a topic and of its node is listed once; errors are seen in the list', async () => {
    const { page, server } = visit;
    const script = `var room = stream|from().measurement('room')
      room|eval(lambda: "celsius" + "absent").as('x')
      room|where(lambda: "name" == 'kitchen')
        |alert().id('k').crit(lambda: "celsius" > 0.0).topic('warm').post('http://127.0.0.1:1')`;
    const made = await send(`${server.engine}/engine/v1/tasks`, {
      method: 'POST',
      body: JSON.stringify({
        id: 'twice',
        type: 'stream',
        status: 'enabled',
        dbrps: [{ db: 'house', rp: 'autogen' }],
        script,
      }),
    });
    expect(made.status, made.text).toBe(200);
    await write(server.engine, 'house', houseLines(Date.now()), { rp: 'autogen' });
    await visit.show('alerts');
    await page.getByRole('row').filter({ hasText: 'warm' }).waitFor();
    await expect.poll(() => page.getByRole('row').filter({ hasText: 'CRITICAL' }).count()).toBe(1);
    await visit.show('alerts?tab=history');
    await page.getByRole('row').filter({ hasText: 'warm' }).waitFor();
    expect(await page.getByRole('row').filter({ hasText: 'main:twice' }).count()).toBe(0);
    await visit.show('tasks');
    await page.getByText('running with errors').waitFor();
    expect(visit.faults).toEqual([]);
  });
});
