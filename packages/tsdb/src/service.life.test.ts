// Liveness and readiness during the start, the exit when storage is lost, and the log level at run
// time.
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import type { Worker } from 'node:worker_threads';
import { join } from 'node:path';

import { systemClock, Unavailable } from '@tidemark/core';
import { resolveConfig } from '@tidemark/settings';
import { openStorage } from '@tidemark/storage';
import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';

import { TSDB_CONFIG } from './config/schema.ts';
import { startTsdb } from './service.ts';
import type { TsdbService } from './service.ts';
import { startTestService, untilDefined } from './testing.ts';

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

type Starting = {
  readonly url: string;
  readonly service: Promise<TsdbService>;
  readonly log: pino.Logger;
  /** Lets storage finish its recovery, or fail. */
  readonly recover: (error?: Error) => void;
  /** Called by storage when it is lost for good. */
  readonly lose: (reason: Error) => void;
  /** Resolves when so many pings wait. */
  readonly untilWaiting: (count: number) => Promise<unknown>;
  /** As if five seconds had passed for the pings that wait. */
  readonly passPingWait: () => void;
};

/** A service whose storage is recovering until it is told that it is done. */
async function startSlowly(): Promise<Starting> {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-tsdb-'));
  cleanups.push(() => rmSync(directory, { recursive: true, force: true }));
  const { config } = resolveConfig(TSDB_CONFIG, [
    {
      source: 'test',
      values: {
        data: { dir: directory },
        http: { 'bind-address': '127.0.0.1:0' },
        monitor: { 'store-enabled': false },
      },
    },
  ]);
  let url: string | undefined;
  const write = (line: string): void => {
    url ??= (JSON.parse(line) as { urls?: string[] }).urls?.[0];
  };
  const log = pino({ level: 'info' }, { write });
  let recover: Starting['recover'] = () => undefined;
  let lose: Starting['lose'] = () => undefined;
  const recovered = new Promise<void>((resolve, reject) => {
    recover = (error) => (error === undefined ? resolve() : reject(error));
  });
  const clock = systemClock();
  const waiting = new Set<() => void>();
  const service = startTsdb(config, {
    log,
    clock: { ...clock, sleep: (ms, signal) => sleep(ms, signal) },
    openStorage: async (options) => {
      lose = (reason) => options.onFatal?.(reason);
      await recovered;
      return openStorage(options);
    },
  });
  service.catch(() => undefined); // The test that lets it fail looks at it later.
  const opened = await untilDefined('the listener', () => url);
  function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms !== 5000) return clock.sleep(ms, signal);
    return new Promise((resolve) => {
      const wake = (): void => {
        waiting.delete(wake);
        resolve();
      };
      waiting.add(wake);
      signal?.addEventListener('abort', wake);
    });
  }
  return {
    url: opened,
    service,
    log,
    recover,
    lose: (reason) => lose(reason),
    untilWaiting: (count) =>
      untilDefined('pings', () => (waiting.size === count ? true : undefined)),
    passPingWait: () => {
      for (const wake of waiting) wake();
    },
  };
}

describe('while storage is recovering', () => {
  test('the service is alive, not ready, and asks to come back; then it answers', async () => {
    const starting = await startSlowly();
    const { url } = starting;

    expect((await fetch(`${url}/health/live`)).status).toBe(200);
    expect((await fetch(`${url}/health/live`, { method: 'HEAD' })).status).toBe(200);
    const health = await fetch(`${url}/health`);
    expect(health.status).toBe(503);
    expect(await health.json()).toMatchObject({ status: 'fail', message: 'recovering' });
    for (const [path, body] of [
      ['/write?db=d', 'm f=1 1'],
      ['/query?q=SHOW+DATABASES', ''],
      ['/api/tokens', '{}'],
    ] as const) {
      const answer = await fetch(`${url}${path}`, { method: 'POST', body });
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await answer.json()).toEqual({ error: 'the service is recovering' });
    }

    // A client that waits for a ping continues with its next request.
    const pings = ['/ping', '/status'].map((path) => fetch(`${url}${path}`));
    await starting.untilWaiting(2);
    starting.recover();
    for (const ping of pings) expect((await ping).status).toBe(204);
    expect((await fetch(`${url}/query?q=SHOW+DATABASES`)).status).toBe(200);
    const service = await starting.service;
    cleanups.push(() => service.close());
    expect(service.url).toBe(url);
    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ status: 'pass' });
    expect((await fetch(`${url}/query?q=SHOW+DATABASES`)).status).toBe(200);
  });

  test('a ping is refused after five seconds, or when the service stops', async () => {
    const starting = await startSlowly();
    const { url } = starting;
    const pings = ['/ping', '/status'].map((path) => fetch(`${url}${path}`));
    await starting.untilWaiting(2);

    starting.passPingWait();

    for (const ping of pings) {
      const answer = await ping;
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await answer.json()).toEqual({ error: 'the service is recovering' });
    }
    const last = fetch(`${url}/ping`);
    await starting.untilWaiting(1);
    starting.recover(new Unavailable('the disk is gone'));
    expect((await last).status).toBe(503);
    await expect(starting.service).rejects.toThrow('the disk is gone');
  });

  test('a recovery that fails ends the start, and nothing listens any more', async () => {
    const starting = await startSlowly();
    starting.recover(new Unavailable('the disk is gone'));
    await expect(starting.service).rejects.toThrow('the disk is gone');
    await expect(fetch(`${starting.url}/ping`)).rejects.toThrow('fetch failed');
  });
});

test('a part that cannot be opened later ends the start, and everything before it is closed', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-tsdb-'));
  cleanups.push(() => rmSync(directory, { recursive: true, force: true }));
  const socket = join(directory, 'http.sock');
  const http = {
    'unix-socket-enabled': true,
    'bind-socket': socket,
    'audit-log-path': join(directory, 'audit.log'),
  };
  const subscriber = { 'ca-certs': join(directory, 'missing.pem') };
  const failing = startTestService({ directory, config: { http, subscriber } });
  await expect(failing).rejects.toThrow('subscriber.ca-certs cannot be read');
  const isListening = existsSync(socket);

  // Its locks, files and addresses are free again.
  const service = await startTestService({ directory, config: { http } });
  cleanups.push(() => service.close());

  expect(isListening).toBe(false);
  expect((await service.query('SHOW DATABASES')).status).toBe(200);
});

test('while the storage thread is opened again the service is not ready, and then serves what it had', async () => {
  // Node tells about every worker that is made; the last one is the storage thread.
  const workers: Worker[] = [];
  // The thread that is opened next is not heard of before the requests are answered.
  const held: (() => void)[] = [];
  let isHeld = false;
  const onWorker = (worker: Worker): void => {
    workers.push(worker);
    const emit = worker.emit.bind(worker) as (...event: unknown[]) => boolean;
    worker.emit = (...event: unknown[]): boolean => {
      if (!isHeld || event[0] !== 'message') return emit(...event);
      held.push(() => void emit(...event));
      return true;
    };
  };
  process.on('worker', onWorker);
  cleanups.push(() => void process.off('worker', onWorker));
  const service = await startTestService();
  cleanups.push(() => service.close());
  await service.query('CREATE DATABASE d');
  await service.write('m f=1 1', { db: 'd' });

  isHeld = true;
  await workers.at(-1)?.terminate();
  const health = await service.get('/health');
  const alive = await service.get('/health/live');
  const ping = service.get('/ping');
  const refused = await service.write('m f=2 2', { db: 'd' });

  expect([health.status, health.json]).toEqual([
    503,
    expect.objectContaining({ status: 'fail', message: 'recovering' }),
  ]);
  expect(alive.status).toBe(200);
  expect([refused.status, refused.headers.get('retry-after'), refused.json]).toEqual([
    503,
    '1',
    { error: 'storage is restarting' },
  ]);

  isHeld = false;
  for (const release of held) release();
  expect((await ping).status).toBe(204);
  await untilDefined('readiness', async () =>
    (await service.get('/health')).status === 200 ? true : undefined,
  );
  const found = await service.query('SELECT f FROM m', { db: 'd', epoch: 'ns' });
  expect(found.json.results[0].series[0].values).toEqual([[1, 1]]);
});

test('a stop lets the request in work end, closes idle connections and refuses new ones', async () => {
  const service = await startTestService();
  cleanups.push(() => service.close());
  await service.query('CREATE DATABASE d');
  const { port } = new URL(service.url);
  const idle = connect(Number(port), '127.0.0.1');
  await once(idle, 'connect');
  const busy = request({ port, path: '/write?db=d', method: 'POST' });
  // The answer to the first part says that the service has begun with the request.
  busy.setHeader('Expect', '100-continue');
  busy.flushHeaders();
  await once(busy, 'continue');
  busy.write('m f=1 1\n');

  const stopped = service.stop();
  await once(idle, 'close');
  await expect(fetch(`${service.url}/ping`)).rejects.toThrow('fetch failed');
  busy.end('m f=2 2\n');
  const [answer] = (await once(busy, 'response')) as [IncomingMessage];
  answer.resume();

  expect([answer.statusCode, answer.headers.connection]).toEqual([204, 'close']);
  await stopped;
  const again = await startTestService({ directory: service.directory });
  cleanups.push(() => again.stop());
  const found = await again.query('SELECT count(f) FROM m', { db: 'd', epoch: 'ns' });
  expect(found.json.results[0].series[0].values).toEqual([[0, 2]]);
});

test('storage that is lost for good is the failure of the service', async () => {
  const starting = await startSlowly();
  starting.recover();
  const service = await starting.service;
  cleanups.push(() => service.close());
  starting.lose(new Unavailable('failed twice within a minute'));
  await expect(service.failed).rejects.toThrow('failed twice within a minute');
});

describe('/debug/loglevel', () => {
  test('changes what is logged until it is changed again', async () => {
    const service = await startTestService();
    cleanups.push(() => service.close());
    const set = (body: string) => service.get('/debug/loglevel', { method: 'POST', body });
    const requests = () => service.logged.filter((line) => line.includes('"path":"/ping"')).length;

    await service.get('/ping');
    await untilDefined('the request in the log', () => requests() || undefined);
    expect((await set('{"level":"WARN"}')).status).toBe(204);
    await service.get('/ping');
    expect((await set('{"level":"debug"}')).status).toBe(204);
    await service.get('/ping');
    await untilDefined('the next request in the log', () => (requests() > 1 ? true : undefined));
    expect(requests()).toBe(2);
  });

  test.each([
    ['{"level":"loud"}', 'invalid log level'],
    ['{}', 'invalid log level'],
    ['[]', 'invalid json: expected an object'],
    ['{', /^invalid json: /],
  ])('%s is refused', async (body, error) => {
    const service = await startTestService();
    cleanups.push(() => service.close());
    const answer = await service.get('/debug/loglevel', { method: 'POST', body });
    expect(answer.status).toBe(400);
    expect(answer.json.error).toEqual(
      typeof error === 'string' ? error : expect.stringMatching(error),
    );
  });
});
