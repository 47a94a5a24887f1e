// `top` and `bottom` answer the same when storage leaves out the rows that are worse than enough
// others, wherever rows are, and whatever they have in common.
import { columnValue } from '@tidemark/core';
import { parseQuery } from '@tidemark/influxql';
import { DEFAULT_QUERY_LIMITS, eachBatch, executeSelect } from '@tidemark/query';
import type { QueryLimits, ResultColumn, ScanRequest, SourceSnapshot } from '@tidemark/query';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { MAX_CHUNK_ROWS } from '../segment/format.ts';
import { numbers, queryContext, testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';

type Answer = { readonly series: readonly unknown[]; readonly rowsSent: number };

type How = { readonly leavesOut: boolean; readonly limits?: Partial<QueryLimits> };

async function answerOf(
  { engine }: TestEngine,
  text: string,
  { leavesOut, limits }: How,
): Promise<Answer> {
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
      const asked = leavesOut ? request : { ...request, best: undefined };
      for (const batch of own.scan(asked, options)) {
        if (batch !== undefined && 'times' in batch) rowsSent += batch.times.length;
        yield batch;
      }
    },
    close: () => own.close(),
  };
  const context = queryContext(engine, snapshot, {
    limits: { ...DEFAULT_QUERY_LIMITS, ...limits },
  });
  const series: unknown[] = [];
  try {
    for await (const { tags, columns, rowCount, values } of eachBatch(
      executeSelect(select, context),
    )) {
      const rows = Array.from({ length: rowCount }, (_, row) =>
        values.map((column) => cellOf(column, row)),
      );
      series.push({ tags, columns, rows });
    }
  } finally {
    snapshot.close();
  }
  return { series, rowsSent };
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
] as const;

type Data = {
  readonly seed: number;
  readonly rows: number;
  /** Numbers of different times and values: with few of them, rows are tied. */
  readonly times: number;
  readonly values: number;
};

function linesOf({ seed, rows, times, values }: Data): string[] {
  const next = numbers(seed);
  const isThere = (): boolean => next() % 4 > 0;
  return Array.from({ length: rows }, () => {
    const tags = [`g=${next() % 2 === 0 ? 'a' : 'b'}`];
    if (isThere()) tags.push(`t=${next() % 4}`);
    if (isThere()) tags.push(`u=${next() % 3}`);
    const fields = [`s="${next() % 3}"`];
    if (isThere()) fields.push(`f=${(next() % values) - 3}`);
    if (isThere()) fields.push(`i=${next() % values}i`);
    return `m,${tags.join(',')} ${fields.join(',')} ${next() % times}`;
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
        const lines = linesOf(each);
        await write(own.engine, lines.slice(0, flushesAt ?? 40).join('\n'));
        if (flushesAt !== null) await own.engine.flush();
        await write(own.engine, lines.slice(flushesAt ?? 40).join('\n'));
        for (const text of STATEMENTS) {
          const { series } = await answerOf(own, text, { leavesOut: true });
          const { series: expected } = await answerOf(own, text, { leavesOut: false });
          expect(series, text).toEqual(expected);
        }
      } finally {
        await own.dispose();
      }
    }),
    { numRuns: 60 },
  );
});

test('sends few rows, and does not read chunks without any', async () => {
  const own = await testEngine();
  try {
    const rows = 2 * MAX_CHUNK_ROWS;
    for (const [number, host] of ['a', 'b', 'c'].entries()) {
      const lines = Array.from({ length: rows }, (_, i) => {
        return `m,host=${host} v=${(i * 7919 + number) % 100_003} ${3 * i + number + 1}`;
      });
      await write(own.engine, lines.join('\n'));
    }
    await own.engine.flush();
    const leavesOut = true;
    const beside = await answerOf(own, 'SELECT top(v, 5), host FROM m', { leavesOut });
    expect(beside.rowsSent).toBeLessThan(200);
    const byHost = await answerOf(own, 'SELECT top(v, host, 2) FROM m', { leavesOut });
    expect(byHost.rowsSent).toBeLessThan(200);
    // Points and series are counted, so all are needed.
    for (const limits of [{ maxSelectPoints: 1_000_000 }, { maxSelectSeries: 100 }]) {
      const counted = await answerOf(own, 'SELECT top(v, host, 5) FROM m', { leavesOut, limits });
      expect(counted.rowsSent).toBe(3 * rows);
    }
  } finally {
    await own.dispose();
  }
});
