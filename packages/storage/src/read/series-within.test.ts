// The first rows of a group are the same when series are left out that cannot have them, and few
// series are read then.
import { columnValue } from '@tidemark/core';
import { parseQuery } from '@tidemark/influxql';
import { eachBatch, executeSelect, zeroCounters } from '@tidemark/query';
import type { ScanRequest } from '@tidemark/query';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { SHARED_CHUNK_ROWS } from '../segment/shared-page.ts';
import { numbers, ROWS_OF_F, queryContext, testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';

const SERIES = 1300;

function timesOf(
  { engine }: TestEngine,
  request: ScanRequest,
): { readonly times: readonly bigint[]; readonly seriesVisited: number } {
  const snapshot = engine.source.snapshot();
  const counters = zeroCounters();
  const times: bigint[] = [];
  try {
    const { signal } = new AbortController();
    for (const batch of snapshot.scan(request, { signal, counters })) {
      if (batch !== undefined && 'times' in batch) times.push(...batch.times);
    }
  } finally {
    snapshot.close();
  }
  const direction = request.descending ? -1 : 1;
  times.sort((a, b) => (a < b ? -direction : Number(a > b) * direction));
  return { times, seriesVisited: counters.seriesVisited };
}

test('the first rows are found wherever they are', async () => {
  const data = fc.record({
    seed: fc.integer({ min: 1, max: 1e9 }),
    // Number of different times: with few of them, rows are tied.
    times: fc.constantFrom(20, 3000, 1_000_000),
    // Rows of each write, and whether it is flushed.
    writes: fc.array(fc.tuple(fc.constantFrom(5, 900, 2500), fc.boolean()), { maxLength: 5 }),
    longSeries: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(data, async ({ seed, times, writes, longSeries }) => {
      const next = numbers(seed);
      const subject = await testEngine();
      try {
        for (const [rows, isFlushed] of [[SERIES, false] as const, ...writes]) {
          const lines = Array.from({ length: rows }, (_, i) => {
            const series = rows === SERIES ? i : next() % SERIES;
            // In many series, times ascend with their number, as those of new series do.
            const time = Math.floor((series / SERIES) * times * 0.5) + (next() % times);
            return `m,s=${series} f=${next() % 9} ${time}`;
          });
          if (longSeries) {
            for (let i = 0; i < 200; i++) lines.push(`m,s=${next() % 3} f=1 ${next() % times}`);
          }
          await write(subject.engine, lines.join('\n'));
          if (isFlushed) await subject.engine.flush();
        }
        for (const descending of [false, true]) {
          const where = { kind: 'field', field: 'f', operator: '>', value: 4 } as const;
          for (const request of [ROWS_OF_F, { ...ROWS_OF_F, where }]) {
            const all = timesOf(subject, { ...request, descending }).times;
            for (const limit of [1, 7, 60]) {
              const limits = { limitPerSeries: limit, limitPerGroup: limit };
              const found = timesOf(subject, { ...request, descending, ...limits }).times;
              // Rows of the time of the last one belong to them.
              const last = all[Math.min(limit, all.length) - 1];
              const isNeeded = (time: bigint): boolean =>
                last !== undefined && (descending ? time >= last : time <= last);
              expect(found.filter(isNeeded)).toEqual(all.filter(isNeeded));
            }
          }
        }
      } finally {
        await subject.dispose();
      }
    }),
    { numRuns: 8 },
  );
});

test.each([
  [false, 0],
  [true, 0],
  // The first row is that of the first series of a shared chunk.
  [true, 10 * SHARED_CHUNK_ROWS],
])('few series are read (flushed: %s, from %s)', async (isFlushed, from) => {
  const subject = await testEngine();
  try {
    const count = 20_000;
    const lines = Array.from({ length: count }, (_, i) => {
      return `m,s=${(i * 7919) % count} f=1 ${(i - from + count) % count}`;
    });
    await write(subject.engine, lines.join('\n'));
    if (isFlushed) await subject.engine.flush();
    const limits = { limitPerSeries: 10, limitPerGroup: 10 };

    const { times, seriesVisited } = timesOf(subject, { ...ROWS_OF_F, ...limits });

    expect(times.slice(0, 10)).toEqual(Array.from({ length: 10 }, (_, i) => BigInt(i)));
    expect(seriesVisited).toBeLessThan(2000);
  } finally {
    await subject.dispose();
  }
});

test.each([false, true])(
  'series behind the ties that were sent are not read (flushed: %s)',
  async (isFlushed) => {
    const subject = await testEngine();
    try {
      const lines = Array.from({ length: 300 }, (_, i) => `m,s=${1000 + i} f=1 500`);
      // Older rows of another measurement, in the same segment.
      await write(subject.engine, [...lines, 'other f=1 1'].join('\n'));
      if (isFlushed) await subject.engine.flush();
      const limits = { limitPerSeries: 10, limitPerGroup: 10, tieTags: ['s'] };

      const { times, seriesVisited } = timesOf(subject, { ...ROWS_OF_F, ...limits });

      expect(times).toHaveLength(10);
      expect(seriesVisited).toBeLessThanOrEqual(11);
    } finally {
      await subject.dispose();
    }
  },
);

test.each([2, 20, 100])(
  'rows of one time come in the order that all series give them (%s series)',
  async (tied) => {
    const subject = await testEngine();
    try {
      const next = numbers(tied);
      const lines = Array.from({ length: SERIES }, (_, i) => {
        const time = i % Math.floor(SERIES / tied) === 0 ? 500 : 1000 + (next() % 100_000);
        return `m,s=${i} f=${i} ${next() % 2 === 0 ? time : 1000 - time}`;
      });
      await write(subject.engine, lines.join('\n'));
      for (const clauses of ['', ' ORDER BY time DESC', ' WHERE time >= 500', ' WHERE f > 10']) {
        const all = await valuesOf(subject, `SELECT f FROM m${clauses}`);
        for (const limit of [1, 3, 40]) {
          const limited = `SELECT f FROM m${clauses} LIMIT ${limit}`;
          expect(await valuesOf(subject, limited)).toEqual(all.slice(0, limit));
        }
      }
    } finally {
      await subject.dispose();
    }
  },
);

/** The values of the second column of an answer of one series. */
async function valuesOf({ engine }: TestEngine, text: string): Promise<unknown[]> {
  const [select] = parseQuery(text).query.statements;
  if (select?.kind !== 'select') throw new Error(text);
  const snapshot = engine.source.snapshot();
  const values: unknown[] = [];
  try {
    const answer = executeSelect(select, queryContext(engine, snapshot));
    for await (const { rowCount, values: columns } of eachBatch(answer)) {
      const column = columns[1]!;
      if (column.type === 'time' || column.type === 'mixed') throw new Error(text);
      for (let row = 0; row < rowCount; row++) values.push(columnValue(column, row));
    }
  } finally {
    snapshot.close();
  }
  return values;
}
