// Shards that cannot have a part in an answer are not read.
import { NANOS_PER_WEEK } from '@tidemark/core';
import { eachBatch, zeroCounters } from '@tidemark/query';
import type { AggregateFunction, SourceCounters } from '@tidemark/query';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { EVERYTHING, testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';

const WEEKS = 5;
/** Enough for statistics. */
const ROWS = 40;

let subject: TestEngine;

beforeAll(async () => {
  subject = await testEngine();
  for (let week = 0; week < WEEKS; week++) {
    const start = BigInt(week) * NANOS_PER_WEEK;
    const lines = Array.from({ length: ROWS }, (_, row) => {
      // In the newest shard, one field is missing.
      const field = week === WEEKS - 1 ? 'other' : 'f';
      return ['a', 'b'].map((s) => `m,s=${s} ${field}=${100 * week + row} ${start + BigInt(row)}`);
    });
    await write(subject.engine, lines.flat().join('\n'));
    if (week === 1) await write(subject.engine, `rare,s=a f=1 ${start}`);
  }
  await subject.engine.flush();
});

afterAll(() => subject.dispose());

type Asked = {
  readonly functions: readonly AggregateFunction[];
  readonly fields?: readonly string[];
  readonly measurement?: string;
  readonly descending?: boolean;
};

async function aggregates({
  functions,
  fields = ['f'],
  measurement = 'm',
  descending = false,
}: Asked): Promise<{ readonly values: readonly unknown[]; readonly counters: SourceCounters }> {
  const snapshot = subject.engine.source.snapshot();
  const counters = zeroCounters();
  const values: unknown[] = [];
  try {
    const request = {
      sources: [{ database: 'db', retentionPolicy: 'autogen', measurement }],
      timeRange: EVERYTHING,
      descending,
      groupBy: [],
      aggregates: fields.map((field) => ({ field, type: 'float' as const, functions })),
    };
    const { signal } = new AbortController();
    for await (const batch of eachBatch(snapshot.aggregate(request, { signal, counters }))) {
      for (const { values: column } of batch.fields.flat()) {
        values.push('values' in column ? column.values[0] : undefined);
      }
    }
  } finally {
    snapshot.close();
  }
  return { values, counters };
}

test.each([false, true])(
  'last and first read the shard at their end that has values (descending: %s)',
  async (descending) => {
    const last = await aggregates({ functions: ['last'], descending });
    const first = await aggregates({ functions: ['first'], descending });

    expect(last.values).toEqual([100 * (WEEKS - 2) + ROWS - 1]);
    expect(first.values).toEqual([0]);
    // The newest shard has no values of the field, but chunks of its series.
    expect(last.counters.chunksAnsweredByStatistics).toBe(4);
    expect(first.counters.chunksAnsweredByStatistics).toBe(2);
  },
);

test('last of several fields goes on until each has a value', async () => {
  const { values } = await aggregates({ functions: ['last'], fields: ['other', 'f'] });

  expect(values).toEqual([100 * (WEEKS - 1) + ROWS - 1, 100 * (WEEKS - 2) + ROWS - 1]);
});

test('both ends, and other functions, read all shards', async () => {
  const both = await aggregates({ functions: ['first', 'last'] });
  const count = await aggregates({ functions: ['count'] });

  expect(both.values).toEqual([0, 100 * (WEEKS - 2) + ROWS - 1]);
  expect(count.values).toEqual([BigInt(2 * ROWS * (WEEKS - 1))]);
  expect(count.counters.chunksAnsweredByStatistics).toBe(2 * WEEKS);
});

test('shards without the measurement are not read', async () => {
  const { values, counters } = await aggregates({ functions: ['last'], measurement: 'rare' });

  expect(values).toEqual([1]);
  expect(counters.chunksSkipped).toBe(0);
  expect(counters.rowsRead).toBeLessThanOrEqual(1);
});
