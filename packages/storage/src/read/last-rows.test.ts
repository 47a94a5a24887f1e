// The last row of series, requested repeatedly while they change, compared with all of their rows.
import { eachBatch } from '@tidemark/query';
import type { ScanRequest, SeriesBatch } from '@tidemark/query';
import { columnValue } from '@tidemark/core';
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { viewOf } from '../state/snapshot.ts';
import { SchemaVersions } from '../series/schema-version.ts';
import { ShardStore } from '../state/shard-store.ts';
import { EVERYTHING, testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';
import { LastRows } from './last-rows.ts';
import type { Run } from '../columns/run.ts';

const { signal } = new AbortController();
let storage: TestEngine;

beforeEach(async () => {
  storage = await testEngine();
});
afterEach(() => storage.dispose());

async function rows(request: Partial<ScanRequest> = {}): Promise<unknown[][]> {
  const snapshot = storage.engine.source.snapshot();
  try {
    const batches: SeriesBatch[] = [];
    const whole: ScanRequest = {
      source: { database: 'db', retentionPolicy: 'autogen', measurement: 'm' },
      timeRange: EVERYTHING,
      descending: true,
      groupBy: ['t'],
      fields: [
        { name: 'f', type: 'float' },
        { name: 's', type: 'string' },
      ],
      ...request,
    };
    for await (const batch of eachBatch(snapshot.scan(whole, { signal }))) batches.push(batch);
    return batches.flatMap(({ seriesKey, times, columns }) =>
      Array.from(times, (time, i) => [seriesKey, time, ...columns.map((c) => columnValue(c, i))]),
    );
  } finally {
    snapshot.close();
  }
}

/** The first row of each series. */
function firstRows(all: readonly (readonly unknown[])[]): unknown[] {
  return all.filter(([key], i) => i === 0 || all[i - 1]![0] !== key);
}

type Step =
  | {
      readonly kind: 'write';
      readonly series: string;
      readonly time: number;
      readonly field: string;
    }
  | { readonly kind: 'flush' | 'compact' }
  | { readonly kind: 'delete'; readonly from: number; readonly to: number };

const time = fc.nat(40);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      series: fc.constantFrom('a', 'b'),
      time,
      field: fc.constantFrom('f=1', 'f=2', 's="x"', 's="y",f=3'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('flush' as const, 'compact' as const) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('delete' as const), from: time, to: time }),
  },
);

async function take(one: Step): Promise<void> {
  const { engine } = storage;
  switch (one.kind) {
    case 'write':
      await write(engine, `m,t=${one.series} ${one.field} ${one.time}`);
      return undefined;
    case 'flush':
      return engine.flush();
    case 'compact':
      return engine.compact();
    case 'delete': {
      const timeRange = { start: BigInt(one.from), end: BigInt(one.to) };
      return engine.delete({ database: 'db', timeRange });
    }
  }
}

test('the last row is that of all rows, whatever happened since it was asked for', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.nat(40), async (steps, end) => {
      await storage.engine.delete({ database: 'db' });
      const timeRange = { start: 0n, end: BigInt(end) };
      for (const one of steps) {
        await take(one);
        for (const range of [EVERYTHING, timeRange]) {
          const expected = firstRows(await rows({ timeRange: range }));
          expect(await rows({ limitPerSeries: 1, timeRange: range })).toEqual(expected);
          expect(await rows({ limitPerSeries: 1, timeRange: range })).toEqual(expected);
        }
      }
    }),
    { numRuns: 15 },
  );
});

test('rows are copies, and all are dropped when there are too many values', () => {
  const names = { database: 'db', retentionPolicy: 'autogen' };
  const shards = new ShardStore(new SchemaVersions());
  const view = viewOf(shards.add({ id: 1, policyId: 1, start: 0n, end: 10n, ...names }), []);
  const place = (series: number) => ({
    view,
    measurementId: 0,
    series,
    ordinal: series,
    fields: 'f',
    timeRange: EVERYTHING,
  });
  const row = (value: number): Run => ({
    times: BigInt64Array.of(5n),
    columns: [{ type: 'float', values: Float64Array.of(value), valid: undefined }],
  });
  const kept = new LastRows(1700);
  const first = row(1);
  kept.set(place(0), first);
  first.times[0] = 7n;
  kept.get(place(0))!.times[0] = 8n;

  expect(kept.get(place(0))).toEqual(row(1));
  kept.set(place(1), row(2));
  kept.set(place(2), row(3));
  expect(kept.get(place(1))).toEqual(row(2));
  kept.set(place(3), row(4));
  expect([0, 1, 2, 3].map((series) => kept.get(place(series)))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
