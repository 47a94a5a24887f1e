// Responses before the engine is ready.
import { createServer } from 'node:http';
import { BorderGuard } from '@tidemark/process';
import { freePort, TestClock } from '@tidemark/testkit';
import { TestEngine } from '@tidemark/testkit/engine';
import { afterEach, expect, test } from 'vitest';
import { StartingListener } from './starting.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A clock that tells when somebody sleeps. */
class WatchedClock extends TestClock {
  #onSleep: (() => void) | undefined;

  override sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    this.#onSleep?.();
    return super.sleep(delayMs, signal);
  }

  nextSleep(): Promise<void> {
    return new Promise((resolve) => (this.#onSleep = resolve));
  }
}

async function listen() {
  const clock = new WatchedClock();
  const address = { host: '127.0.0.1', port: await freePort() };
  const border = new BorderGuard({
    section: 'http',
    boundHost: address.host,
    isOpen: true,
    allowedHosts: [],
    allowedOrigins: [],
    trustedProxies: [],
    pageKey: undefined,
  });
  const listener = await StartingListener.open(
    { border, clock, hasCompatiblePaths: true, requestTimeoutMs: 0, tls: undefined },
    address,
  );
  cleanups.push(() => listener.close());
  return { clock, listener, address, url: `http://127.0.0.1:${address.port}` };
}

test('an engine that starts is alive and not ready, and asks to come back', async () => {
  const { url } = await listen();

  const live = await fetch(`${url}/health/live`);
  const health = await fetch(`${url}/health`);
  const tasks = await fetch(`${url}/kapacitor/v1/tasks`, { method: 'POST', body: '{}' });

  expect([live.status, await live.json()]).toMatchObject([200, { status: 'pass' }]);
  expect([health.status, await health.json()]).toMatchObject([
    503,
    { status: 'fail', message: 'starting' },
  ]);
  expect([tasks.status, tasks.headers.get('retry-after'), await tasks.json()]).toEqual([
    503,
    '1',
    { error: 'the engine is starting' },
  ]);
});

test.each(['/ping', '/engine/v1/ping', '/kapacitor/v1/ping', '/engine/v1preview/ping'])(
  '%s waits for the engine, which answers it where the listener was',
  async (path) => {
    const { clock, listener, address, url } = await listen();
    const asked = clock.nextSleep();
    const ping = fetch(`${url}${path}`);
    await asked;

    listener.stopListening();
    const engine = createServer();
    await new Promise<void>((resolve) => engine.listen(address, resolve));
    cleanups.push(() => new Promise((resolve) => engine.close(() => resolve())));
    listener.answerWith((request, response) =>
      response.writeHead(204, { from: request.url }).end(),
    );

    const answer = await ping;
    expect([answer.status, answer.headers.get('from')]).toEqual([204, path]);
    await listener.close();
  },
);

test('a ping is refused after five seconds, or when the engine does not start', async () => {
  const { clock, listener, url } = await listen();
  const asked = clock.nextSleep();
  const ping = fetch(`${url}/ping`);
  await asked;
  clock.advance(5000);
  const late = await ping;
  const askedAgain = clock.nextSleep();
  const last = fetch(`${url}/ping`);
  await askedAgain;

  await listener.close();

  expect([late.status, late.headers.get('retry-after')]).toEqual([503, '1']);
  expect((await last).status).toBe(503);
  await expect(fetch(`${url}/ping`)).rejects.toThrow('fetch failed');
});

test('an engine that serves is alive without credentials, and its port is taken from the start', async () => {
  const engine = new TestEngine();
  const bind = `127.0.0.1:${await freePort()}`;
  cleanups.push(() => engine.close());
  await engine.start({ http: { 'bind-address': bind } });

  const live = await engine.call('GET', '/health/live');

  expect(engine.url).toBe(`http://${bind}`);
  expect([live.status, live.json]).toMatchObject([200, { message: 'alive' }]);
});
