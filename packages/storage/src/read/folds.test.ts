// What storage folds equals what operators make of its rows: every function, of every type, in
// windows and groups, wherever the rows are.
import { isDeepStrictEqual } from 'node:util';

import { columnValue } from '@tidemark/core';
import { parseQuery } from '@tidemark/influxql';
import { eachBatch, executeSelect } from '@tidemark/query';
import type { ResultColumn } from '@tidemark/query';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { MAX_CHUNK_ROWS } from '../segment/format.ts';
import { numbers, queryContext, testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';

const NOTHING = new Set<never>();

/** A series of an answer, whose batches are joined. */
type Series = { readonly tags: unknown; readonly columns: unknown; readonly rows: unknown[] };

/** The series of an answer, folded in storage or calculated by operators. */
async function answerOf({ engine }: TestEngine, text: string, folds: boolean): Promise<Series[]> {
  const [select] = parseQuery(text).query.statements;
  if (select?.kind !== 'select') throw new Error(text);
  const snapshot = engine.source.snapshot();
  const { capabilities } = engine.source;
  const context = queryContext(engine, snapshot, {
    capabilities: folds
      ? capabilities
      : {
          ...capabilities,
          aggregateFunctions: NOTHING,
          foldFunctions: NOTHING,
          ranksRows: false,
          calculatesConditions: false,
        },
  });
  const series: Series[] = [];
  try {
    for await (const { tags, columns, rowCount, values } of eachBatch(
      executeSelect(select, context),
    )) {
      const rows = Array.from({ length: rowCount }, (_, row) =>
        values.map((column) => cellOf(column, row)),
      );
      const last = series.at(-1);
      if (last !== undefined && isDeepStrictEqual(last.tags, tags)) last.rows.push(...rows);
      else series.push({ tags, columns, rows });
    }
  } finally {
    snapshot.close();
  }
  return series;
}

function cellOf(column: ResultColumn, row: number): unknown {
  if (column.type === 'time' || column.type === 'mixed') return column.values[row];
  return columnValue(column, row);
}

const OF_NUMBERS = [
  'median(X)',
  'percentile(X, 60)',
  'percentile(X, 30)',
  'percentile(X, 99)',
  'percentile(X, 0.01)',
  'top(X, 1)',
  'top(X, 3)',
  'bottom(X, 2)',
  'mean(X)',
  'max(X)',
];
/** The source does not calculate these: rows are read for them alone. */
const OF_ROWS = ['stddev(X)'];
/** Also these, whose results depend on the order of rows of one time. */
const OF_ORDERED_ROWS = [...OF_ROWS, 'sample(X, 2)', 'integral(X)'];
const OF_ALL = ['count(distinct(X))', 'mode(X)', 'distinct(X)', 'count(X)', 'last(X)'];
const TRANSFORMED = ['difference(median(X))', 'cumulative_sum(percentile(X, 50))'];

const FIELDS = { f: OF_NUMBERS, i: OF_NUMBERS, u: OF_NUMBERS, b: [], s: [] } as const;
const CONDITIONS = [
  '',
  ' AND i > 2',
  " AND g = 'a'",
  ' AND i > 1 AND f < 3',
  // These are calculated.
  ' AND f * 2 > i',
  " AND (u + 1 > i OR g = 'b' AND f::integer > 0)",
  " AND t + 'x' = '1x' AND b = true AND f > i",
  ' AND abs(i) < 3 AND f > 0',
];
const GROUPS = ['', 'g', 'g, t', '*'];
const WINDOWS = ['', 'time(3u)', 'time(4u, 1u)', 'time(1ms)'];
const FILLS = ['', ' fill(none)', ' fill(previous)', ' fill(7)', ' fill(linear)'];
const ZONES = ['', '', " tz('Europe/Berlin')"];
const ENDS = [
  '',
  ' ORDER BY time DESC',
  ' LIMIT 3',
  ' LIMIT 4 OFFSET 1',
  ' ORDER BY time DESC LIMIT 3',
  ' SLIMIT 1',
  ' ORDER BY time DESC LIMIT 3 OFFSET 1 SLIMIT 2 SOFFSET 1',
];

/** Selectors with other columns of their rows, and rankings of different tags. */
const SELECTORS = [
  'max(X), g',
  'min(X), t, s',
  'first(X), i',
  'last(X), t',
  'top(X, t, 2)',
  'bottom(X, t, g, 3), b',
  'top(X, 2), s, t',
  'bottom(X, g, 1), f, u',
];

/** Of one selector, which may have other columns. */
function selectionOf(pick: <T>(from: readonly T[]) => T): string {
  const window = pick(WINDOWS);
  const by = [window, pick(GROUPS)].filter((part) => part !== '').join(', ');
  const fill = window === '' ? '' : pick(FILLS);
  const groupBy = by === '' ? '' : ` GROUP BY ${by}${fill}`;
  const call = pick(SELECTORS).replace('X', pick(['f', 'i', 'u'] as const));
  const range = 'time >= 0 AND time < 30000';
  return `SELECT ${call} FROM m WHERE ${range}${pick(CONDITIONS)}${groupBy}${pick(ENDS)}`;
}

function statementOf(pick: <T>(from: readonly T[]) => T, ofRows = OF_ROWS): string {
  const field = pick(Object.keys(FIELDS) as (keyof typeof FIELDS)[]);
  const window = pick(WINDOWS);
  const transformed = window === '' ? [] : TRANSFORMED;
  const ofNumbers = FIELDS[field].length === 0 ? [] : [...ofRows, ...transformed];
  const functions = [...OF_ALL, ...FIELDS[field], ...ofNumbers];
  const isAlone = pick([true, false]);
  const calls = isAlone
    ? [pick(functions)]
    : Array.from({ length: 1 + pick([1, 2, 4]) }, () =>
        // Functions of many points stand alone.
        pick(functions.filter((text) => !/^(distinct|top|bottom)/.test(text))),
      );
  const other = pick(['f', 'i', 'u'] as const);
  const columns = calls
    .map((call, i) => {
      const isOfOther = !isAlone && pick([true, false]) && FIELDS[field].length > 0;
      return `${call.replace('X', isOfOther ? other : field)} AS c${i}`;
    })
    .join(', ');
  const by = [window, pick(GROUPS)].filter((part) => part !== '').join(', ');
  const range = 'time >= 0 AND time < 30000';
  const fill = window === '' ? '' : pick(FILLS);
  const groupBy = by === '' ? '' : ` GROUP BY ${by}${fill}`;
  return `SELECT ${columns} FROM m WHERE ${range}${pick(CONDITIONS)}${groupBy}${pick(ENDS)}${window === '' ? '' : pick(ZONES)}`;
}

function linesOf(
  next: () => number,
  { rows, times, values }: Record<'rows' | 'times' | 'values', number>,
): string[] {
  const isThere = (): boolean => next() % 4 > 0;
  return Array.from({ length: rows }, () => {
    const tags = [`g=${next() % 2 === 0 ? 'a' : 'b'}`];
    if (isThere()) tags.push(`t=${next() % 4}`);
    const fields = [`s="${next() % 3}"`];
    if (isThere()) fields.push(`f=${(next() % values) / 4 - 3}`);
    if (isThere()) fields.push(`i=${(next() % values) - 2}i`);
    if (isThere()) fields.push(`u=${next() % values}u`);
    if (isThere()) fields.push(`b=${next() % 2 === 0}`);
    return `m,${tags.join(',')} ${fields.join(',')} ${next() % times}`;
  });
}

test('equals what operators make of the rows', async () => {
  const data = fc.record({
    seed: fc.integer({ min: 1, max: 1e9 }),
    rows: fc.integer({ min: 1, max: 120 }),
    times: fc.constantFrom(12, 3000, 30_000),
    values: fc.constantFrom(6, 40, 100_000),
    flushesAt: fc.option(fc.integer({ min: 0, max: 120 })),
  });
  await fc.assert(
    fc.asyncProperty(data, async ({ seed, flushesAt, ...each }) => {
      const own = await testEngine();
      const next = numbers(seed);
      const pick = <T>(from: readonly T[]): T => from[next() % from.length]!;
      try {
        await write(own.engine, 'm,g=a f=1,i=1i,u=1u,b=true,s="0" 5');
        const lines = linesOf(next, each);
        await write(own.engine, lines.slice(0, flushesAt ?? 40).join('\n'));
        if (flushesAt !== null) await own.engine.flush();
        await write(own.engine, lines.slice(flushesAt ?? 40).join('\n'));
        for (let i = 0; i < 12; i++) {
          const text = i % 3 === 0 ? selectionOf(pick) : statementOf(pick);
          expect(await answerOf(own, text, true), text).toEqual(await answerOf(own, text, false));
        }
      } finally {
        await own.dispose();
      }
    }),
    { numRuns: 60 },
  );
});

test('the same of statements that read windows and rows at once', async () => {
  const own = await testEngine();
  const next = numbers(7);
  const pick = <T>(from: readonly T[]): T => from[next() % from.length]!;
  try {
    const lines = linesOf(next, { rows: 300, times: 1, values: 40 });
    const atOwnTimes = lines.map((line, i) => `${line.slice(0, -1)}${(i * 97) % 30_000}`);
    await write(own.engine, atOwnTimes.slice(0, 200).join('\n'));
    await own.engine.flush();
    await write(own.engine, atOwnTimes.slice(200).join('\n'));
    for (let i = 0; i < 200; i++) {
      const text = statementOf(pick, OF_ORDERED_ROWS);
      expect(await answerOf(own, text, true), text).toEqual(await answerOf(own, text, false));
    }
  } finally {
    await own.dispose();
  }
});

/** The first two columns of rows that have any of them. */
function pointsOf(answer: readonly Series[]): unknown {
  return answer.flatMap(({ tags, rows }) => {
    const points = (rows as unknown[][])
      .map((row) => row.slice(0, 3))
      .filter(([, ...values]) => values.some((value) => value !== null && value !== 0n));
    return points.length === 0 ? [] : [{ tags, points }];
  });
}

test('takes rows of subqueries in any order where that changes nothing', async () => {
  const own = await testEngine();
  const next = numbers(42);
  const pick = <T>(from: readonly T[]): T => from[next() % from.length]!;
  const inner = [
    'SELECT mean(f) AS x, max(i) AS y FROM m WHERE RANGE GROUP BY time(3u), g, t',
    'SELECT max(i) AS x, count(f) AS y FROM m WHERE RANGE GROUP BY time(2u), t, g fill(0)',
    'SELECT top(f, 2) AS x, i AS y FROM m WHERE RANGE GROUP BY time(5u), t, g',
    'SELECT f AS x, i AS y FROM m WHERE RANGE GROUP BY t, g',
    'SELECT first(f) AS x FROM m WHERE RANGE GROUP BY time(4u, 1u), g, t',
  ];
  const calls = ['count(X)', 'min(X)', 'max(X)', 'last(X)', 'first(X)', 'spread(X)', 'sum(y)'];
  const more = ['median(X)', 'percentile(X, 40)', 'mode(X)', 'count(distinct(X))', 'mean(y)'];
  try {
    await write(own.engine, linesOf(next, { rows: 400, times: 60, values: 9 }).join('\n'));
    for (let i = 0; i < 300; i++) {
      const chosen = [calls, more].map((each) => pick(each).replace('X', pick(['x', 'y'])));
      const list = chosen.map((call, column) => `${call} AS c${column}`).join(', ');
      const by = pick([
        '',
        'g',
        't',
        'g, t',
        'time(26u)',
        'time(16u), g',
        'time(50u, 2u), t',
        'time(3u)',
      ]);
      const groupBy = by === '' ? '' : ` GROUP BY ${by}`;
      const range = 'time >= 0 AND time < 60000';
      const from = pick(inner).replace('RANGE', pick([range, 'time >= 5000 AND time < 60000']));
      const text = (columns: string, end: string): string =>
        `SELECT ${columns} FROM (${from}) WHERE ${range} AND x > -2${groupBy}${end}`;
      const end = pick(['', ' ORDER BY time DESC']);
      // Deviations need the rows in their order.
      const ordered = pointsOf(await answerOf(own, text(`${list}, stddev(x)`, end), true));
      const found = pointsOf(await answerOf(own, text(list, end), true));
      expect(found, text(list, end)).toEqual(ordered);
    }
  } finally {
    await own.dispose();
  }
});

test.each([false, true])('the same of many series of few rows, flushed: %s', async (flushes) => {
  const own = await testEngine();
  try {
    const lines = Array.from({ length: 4000 }, (_, i) => {
      const value = (i * 7919) % 1009;
      return `m,g=${i % 2 === 0 ? 'a' : 'b'},t=${i % 1500} f=${value / 8},i=${value % 101}i ${i % 50}`;
    });
    await write(own.engine, lines.join('\n'));
    if (flushes) await own.engine.flush();
    const functions =
      'max(f) AS a, median(i) AS b, percentile(f, 9) AS c, mean(i) AS d, stddev(i) AS e';
    const selectors = [
      'max(f), t, g',
      'top(i, t, 3), f',
      'bottom(f, g, 1), i',
      'last(f), t',
      'percentile(i, 60)',
    ];
    for (const call of selectors) {
      for (const by of ['', ' GROUP BY g', ' GROUP BY time(10u) fill(none)']) {
        const text = `SELECT ${call} FROM m WHERE time >= 0 AND time < 1s${by}`;
        expect(await answerOf(own, text, true), text).toEqual(await answerOf(own, text, false));
      }
    }
    for (const where of ['f * 2 > i', "f > 3 AND i / 2 < 30 AND g = 'a'", "(f > i OR t = '7')"]) {
      for (const by of ['', ' GROUP BY g', ' GROUP BY time(10u) fill(none)']) {
        const text = `SELECT ${functions} FROM m WHERE time >= 0 AND time < 1s AND ${where}${by}`;
        expect(await answerOf(own, text, true), text).toEqual(await answerOf(own, text, false));
      }
    }
  } finally {
    await own.dispose();
  }
});

test('the same of chunks in the cache, and of windows with very many points', async () => {
  const own = await testEngine();
  try {
    const rows = 2 * MAX_CHUNK_ROWS;
    for (const [number, host] of ['a', 'b', 'c'].entries()) {
      const lines = Array.from({ length: rows }, (_, i) => {
        const value = (i * 7919 + number) % 100_003;
        return `m,g=${host} f=${value / 8},i=${value % 1009}i,s="${value % 9000}",level="${value % 3}" ${3 * i + number}`;
      });
      await write(own.engine, lines.join('\n'));
    }
    await own.engine.flush();
    for (const calls of [
      'percentile(f, 95) AS p, median(i) AS m, count(distinct(s)) AS d, mode(i) AS o',
      'distinct(f)',
      'distinct(s)',
      'distinct(level)',
      'count(distinct(level)) AS d',
      'top(f, 4000)',
    ]) {
      for (const by of ['', ' GROUP BY g', ' GROUP BY time(10u)', ' GROUP BY time(1ms), g']) {
        const fill = by.includes('time') ? ' fill(none)' : '';
        for (const order of calls === 'distinct(level)' ? ['', ' ORDER BY time DESC'] : ['']) {
          const text = `SELECT ${calls} FROM m WHERE time >= 0 AND time < 1s${by}${fill}${order}`;
          expect(await answerOf(own, text, true), text).toEqual(await answerOf(own, text, false));
        }
      }
    }
  } finally {
    await own.dispose();
  }
});

test('the same of the first window of all, which would begin before the smallest time', async () => {
  const own = await testEngine();
  try {
    const lines = [
      'm f=1,i=3i,s="x" -9223372036854775806',
      'm f=2,i=4i,s="y" -9223372036854775800',
    ];
    await write(own.engine, lines.join('\n'));
    for (const isFlushed of [false, true]) {
      if (isFlushed) await own.engine.flush();
      for (const call of [
        'last(s)',
        'last(f), s',
        'count(s)',
        'distinct(s)',
        'count(i)',
        'median(i)',
        'max(f)',
      ]) {
        for (const order of ['', ' ORDER BY time DESC']) {
          const text = `SELECT ${call} FROM m WHERE time < -9223372036854775000 GROUP BY time(1m) fill(none)${order}`;
          const folded = await answerOf(own, text, true);
          expect(folded, text).toHaveLength(1);
          expect(folded, text).toEqual(await answerOf(own, text, false));
        }
      }
    }
  } finally {
    await own.dispose();
  }
});
