// The same requests have the same results wherever the rows are: memtable, segments, compacted,
// after a restart.
import { readdirSync } from 'node:fs';

import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';

import {
  aggregateRows,
  EVERYTHING,
  scanRows,
  schemaBatches,
  testEngine,
  write,
} from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';
import { eachBatch } from '@tidemark/query';

let storage: TestEngine;

beforeEach(async () => {
  storage = await testEngine();
});

afterEach(async () => {
  await storage.dispose();
});

const FIELDS = [
  ['f', 'float'],
  ['i', 'integer'],
  ['s', 'string'],
  ['b', 'boolean'],
] as const;

test('rows of memtable and segments are merged field by field, the last write wins', async () => {
  await write(storage.engine, 'm,t=a f=1,i=1i,s="x",b=true 1\nm,t=a f=2 2\n');
  await storage.engine.flush();
  await write(storage.engine, 'm,t=a f=9 1\nm,t=a i=3i 3\n');
  await storage.engine.flush();
  await write(storage.engine, 'm,t=a s="y" 2\n');

  const rows = [
    ['m,t=a', 1n, 9, 1n, 'x', true],
    ['m,t=a', 2n, 2, null, 'y', null],
    ['m,t=a', 3n, null, 3n, null, null],
  ];
  expect(await scanRows(storage.engine, 'm', FIELDS)).toEqual(rows);
  await storage.engine.flush();
  await storage.engine.compact();
  expect(await scanRows(storage.engine, 'm', FIELDS)).toEqual(rows);
  await storage.reopen('crash');
  expect(await scanRows(storage.engine, 'm', FIELDS)).toEqual(rows);
});

test('a flush empties the log and a restart reads segments only', async () => {
  await write(storage.engine, 'm,t=a f=1 1\n');
  await storage.engine.flush();

  expect(readdirSync(`${storage.directory}/wal`)).toEqual(['FILES']);
  await storage.reopen('crash');
  expect(await scanRows(storage.engine, 'm', [['f', 'float']])).toEqual([['m,t=a', 1n, 1]]);
});

test('an engine that has flushed before its first write is opened again', async () => {
  await storage.engine.flush();
  await storage.reopen('crash');
  await write(storage.engine, 'm,t=a f=1 1\n');
  await storage.reopen('crash');
  expect(await scanRows(storage.engine, 'm', [['f', 'float']])).toEqual([['m,t=a', 1n, 1]]);
});

test('whole chunks are answered by their statistics', async () => {
  const lines = Array.from({ length: 100 }, (_, i) => `m f=${i},i=${i}i ${i}\n`).join('');
  await write(storage.engine, lines);
  const before = await aggregateAll(storage);
  await storage.engine.flush();

  expect(await aggregateAll(storage)).toEqual(before);
  const snapshot = storage.engine.source.snapshot();
  const counters = {
    seriesVisited: 0,
    chunksRead: 0,
    chunksSkipped: 0,
    chunksAnsweredByStatistics: 0,
    rowsRead: 0,
    bytesRead: 0,
    readerMs: 0,
  };
  const batches = snapshot.aggregate(
    {
      sources: [{ database: 'db', retentionPolicy: 'autogen', measurement: 'm' }],
      timeRange: EVERYTHING,
      descending: false,
      groupBy: [],
      aggregates: [{ field: 'f', type: 'float', functions: ['mean'] }],
    },
    { signal: new AbortController().signal, counters },
  );
  for await (const batch of eachBatch(batches)) expect(batch.windowStarts.length).toBe(1);
  snapshot.close();
  expect(counters).toMatchObject({ chunksRead: 0, chunksAnsweredByStatistics: 1 });
});

function aggregateAll({ engine }: TestEngine): Promise<unknown> {
  const functions = ['count', 'sum', 'mean', 'min', 'max', 'first', 'last', 'spread'] as const;
  return aggregateRows(engine, 'm', [
    { field: 'f', type: 'float', functions },
    { field: 'i', type: 'integer', functions },
  ]);
}

test('deletes cover segments, frozen and new rows, and compaction removes the bytes', async () => {
  await write(storage.engine, 'm,t=a f=1 1\nm,t=a f=2 2\nm,t=b f=3 1\n');
  await storage.engine.flush();
  await write(storage.engine, 'm,t=b f=4 2\n');
  await storage.engine.delete({
    database: 'db',
    where: { kind: 'tag', key: 't', operator: '=', value: 'b' },
  });
  await write(storage.engine, 'm,t=b f=5 1\n');

  const rows = [
    ['m,t=a', 1n, 1],
    ['m,t=a', 2n, 2],
    ['m,t=b', 1n, 5],
  ];
  expect(await scanRows(storage.engine, 'm', [['f', 'float']])).toEqual(rows);
  await storage.reopen('crash');
  expect(await scanRows(storage.engine, 'm', [['f', 'float']])).toEqual(rows);
  await storage.engine.flush();
  expect((await storage.engine.statistics()).counters).toMatchObject({
    tombstones: 1,
    tombstonesRemoved: 0,
  });
  await storage.engine.compact();
  expect((await storage.engine.statistics()).counters).toMatchObject({
    tombstones: 0,
    tombstonesRemoved: 1,
  });
  expect(await scanRows(storage.engine, 'm', [['f', 'float']])).toEqual(rows);
  await storage.reopen();
  expect(await scanRows(storage.engine, 'm', [['f', 'float']])).toEqual(rows);
});

test('a series whose rows are all deleted leaves the schema, also from segments', async () => {
  await write(storage.engine, 'm,t=a f=1 1\nm,t=a f=2 2\nm,t=b f=3 1\n');
  await storage.engine.flush();
  await storage.engine.delete({
    database: 'db',
    where: { kind: 'tag', key: 't', operator: '=', value: 'a' },
    timeRange: { start: 1n, end: 2n },
  });
  const keys = [{ kind: 'series', measurement: 'm', keys: ['m,t=b'] }];

  const request = { kind: 'series', filter: { database: 'db' } } as const;
  expect(await schemaBatches(storage.engine, request)).toEqual(keys);
  await storage.reopen('crash');
  expect(await schemaBatches(storage.engine, request)).toEqual(keys);
});

test('dropping a measurement frees its types in segments too', async () => {
  await write(storage.engine, 'm f=1 1\nn f=1 1\n');
  await storage.engine.flush();
  await storage.engine.dropMeasurement('db', 'm');
  await write(storage.engine, 'm f=2i 1\n');
  await storage.engine.flush();

  await storage.reopen('crash');
  expect(await scanRows(storage.engine, 'm', [['f', 'integer']])).toEqual([['m', 1n, 2n]]);
  await storage.engine.compact();
  expect(await scanRows(storage.engine, 'm', [['f', 'integer']])).toEqual([['m', 1n, 2n]]);
});

test('a snapshot keeps its rows while they are overwritten, flushed, compacted and dropped', async () => {
  await write(storage.engine, 'm f=1 1\n');
  await storage.engine.flush();
  await write(storage.engine, 'm f=2 2\n');
  const snapshot = storage.engine.source.snapshot();

  await write(storage.engine, 'm f=9 1\nm f=9 3\n');
  await storage.engine.flush();
  await storage.engine.compact();
  await storage.engine.dropPolicy(1);

  const times: bigint[] = [];
  const batches = snapshot.scan(
    {
      source: { database: 'db', retentionPolicy: 'autogen', measurement: 'm' },
      timeRange: EVERYTHING,
      descending: false,
      groupBy: 'all',
      fields: [{ name: 'f', type: 'float' }],
    },
    { signal: new AbortController().signal },
  );
  for await (const batch of eachBatch(batches)) times.push(...batch.times);
  expect(times).toEqual([1n, 2n]);
  snapshot.close();
  expect((await storage.engine.statistics()).counters['filesWaitingForSnapshots']).toBe(0);
  expect(readdirSync(`${storage.directory}/shards`)).toEqual([]);
});

type Step =
  | { readonly kind: 'write'; readonly rows: readonly (readonly [number, number, number])[] }
  | { readonly kind: 'flush' | 'compact' | 'reopen' | 'crash' }
  | {
      readonly kind: 'delete';
      readonly series: number;
      readonly from: number;
      readonly to: number;
    };

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      rows: fc.array(fc.tuple(fc.nat(3), fc.nat(200), fc.nat(9)), { maxLength: 60 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('flush', 'compact', 'reopen', 'crash') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('delete' as const),
      series: fc.nat(3),
      // Often all rows of a series, so that indexes are rebuilt on the way.
      from: fc.oneof(fc.constant(0), fc.nat(200)),
      to: fc.oneof(fc.constant(200), fc.nat(200)),
    }),
  },
);

test('any order of writes, flushes, compactions, deletes and restarts equals a plain map', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 25 }), async (plan) => {
      const own = await testEngine({ deletedSeriesMin: 1 });
      try {
        const model = new Map<string, number>();
        for (const step of plan) await applyStep(own, model, step);
        const rows = await scanRows(own.engine, 'm', [['f', 'float']]);
        const expected = [...model].map(([key, value]) => {
          const [series, time] = key.split(' ');
          return [`m,t=${series}`, BigInt(time!), value] as const;
        });
        expected.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : Number(a[1] - b[1])));
        expect(rows).toEqual(expected);
      } finally {
        await own.dispose();
      }
    }),
    { numRuns: 20 },
  );
});

async function applyStep(own: TestEngine, model: Map<string, number>, step: Step): Promise<void> {
  switch (step.kind) {
    case 'write': {
      const lines = step.rows.map(([series, time, value]) => {
        model.set(`${series} ${time}`, value);
        return `m,t=${series} f=${value} ${time}\n`;
      });
      await write(own.engine, lines.join(''));
      break;
    }
    case 'delete': {
      const { series, from, to } = step;
      for (const key of model.keys()) {
        const [id, time] = key.split(' ').map(Number);
        if (id === series && time! >= from && time! <= to) model.delete(key);
      }
      await own.engine.delete({
        database: 'db',
        where: { kind: 'tag', key: 't', operator: '=', value: String(series) },
        timeRange: { start: BigInt(from), end: BigInt(to) },
      });
      break;
    }
    case 'flush':
      await own.engine.flush();
      break;
    case 'compact':
      await own.engine.compact();
      break;
    case 'reopen':
      await own.reopen('close');
      break;
    case 'crash':
      await own.reopen('crash');
      break;
  }
}

test('limits on windows and rows give the same answers from memory, segments and statistics', async () => {
  const lines = Array.from(
    { length: 200 },
    (_, i) => `m,t=${i % 3} f=${i},i=${i}i ${i * 7}\n`,
  ).join('');
  await write(storage.engine, lines);
  const ask = async (): Promise<unknown[]> => {
    const answers: unknown[] = [];
    for (const descending of [false, true]) {
      answers.push(
        await aggregateRows(
          storage.engine,
          'm',
          [{ field: 'i', type: 'integer', functions: ['max', 'sum', 'first'] }],
          { descending, limitWindows: 5, window: { everyNanos: 10n, offsetNanos: 3n } },
        ),
        await aggregateRows(
          storage.engine,
          'm',
          [{ field: 'f', type: 'float', functions: ['count'] }],
          {
            descending,
            limitWindows: 2,
            groupBy: ['t'],
            window: { everyNanos: 500n, offsetNanos: 0n },
          },
        ),
        await scanRows(storage.engine, 'm', [['f', 'float']], { descending, limitPerSeries: 1 }),
      );
    }
    return answers;
  };
  const before = await ask();

  expect(before[3]).toMatchObject([
    { start: 1393n, values: [[199n, 1393n], [199n], [199n, 1393n]] },
    { start: 1383n },
    { start: 1373n },
    { start: 1363n },
    { start: 1353n },
  ]);
  expect(before[5]).toEqual([
    ['m,t=2', 1379n, 197],
    ['m,t=1', 1393n, 199],
    ['m,t=0', 1386n, 198],
  ]);
  await storage.engine.flush();
  expect(await ask()).toEqual(before);
});

test('a limit on windows finds the rows that a delete left in the memtable', async () => {
  await write(storage.engine, 'm i=1i 100\nm i=2i 200\nm i=3i 300\n');
  await storage.engine.delete({ database: 'db', timeRange: { start: 300n, end: 300n } });

  const rows = await aggregateRows(
    storage.engine,
    'm',
    [{ field: 'i', type: 'integer', functions: ['sum'] }],
    { descending: true, limitWindows: 1, window: { everyNanos: 10n, offsetNanos: 0n } },
  );

  expect(rows).toEqual([{ tags: {}, start: 200n, values: [[2n]] }]);
});

test('an aggregation over its memory limit ends with an error that names the setting', async () => {
  const lines = Array.from({ length: 100 }, (_, i) => `m f=${i} ${i * 10}\n`).join('');
  await write(storage.engine, lines);
  const snapshot = storage.engine.source.snapshot();
  const batches = snapshot.aggregate(
    {
      sources: [{ database: 'db', retentionPolicy: 'autogen', measurement: 'm' }],
      timeRange: EVERYTHING,
      descending: false,
      groupBy: [],
      aggregates: [{ field: 'f', type: 'float', functions: ['max'] }],
      window: { everyNanos: 1n, offsetNanos: 0n },
    },
    { signal: new AbortController().signal, memoryLimitBytes: 10_000 },
  );

  await expect(eachBatch(batches).next()).rejects.toThrow('coordinator.query-memory-limit');
  snapshot.close();
});

test('field types hold in all shards of a measurement when asked', async () => {
  const own = await testEngine({ ingest: { fieldTypes: 'measurement' } });
  await write(own.engine, 'm f=1 1\n');

  const outcome = await write(own.engine, 'm f=2i 1000000000000000\n');

  expect(outcome.dropped?.reason).toContain('is type int64, already exists as type float');
  expect((await write(storage.engine, 'm f=1 1\n')).dropped).toBeUndefined();
  expect((await write(storage.engine, 'm f=2i 1000000000000000\n')).dropped).toBeUndefined();
  await own.dispose();
});
