// Which writes the log of points keeps, and which of them tasks receive.
import type { LogRecord, SharedLog } from '@tidemark/cluster';
import { MemoryCoordinator, MemoryServer } from '@tidemark/cluster/testing';
import { deferred, systemClock } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { PointBatchBuilder } from '@tidemark/runtime';
import type { PointBatch, PointInput } from '@tidemark/runtime';
import { eventually, makeDirectory, removeDirectory, TestClock } from '@tidemark/testkit';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { PointRouter } from '../ingest/point-router.ts';
import { THIS_BUILD } from './build.ts';
import { decodePoints, encodePoints } from './point-body.ts';
import { PointLog } from './point-log.ts';
import { UnreadablePoints } from './unreadable-points.ts';

let directory: string;

beforeEach(async () => {
  directory = await makeDirectory();
});

afterEach(() => removeDirectory(directory));

function openLog(
  log: SharedLog,
  {
    clock = systemClock(),
    level = 2,
    signal = new AbortController().signal,
  }: { readonly clock?: Clock; readonly level?: number; readonly signal?: AbortSignal } = {},
): PointLog {
  return new PointLog({
    log,
    clock,
    logger: () => undefined,
    build: THIS_BUILD,
    level: () => level,
    unreadable: new UnreadablePoints(directory, () => undefined),
    isLeading: () => true,
    signal,
  });
}

/** A write of lines. */
const lines = (body: string, database = 'd'): Parameters<PointLog['append']>[0] => ({
  body: Buffer.from(body),
  database,
  retentionPolicy: 'r',
  precision: 'ns',
  now: 0n,
});

/** The names of the rows of a batch. */
function namesOf({ series, seriesOfRow }: PointBatch): readonly (string | undefined)[] {
  return Array.from(seriesOfRow, (index) => series.at(index)?.name);
}

test('a write waits for tasks that keep up, and no longer than a moment for others', async () => {
  const clock = new TestClock();
  const router = new PointRouter(0);
  const gate = deferred();
  const given: string[] = [];
  const isReady = { slow: false, fast: true };
  for (const db of ['slow', 'fast'] as const)
    router.add([{ db, rp: 'r' }], {
      error: undefined,
      ready: () => (isReady[db] ? undefined : gate.promise),
      processed: () => undefined,
      push: () => void given.push(db),
    });
  const points = openLog(logInMemory(), { clock });
  points.open((batch) => router.dispatch(batch));
  const write = (db: string): Promise<void> => points.append(lines('m v=1 1', db), batchFor(db));

  let isSlowAnswered = false;
  const slow = write('slow').then(() => (isSlowAnswered = true));
  await write('fast');
  expect({ isSlowAnswered, given }).toEqual({ isSlowAnswered: false, given: ['fast'] });

  await eventually('its wait', async () => {
    clock.advance(1000);
    return isSlowAnswered ? true : undefined;
  });
  expect(given).toEqual(['fast']);
  gate.resolve();
  await slow;
  await points.close();
});

test('a body that is longer than a message is several records, each with whole lines', async () => {
  const log = logInMemory(60);
  const points = openLog(log);
  const given: PointBatch[] = [];
  points.open(async (batch) => void given.push(batch));

  await points.append(lines(Array.from({ length: 9 }, (_, i) => `m${i} v=1 1`).join('\n')));
  await points.appendPoints({
    database: 'd',
    retentionPolicy: 'r',
    now: 0n,
    points: ['a', 'b\\', '#c'].map((name) => ({ name, tags: [], fields: [['v', 1]], time: 1n })),
  });

  expect((await log.ends()).last).toBeGreaterThan(3);
  expect(given.flatMap(namesOf)).toEqual([
    ...Array.from({ length: 9 }, (_, i) => `m${i}`),
    'a',
    'b\\',
    '#c',
  ]);
  await expect(points.append(lines(`${'m'.repeat(200)} v=1 1`))).rejects.toThrow('too long');
  await points.close();
});

test('a task that reads a write again gets its points, although others have taken them over', async () => {
  const points = openLog(logInMemory());
  const gate = deferred();
  const taken: PointBatch[] = [];
  points.open((batch) => {
    taken.push(structuredClone(batch, { transfer: [batch.times.buffer as ArrayBuffer] }));
    return gate.promise;
  });
  const write = points.append(lines('m v=1 1'), batchFor('d'));
  await eventually('the points', async () => (taken.length > 0 ? true : undefined));

  const again: PointBatch[] = [];
  const { signal } = new AbortController();
  await points.again({
    first: 1,
    through: 1,
    signal,
    ready: () => undefined,
    give: (batch) => void again.push(batch),
  });

  expect(again.map(({ times }) => [...times])).toEqual([[1n]]);
  expect(taken.map(({ times }) => [...times])).toEqual([[1n]]);
  gate.resolve();
  await write;
  await points.close();
});

test('nothing waits for a purge but the end, which ends it', async () => {
  const purges: number[] = [];
  const log = {
    ...logInMemory(),
    purge: (before: number, signal: AbortSignal) => {
      purges.push(before);
      return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    },
  } as SharedLog;
  const points = openLog(log);

  points.forget(5);
  points.forget(7);
  await points.append(lines('m v=1 1'));
  await points.close();
  await points.close();

  expect(purges).toEqual([6]);
});

test('an unreadable record is set aside, and later ones are delivered', async () => {
  const log = logInMemory();
  const label = (more: object = {}): string =>
    JSON.stringify({ id: 'i', db: 'd', rp: 'r', precision: 'ns', now: '1', ...more });
  const { signal } = new AbortController();
  const append = (body: string | Uint8Array, options: { label: string; level?: number }) =>
    log.append(Buffer.from(body), { signal, ...options });
  await append('a v=1 1\nb\\ v=1 1', { label: label() });
  await append('m v=1 1', { label: 'damaged' });
  await append('m v=1 1', { label: label({ now: 'soon' }) });
  await append('{"series":[["m"]],"points":[[1,"1",["v",1]]]}', { label: label(), level: 2 });
  await append('of a newer version', { label: label(), level: 3 });
  const good = encodePoints([{ name: 'c', tags: [], fields: [['v', 1]], time: 1n }]);
  await append(good, { label: label(), level: 2 });
  const points = openLog(log);
  const given: (string | undefined)[] = [];
  points.open(async (batch) => void given.push(...namesOf(batch)));

  await eventually('the last one', async () => (given.includes('c') ? true : undefined));
  expect(given).toEqual(['a', 'c']);
  expect(points.unreadableCount).toBe(5);
  const names = await eventually('files', async () => {
    const found = readdirSync(join(directory, 'unreadable-points'));
    return found.length === 5 ? found.sort() : undefined;
  });
  expect(names).toEqual([1, 2, 3, 4, 5].map((number) => `${number}.record`));
  const text = readFileSync(join(directory, 'unreadable-points', '5.record'), 'utf8');
  expect(text).toContain('"level":3');
  expect(text).toContain('\nof a newer version');
  await points.close();
});

test('while an instance knows lines only, records are lines, and points that these cannot carry are left out', async () => {
  const log = logInMemory();
  const points = openLog(log, { level: 1 });
  const given: (string | undefined)[] = [];
  points.open(async (batch) => void given.push(...namesOf(batch)));

  const left = await points.appendPoints({
    database: 'd',
    retentionPolicy: 'r',
    now: 0n,
    points: ['a', 'b\\', 'c d'].map((name) => ({ name, tags: [], fields: [['v', 1]], time: 1n })),
  });

  expect([left, given]).toEqual([1, ['a', 'c d']]);
  await points.close();
});

describe('points of loopback nodes', () => {
  const cause = { unit: 'u', record: 1, row: 0 };
  const points = Array.from({ length: 300 }, (_, i): PointInput => ({
    name: `m${i}`,
    tags: [],
    fields: [['v', 1]],
    time: 1n,
  }));
  const looped = { database: 'd', retentionPolicy: 'r', points, cause };

  function shared(server: MemoryServer, clock = systemClock()): SharedLog {
    const { signal } = new AbortController();
    const network = { isCut: () => false, delayMs: () => 1, isAnswerLost: () => false };
    return new MemoryCoordinator({ server, network, clock, signal }).points;
  }

  const namesIn = (records: readonly LogRecord[]): readonly (string | undefined)[] =>
    records.flatMap(({ bytes }) =>
      bytes.length === 0 ? [] : decodePoints(bytes).map(({ name }) => name),
    );
  const all = points.map(({ name }) => name);

  test('are there once when a leader has stopped between the records of a row', async () => {
    const end = new AbortController();
    const records: LogRecord[] = [];
    const server = new MemoryServer((record) => {
      records.push(record);
      if (record.bytes.length > 0) end.abort(new Error('the term has ended'));
    });
    const one = openLog(shared(server), { signal: end.signal });
    one.loop(looped);
    await expect(one.loopedKept()).rejects.toThrow('the term has ended');
    expect(namesIn(records).length).toBeGreaterThan(0);
    expect(namesIn(records).length).toBeLessThan(points.length);

    const two = openLog(shared(server));
    await two.begin();
    two.loop(looped);
    await two.loopedKept();

    expect(namesIn(records)).toEqual(all);
    await two.close();
  });

  test('are there once when the append of the last leader comes behind the first of the next', async () => {
    const held = deferred();
    const sent = deferred();
    const records: LogRecord[] = [];
    const server = new MemoryServer((record) => void records.push(record));
    const clock = systemClock();
    // Requests sleep on their way to the server and back. The third one is held back: the first
    // appends a record without points, the second asks for the ends.
    let sleeps = 0;
    const slow: Clock = {
      ...clock,
      sleep: async (ms, signal) => {
        if (++sleeps === 5) {
          sent.resolve();
          await held.promise;
        }
        await clock.sleep(ms, signal);
      },
    };
    const one = openLog(shared(server, slow));
    one.loop({ ...looped, points: points.slice(0, 5) });
    await sent.promise;

    const two = openLog(shared(server));
    await two.begin();
    two.loop({ ...looped, points: points.slice(0, 5) });
    await two.loopedKept();
    held.resolve();
    await one.loopedKept();

    expect(namesIn(records)).toEqual(all.slice(0, 5));
    await one.close();
    await two.close();
  });
});

function batchFor(database: string): PointBatch {
  const builder = new PointBatchBuilder(database, 'r');
  builder.add({ name: 'm', tags: [], fields: [['v', 1]], time: 1n });
  return builder.build();
}

const LABEL_BYTES = JSON.stringify({ db: 'd', rp: 'r', precision: 'ns', now: '0' }).length;

/** Records in the order of their appends, each told when it is there. */
function logInMemory(recordBytesMax = 1_000_000): SharedLog {
  const records: LogRecord[] = [];
  let changed = deferred();
  const log = {
    // With a label beside it.
    bytesMax: recordBytesMax + LABEL_BYTES,
    ends: () => Promise.resolve({ first: 1, last: records.length, bytes: 0 }),
    append: (
      bytes: Uint8Array,
      { label = '', level = 1 }: { readonly label?: string; readonly level?: number },
    ) => {
      records.push({ sequence: records.length + 1, bytes, label, level });
      changed.resolve();
      changed = deferred();
      return Promise.resolve(records.length);
    },
    async *read({ first, signal }: { readonly first: number; readonly signal: AbortSignal }) {
      const stopped = new Promise<void>((resolve) =>
        signal.addEventListener('abort', () => resolve(), { once: true }),
      );
      for (let next = first; !signal.aborted;) {
        const record = records[next - 1];
        if (record === undefined) await Promise.race([changed.promise, stopped]);
        else {
          next++;
          yield record;
        }
      }
    },
  };
  return log as unknown as SharedLog;
}
