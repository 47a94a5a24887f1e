// The start page: the state of services and data, dead letters, and a service that died.
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

import { eventually, hasPrograms, query, send, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Visit } from './visit.ts';

const SCRIPT = `stream
    |from()
        .measurement('cpu')
    |alert()
        .id('{{ index .Tags "host" }}')
        .crit(lambda: "usage" > 90)
        .topic('hot')
`;

/** Bytes loaded before the page can be used. */
const FIRST_VIEW_BYTES_MAX = 60_000;

describe.skipIf(!hasPrograms('chromium'))('the start page', () => {
  let visit: Visit;
  const panel = (name: string) => visit.page.getByRole('region', { name, exact: true });

  beforeAll(async () => {
    visit = await Visit.open();
    const { engine, tsdb } = visit.server;
    await query(tsdb, 'CREATE DATABASE house');
    await write(tsdb, 'house', 'room,name=kitchen celsius=21.5 1700000000000000000');
    const tasks = [
      { id: 'too_hot', type: 'stream', script: SCRIPT },
      {
        id: 'unheard',
        script: "stream|from()|alert().crit(lambda: TRUE).email('ops@example.org')",
      },
    ];
    for (const task of tasks) {
      const dbrps = [{ db: 'house', rp: 'autogen' }];
      const defined = await send(`${engine}/engine/v1/tasks`, {
        method: 'POST',
        body: JSON.stringify({ ...task, dbrps, status: 'enabled' }),
      });
      expect(defined.status, defined.text).toBe(200);
    }
    await write(engine, 'house', 'cpu,host=a usage=97', { rp: 'autogen' });
    await eventually('the topic', async () =>
      (await send(`${engine}/engine/v1preview/alerts/topics/hot`)).text.includes('CRITICAL')
        ? true
        : undefined,
    );
  }, 60_000);
  afterAll(() => visit.close());

  test('is small enough to be there at once', async () => {
    let sizeBytes = 0;
    const files: string[] = [];
    visit.page.on('response', async (response) => {
      if (!response.url().startsWith(`${visit.server.ui}/ui/`)) return;
      files.push(response.url());
      sizeBytes += gzipSync(await response.body()).length;
    });
    await visit.show('');
    await panel('Task engine').getByText('unheard').waitFor();
    expect(files.length).toBeGreaterThan(3);
    expect(sizeBytes).toBeLessThan(FIRST_VIEW_BYTES_MAX);
  });

  test('shows figures and trends of the database', { timeout: 150_000 }, async () => {
    const database = panel('Database');
    await database.getByRole('link', { name: 'house', exact: true }).waitFor();
    // Self-monitoring stores the rates of whole windows of 20 seconds.
    await database
      .getByRole('img', { name: /^Points written per second: .*\/s$/ })
      .waitFor({ timeout: 90_000 });
    for (const label of ['Points written', 'Memory', 'Free disk space', 'Slow queries']) {
      await database.getByText(label, { exact: true }).first().waitFor();
    }
    await expect.poll(() => database.locator('dl').textContent()).toContain('Series1');
    await database.getByRole('img', { name: /^Memory: .* MiB$/ }).waitFor();
    await database.getByText('now', { exact: true }).first().waitFor();
    await visit.page
      .getByRole('status', { name: 'Services' })
      .getByText(/Database \d/)
      .waitFor();
  });

  test('shows failing tasks with the reason, and open alerts', async () => {
    const engine = panel('Task engine');
    await engine
      .getByRole('row', { name: 'unheard handler smtp: the service is not enabled' })
      .waitFor();
    await engine.getByRole('row', { name: /^a a is CRITICAL CRITICAL$/ }).waitFor();
    await expect
      .poll(() => engine.locator('dl').textContent())
      .toContain('Running tasks2of 2 tasks');
  });

  test('says what to do next', async () => {
    const { page } = visit;
    const next = panel('Next steps');
    await next.getByText('1 event could not be delivered.').waitFor();
    await next.getByText('1 task needs attention.').waitFor();
    await write(
      visit.server.tsdb,
      'house',
      'room,name=kitchen celsius="warm" 1700000000000000000',
    ).catch(() => undefined);
    await next.getByText('1 point was rejected since start.').waitFor();
    await next
      .getByRole('listitem')
      .filter({ hasText: 'rejected' })
      .getByRole('link')
      .press('Enter');
    await page
      .getByText(/field type conflict/)
      .first()
      .waitFor();
    await page.goBack();
  });

  test('has no fault that axe finds, in both themes and at 360 pixels', async () => {
    await visit.inspect('home');
  });

  test('a service that does not answer is shown as such, and again when it is back', async () => {
    const { page } = visit;
    const notice = page.getByText('Task engine is not responding. Retrying');
    await page.route('**/api/engine/**', (route) => route.abort());
    await page.reload();
    await notice.waitFor();
    await panel('Database').getByRole('link', { name: 'house', exact: true }).waitFor();
    expect(await visit.accessibilityFaults()).toEqual([]);

    await page.unroute('**/api/engine/**');
    await panel('Task engine').getByText('unheard').waitFor();
    await notice.waitFor({ state: 'detached' });
  });

  test('works below a prefix that a proxy puts before its path', async () => {
    const upstream = new URL(visit.server.ui);
    const proxy = createServer((incoming, response) => {
      const path = incoming.url?.replace(/^\/monitoring/, '');
      if (path === incoming.url) {
        response.writeHead(404).end();
        return;
      }
      const { hostname, port } = upstream;
      const outgoing = request(
        { hostname, port, path, method: incoming.method, headers: incoming.headers },
        (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
        },
      );
      incoming.pipe(outgoing);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const page = await visit.context.newPage();
    const strays: string[] = [];
    page.on('response', (response) => {
      // Nobody is signed in: that is said so.
      const isSession = response.url().endsWith('/monitoring/api/session');
      if (response.status() >= 400 && !isSession) strays.push(response.url());
    });
    await page.goto(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}/monitoring/`);
    await page.getByText('unheard').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();

    expect(new URL(page.url()).pathname).toBe('/monitoring/ui/shortcuts');
    expect(strays).toEqual([]);
    await page.close();
    proxy.close();
    proxy.closeAllConnections();
  });

  test('nothing was asked elsewhere, refused by the policy, or thrown', () => {
    expect(visit.faults).toEqual([]);
  });
});
