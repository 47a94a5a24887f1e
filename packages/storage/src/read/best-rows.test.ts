// Selectors answer the same when storage finds the best rows, wherever rows are, and whatever they
// have in common; and it reads rows only where that depends on how series are merged.
import { columnValue } from '@tidemark/core';
import { parseQuery } from '@tidemark/influxql';
import { eachBatch, executeSelect, zeroCounters } from '@tidemark/query';
import type { ResultColumn, ScanRequest, SourceCounters, SourceSnapshot } from '@tidemark/query';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { MAX_CHUNK_ROWS } from '../segment/format.ts';
import { numbers, queryContext, testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';

type Answer = {
  readonly series: readonly unknown[];
  /** Of scans. */
  readonly rowsSent: number;
  readonly counters: SourceCounters;
};

async function answerOf({ engine }: TestEngine, text: string, ranksRows: boolean): Promise<Answer> {
  const [select] = parseQuery(text).query.statements;
  if (select?.kind !== 'select') throw new Error(text);
  const { source } = engine;
  const own = source.snapshot();
  let rowsSent = 0;
  const snapshot: SourceSnapshot = {
    schema: (request, options) => own.schema(request, options),
    names: (filter, options) => own.names(filter, options),
    aggregate: (request, options) => own.aggregate(request, options),
    scan: function* (request: ScanRequest, options) {
      for (const batch of own.scan(request, options)) {
        if (batch !== undefined && 'times' in batch) rowsSent += batch.times.length;
        yield batch;
      }
    },
    close: () => own.close(),
  };
  const counters = zeroCounters();
  const capabilities = { ...source.capabilities, ranksRows };
  const context = queryContext(engine, snapshot, { capabilities, counters });
  const series: { key: string; rows: unknown[] }[] = [];
  try {
    for await (const { tags, columns, rowCount, values } of eachBatch(
      executeSelect(select, context),
    )) {
      const rows = Array.from({ length: rowCount }, (_, row) =>
        values.map((column) => cellOf(column, row)),
      );
      const key = JSON.stringify([[...(tags ?? [])], columns]);
      if (series.at(-1)?.key === key) series.at(-1)?.rows.push(...rows);
      else series.push({ key, rows });
    }
  } finally {
    snapshot.close();
  }
  return { series, rowsSent, counters };
}

function cellOf(column: ResultColumn, row: number): unknown {
  if (column.type === 'time' || column.type === 'mixed') return column.values[row];
  return columnValue(column, row);
}

const STATEMENTS = [
  'SELECT top(f, 3) FROM m',
  'SELECT bottom(f, 2), i FROM m',
  'SELECT top(i, t, 2) FROM m',
  'SELECT bottom(i, t, u, 3), f FROM m',
  'SELECT top(f, t, 2), u FROM m GROUP BY g',
  'SELECT top(i, 2) FROM m GROUP BY *',
  'SELECT top(f, 3) FROM m ORDER BY time DESC',
  'SELECT bottom(f, t, 2) FROM m WHERE i > 1',
  "SELECT top(i, 4) FROM m WHERE g = 'a' AND f < 3",
  'SELECT top(f, 2) FROM m WHERE f > i',
  'SELECT top(f, 2) FROM m WHERE time >= 0 AND time < 12 GROUP BY time(4u)',
  'SELECT sum(top) FROM (SELECT top(f, t, 2) FROM m)',
  'SELECT max(f), i, s FROM m',
  'SELECT min(i), t FROM m WHERE time >= 0 AND time < 12 GROUP BY time(4u), g fill(previous)',
  'SELECT last(f), u, s FROM m GROUP BY g',
] as const;

/** Over days: windows follow the clocks of a zone, so that there are several requests. */
const ZONED = [
  'SELECT top(f, t, 2) FROM m WHERE $range GROUP BY time(30d)',
  'SELECT bottom(i, 2), s FROM m WHERE $range GROUP BY time(20d), g ORDER BY time DESC',
  'SELECT max(f), i, s FROM m WHERE $range GROUP BY time(1d), g fill(none)',
  'SELECT first(f), u FROM m WHERE $range GROUP BY time(60d)',
].map((text) => `${text.replace('$range', `time >= -9d AND time < 450d`)} tz('America/New_York')`);

const ZONED_STEP = 30n * 86_400_000_000_000n;

type Data = {
  readonly seed: number;
  readonly rows: number;
  /** Numbers of different times and values: with few of them, rows are tied. */
  readonly times: number;
  readonly values: number;
};

/** `step` is between two times, in nanoseconds. */
function linesOf({ seed, rows, times, values }: Data, step = 1n): string[] {
  const next = numbers(seed);
  const isThere = (): boolean => next() % 4 > 0;
  return Array.from({ length: rows }, () => {
    const tags = [`g=${next() % 2 === 0 ? 'a' : 'b'}`];
    if (isThere()) tags.push(`t=${next() % 4}`);
    if (isThere()) tags.push(`u=${next() % 3}`);
    const fields = [`s="${next() % 3}"`];
    if (isThere()) fields.push(`f=${(next() % values) - 3}`);
    if (isThere()) fields.push(`i=${next() % values}i`);
    return `m,${tags.join(',')} ${fields.join(',')} ${BigInt(next() % times) * step}`;
  });
}

test('equals what all rows would give', async () => {
  const data = fc.record({
    seed: fc.integer({ min: 1, max: 1e9 }),
    rows: fc.integer({ min: 1, max: 80 }),
    times: fc.constantFrom(3, 12, 100_000),
    values: fc.constantFrom(6, 40, 100_000),
    flushesAt: fc.option(fc.integer({ min: 0, max: 80 })),
  });
  await fc.assert(
    fc.asyncProperty(data, async ({ flushesAt, ...each }) => {
      const own = await testEngine();
      try {
        await write(own.engine, 'm,g=a f=1,i=1i 5');
        const isZoned = each.times <= 12 && each.seed % 2 === 0;
        const lines = linesOf(each, isZoned ? ZONED_STEP : 1n);
        await write(own.engine, lines.slice(0, flushesAt ?? 40).join('\n'));
        if (flushesAt !== null) await own.engine.flush();
        await write(own.engine, lines.slice(flushesAt ?? 40).join('\n'));
        for (const text of isZoned ? [...ZONED, ...STATEMENTS] : STATEMENTS) {
          const { series } = await answerOf(own, text, true);
          const { series: expected } = await answerOf(own, text, false);
          expect(series, text).toEqual(expected);
        }
      } finally {
        await own.dispose();
      }
    }),
    { numRuns: 60 },
  );
});

test('sends no rows unless they are tied, and does not read chunks without any of the best', async () => {
  const own = await testEngine();
  try {
    const rows = 2 * MAX_CHUNK_ROWS;
    for (const [number, host] of ['a', 'b', 'c'].entries()) {
      const lines = Array.from({ length: rows }, (_, i) => {
        const value = (i * 7919 + number) % 100_003;
        return `m,host=${host} v=${value},low=${i % 10} ${3 * i + (i === 9 ? 0 : number) + 1}`;
      });
      await write(own.engine, lines.join('\n'));
    }
    const falling = Array.from({ length: rows }, (_, i) => `n,host=a v=${rows - i} ${i}`);
    await write(own.engine, falling.join('\n'));
    await own.engine.flush();
    for (const call of ['top(v, 5), host', 'top(v, host, 2)', 'max(v), low']) {
      expect((await answerOf(own, `SELECT ${call} FROM m`, true)).rowsSent, call).toBe(0);
    }
    // All hosts have the largest value first at one time.
    expect((await answerOf(own, 'SELECT top(low, host, 2) FROM m', true)).rowsSent).toBe(3 * rows);
    const { counters } = await answerOf(own, 'SELECT max(v), host FROM n', true);
    expect(counters.chunksAnsweredByStatistics).toBe(1);
  } finally {
    await own.dispose();
  }
});
