import { Unavailable } from '@tidemark/core';
import { TestClock } from '@tidemark/testkit';
import { afterEach, expect, test } from 'vitest';

import { startTestService, untilDefined } from '../testing.ts';
import type { TestService } from '../testing.ts';
import { driverOf } from '../statements/context.ts';
import type { StatementServices } from '../statements/context.ts';
import { onSnapshot } from '../statements/on-snapshot.ts';
import { runRemoteQueries } from '../prometheus/read.ts';
import { QueryMemories } from './query-memory.ts';
import { RunningQueries } from './running-queries.ts';
import { SlowQueries } from './slow-queries.ts';

let service: TestService;
afterEach(() => service.close());

// Two billion windows: nobody waits for the end of it.
const ENDLESS =
  'SELECT mean(f) FROM m WHERE time >= 0 AND time < 2000000000s GROUP BY time(1s) fill(0)';

async function start(coordinator: Record<string, unknown> = {}, clock?: TestClock): Promise<void> {
  const unlimited = { 'max-filled-windows': 0, ...coordinator };
  service = await startTestService({ config: { coordinator: unlimited }, clock });
  await service.query('CREATE DATABASE d');
  await service.write('m f=1 1', { db: 'd' });
}

/** Starts the endless query and reads a bit of its answer. */
async function startEndless(): Promise<{ read(): Promise<string>; abort(): void }> {
  const controller = new AbortController();
  const response = await fetch(
    `${service.url}/query?${new URLSearchParams({ db: 'd', q: ENDLESS, chunked: 'true', chunk_size: '1000' })}`,
    { signal: controller.signal },
  );
  return { read: () => response.text(), abort: () => controller.abort() };
}

async function runningIds(): Promise<number[]> {
  const { json } = await service.query('SHOW QUERIES');
  const rows: [number, string][] = json.results[0].series[0].values;
  return rows.filter(([, text]) => text.includes('mean')).map(([id]) => id);
}

test('KILL QUERY ends a running query with the reason in its answer', async () => {
  await start();
  const endless = await startEndless();
  const [id] = await untilDefined('the query', async () => {
    const ids = await runningIds();
    return ids.length > 0 ? ids : undefined;
  });

  expect((await service.query(`KILL QUERY ${id}`)).text).toBe('{"results":[{"statement_id":0}]}\n');

  expect(await endless.read()).toContain('"error":"query interrupted"');
  expect(await runningIds()).toEqual([]);
  expect((await service.query(`KILL QUERY ${id}`)).json.results[0].error).toBe(
    `no such query id: ${id}`,
  );
});

test('a chunk comes while the next is calculated, and its client may go then', async () => {
  await start();
  const controller = new AbortController();
  const q = `SELECT f FROM m; ${ENDLESS}`;
  const response = await fetch(
    `${service.url}/query?${new URLSearchParams({ db: 'd', q, chunked: 'true', chunk_size: '100000000' })}`,
    { signal: controller.signal },
  );
  const { value } = await response.body!.getReader().read();
  expect(Buffer.from(value!).toString('utf8')).toContain('"statement_id":0');
  expect(await runningIds()).toHaveLength(1);

  controller.abort();

  await untilDefined('the end of the query', async () =>
    (await runningIds()).length === 0 ? true : undefined,
  );
});

test('a query whose client goes away ends', async () => {
  await start();
  const endless = await startEndless();
  endless.abort();
  await untilDefined('the end of the query', async () =>
    (await runningIds()).length === 0 ? true : undefined,
  );
});

test('a query that takes too long ends with the setting named', async () => {
  const clock = new TestClock(1_700_000_000_000_000_000n);
  await start({ 'query-timeout': '5s' }, clock);
  const endless = await startEndless();
  clock.advance(5001);
  expect(await endless.read()).toContain('"error":"query-timeout limit exceeded"');
});

test('more queries than allowed are refused', async () => {
  await start({ 'max-concurrent-queries': 1 });
  const endless = await startEndless();
  const { json } = await service.query('SHOW DATABASES');
  expect(json.results[0].error).toBe('max-concurrent-queries limit exceeded(1, 1)');
  endless.abort();
});

test('stopping the service ends queries that do not end by themselves', async () => {
  const clock = new TestClock(1_700_000_000_000_000_000n);
  await start({}, clock);
  const endless = await startEndless();
  const answer = endless.read().catch(() => 'connection closed');
  const stopped = service.stop();
  await untilDefined('the stop', async () => {
    clock.advance(500);
    return Promise.race([
      stopped.then(() => true),
      new Promise<undefined>((r) => setImmediate(() => r(undefined))),
    ]);
  });
  expect(await answer).toMatch(/query engine shutdown|connection closed/);
});

test('work that fails before it has begun gives its place back', async () => {
  await start();
  const clock = new TestClock(0n);
  const counters = {
    queriesActive: 0,
    queriesExecuted: 0,
    queriesFinished: 0,
    queryDurationNs: 0,
    recoveredPanics: 0,
  };
  const queries = new RunningQueries({
    clock,
    counters,
    memories: new QueryMemories({ totalBytes: 0, limitBytes: 0, waitMs: 0, clock }),
    maxConcurrent: 1,
    timeoutMs: 0,
    slow: new SlowQueries(clock, 0),
    slowMs: 0,
    onSlow: () => undefined,
  });
  const description = {
    text: () => 'prometheus remote read',
    database: 'd',
    requires: () => [],
  };
  const context = {
    services: { clock, storage: { source: { snapshot: failing } } } as unknown as StatementServices,
    identity: { kind: 'open' } as const,
    database: 'd',
    retentionPolicy: 'autogen',
    messages: [],
  };

  for (let i = 0; i < 3; i++) {
    const work = queries.run(description, (running) =>
      driverOf({ clock }, () => running).result(
        onSnapshot({ ...context, ...running }, (query) =>
          runRemoteQueries([], { database: 'd', retentionPolicy: 'autogen' }, query),
        ),
      ),
    );
    await expect(work).rejects.toThrow('storage is starting');
  }

  expect(queries.activeCount).toBe(0);
});

function failing(): never {
  throw new Unavailable('storage is starting');
}
