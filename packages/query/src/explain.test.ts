// EXPLAIN ANALYZE: every operator with its cost. The clock advances one millisecond each time it is
// read, so that the times are exact.
import { parseQuery } from '@tidemark/influxql';
import { describe, expect, test } from 'vitest';

import type { QueryContext } from './context.ts';
import { executeExplain } from './explain.ts';
import type { SourceSnapshot } from './series-source.ts';
import { MEMORY_CAPABILITIES, MemorySource } from './testing/memory-source.ts';
import { contextOf, DATABASE, driverOf, SECOND } from './testing/run-statement.ts';

function analyse(text: string): Promise<readonly string[]> {
  return explained(`ANALYZE ${text}`);
}

async function explained(
  text: string,
  source: MemorySource = sourceOfTwelve(),
  overrides: Partial<QueryContext> = {},
): Promise<readonly string[]> {
  const { query, error } = parseQuery(`EXPLAIN ${text}`);
  const [statement] = query.statements;
  if (error !== undefined || statement?.kind !== 'explain') throw new Error(error ?? text);
  let ms = 0;
  const lines: string[] = [];
  const context = await contextOf(source, { monotonicMs: () => (ms += 1), ...overrides });
  for await (const batch of driverOf(context).batches(executeExplain(statement, context))) {
    const [column] = batch.values;
    if (column?.type !== 'mixed') throw new Error('a column of texts');
    lines.push(...column.values.map(String));
  }
  return lines;
}

/** Twelve points, a second apart, in two series in turn. */
function sourceOfTwelve(): MemorySource {
  const source = new MemorySource();
  source.addPolicy(DATABASE, 'autogen', 604_800n * SECOND);
  const points = Array.from({ length: 12 }, (_, i) => ({
    measurement: 'm',
    tags: [['host', i % 2 === 0 ? 'a' : 'b']] as const,
    fields: [['v', i]] as const,
    time: BigInt(i) * SECOND,
  }));
  source.write(DATABASE, 'autogen', points);
  const text = { measurement: 't', tags: [], fields: [['s', 'x']] as const, time: 0n };
  source.write(DATABASE, 'autogen', [text]);
  return source;
}

/** The operators with their depth, rows and batches, without times. */
function operators(lines: readonly string[]): readonly string[] {
  const start = lines.findIndex((line) => line.endsWith('operators'));
  return lines
    .slice(start + 1)
    .filter((line) => line.includes(': total '))
    .map((line) =>
      line
        .replace(/total .*own [\d.]+ms, /, '')
        .replace(/[│├└─]/g, ' ')
        .slice(8),
    );
}

/** Milliseconds of the wall and of the operator alone. */
function times(lines: readonly string[], label: string): readonly [number, number] {
  const line = lines.find((one) => one.includes(`── ${label}: total `)) ?? '';
  const found = /total ([\d.]+)ms, own ([\d.]+)ms/.exec(line);
  return [Number(found?.[1]), Number(found?.[2])];
}

test('names the operators of a raw query with rows and batches', async () => {
  const lines = await analyse('SELECT v FROM m WHERE v + 1 > 4');

  expect(operators(lines)).toEqual([
    '    select: 1 batches, 8 rows',
    '        merge series: 1 batches, 8 rows',
    '            scan db.autogen.m: 4 batches, 8 rows',
    '        evaluate columns: 1 batches',
  ]);
});

test('names those of windows that the source reduces, and of those that are reduced here', async () => {
  const pushed = await analyse('SELECT mean(v) FROM m WHERE time < 12s GROUP BY time(2s), host');
  const own = await analyse('SELECT stddev(v) FROM m WHERE time < 12s GROUP BY time(2s), host');

  const whole = await analyse('SELECT mean(v) FROM m WHERE time < 12s GROUP BY host');

  expect(operators(pushed)[1]).toBe('        aggregate db.autogen.m: 4 batches, 12 rows');
  expect(operators(whole).slice(1)).toEqual([
    '        aggregate db.autogen.m: 2 batches, 2 rows',
    '        evaluate whole groups: 2 batches',
  ]);
  expect(operators(own).map((line) => line.trim().replace(/:.*/, ''))).toEqual([
    'select',
    'merge series',
    'scan db.autogen.m',
    'reduce',
    'fill and transform',
    'evaluate columns',
  ]);
});

test('every subquery is an operator of its own', async () => {
  const lines = await analyse(
    'SELECT max(mean) FROM (SELECT mean(v) FROM m GROUP BY host), (SELECT mean(v) FROM m)',
  );

  expect(operators(lines).filter((line) => line.includes('read subquery'))).toHaveLength(2);
  expect(operators(lines).filter((line) => line.includes('aggregate db.autogen.m'))).toHaveLength(
    2,
  );
});

test('times of the operators add up to the time of the statement', async () => {
  const lines = await analyse('SELECT v FROM m');

  const [select, selectOwn] = times(lines, 'select');
  const [merge, mergeOwn] = times(lines, 'merge series');
  const [scan, scanOwn] = times(lines, 'scan db.autogen.m');
  const [evaluate] = times(lines, 'evaluate columns');
  expect(scan).toBeGreaterThan(0);
  expect(scanOwn).toBe(scan);
  expect(mergeOwn).toBe(merge - scan);
  expect(selectOwn).toBe(select - merge - evaluate);
});

test('a scan tells what the source counted for it', async () => {
  const lines = await analyse('SELECT v FROM m');
  const scan = lines.findIndex((line) => line.includes('scan db.autogen.m: total'));

  expect(lines.slice(scan + 1, scan + 7).map((line) => line.replace(/.*── |: .*/g, ''))).toEqual([
    'series_visited',
    'chunks_read',
    'chunks_skipped',
    'chunks_answered_by_statistics',
    'rows_read',
    'bytes_read',
  ]);
  const total = lines.find((line) => line.includes('rows_read'));
  const ofScan = lines.slice(scan).find((line) => line.includes('rows_read'));
  expect(ofScan?.replace(/.*── /, '')).toBe(total?.replace(/.*── /, ''));
});

/** The operators that EXPLAIN knows beforehand, without what belongs to the recorded lines. */
async function plan(text: string, overrides?: Partial<QueryContext>): Promise<string> {
  const lines = await explained(text, undefined, overrides);
  return lines.slice(lines.indexOf('PLAN') + 1).join('\n');
}

describe('EXPLAIN draws the way a statement goes', () => {
  test('raw rows of a condition that the source calculates, or knows in part', async () => {
    const text = "SELECT v FROM m WHERE host = 'a' AND v > 2 AND v + 1 > 4 LIMIT 3";
    expect(await plan(text)).toContain("where ((host = 'a' AND v > 2) AND ((v + 1) > 4))");
    const capabilities = { ...MEMORY_CAPABILITIES, calculatesConditions: false };
    expect(await plan(text, { capabilities })).toBe(
      [
        '└── select: v; limit 3',
        '    └── evaluate columns',
        '        └── merge series',
        '            └── scan db.autogen.m: v',
        "                ├── where (host = 'a' AND v > 2)",
        '                └── the rest of the condition is checked for each row',
      ].join('\n'),
    );
  });

  test('windows that the source reduces, and windows that are reduced here', async () => {
    expect(
      await plan('SELECT mean(v), max(v) FROM m WHERE time < 12s GROUP BY time(2s), host'),
    ).toBe(
      [
        '└── select: mean, max; by host',
        '    └── evaluate columns',
        '        └── fill and transform: windows of 2s, fill(null)',
        '            └── evaluate whole groups',
        '                └── aggregate db.autogen.m: mean(v), max(v)',
      ].join('\n'),
    );
    expect(await plan('SELECT median(v), mode(v) FROM m GROUP BY host')).toBe(
      [
        '└── select: median, mode; by host',
        '    └── evaluate columns',
        '        └── fill and transform: one window',
        '            └── aggregate db.autogen.m: median(v), mode(v)',
      ].join('\n'),
    );
    expect(await plan('SELECT stddev(v) FROM m GROUP BY host')).toBe(
      [
        '└── select: stddev; by host',
        '    └── evaluate columns',
        '        └── fill and transform: one window',
        '            └── reduce: stddev(v); rows are read because stddev(v): its digits depend on the order of the rows',
        '                └── scan db.autogen.m: v',
      ].join('\n'),
    );
  });

  test('calls of one statement, each from where it is calculated', async () => {
    const text =
      'SELECT mean(v), difference(max(v)), sample(v, 2), stddev(w) FROM m GROUP BY time(2s)';
    expect(await plan(text.replace('FROM m', 'FROM m WHERE time < 12s'))).toBe(
      [
        '└── select: mean, difference, sample, stddev',
        '    └── evaluate columns',
        '        └── fill and transform: windows of 2s, fill(null)',
        '            ├── aggregate db.autogen.m: mean(v)',
        '            ├── aggregate db.autogen.m: difference(max(v))',
        '            └── reduce: sample(v, 2), stddev(w); rows are read because sample(v, 2): it chooses among rows in the order of the query, stddev(w): its digits depend on the order of the rows',
        '                └── merge series',
        '                    └── scan db.autogen.m: v',
      ].join('\n'),
    );
  });

  test.each(['GROUP BY host', 'WHERE v > 1'])('rows for all calls: %s', async (rest) => {
    const text = await plan(`SELECT mean(v), stddev(v) FROM m ${rest}`);
    expect(text).toContain('reduce: mean(v), stddev(v); rows are read because stddev(v): ');
    expect(text).toContain('the order of the rows; the others take the same rows');
    expect(text).not.toContain('aggregate ');
  });

  test('rows that the source finds', async () => {
    const capabilities = { ...MEMORY_CAPABILITIES, ranksRows: true };
    expect(await plan('SELECT top(v, host, 2) FROM m', { capabilities })).toBe(
      [
        '└── select: top, host',
        '    └── evaluate columns',
        '        └── fill and transform: one window',
        '            └── aggregate db.autogen.m: top(v, host, 2); rows of groups with ties are read',
      ].join('\n'),
    );
  });

  test.each([
    ['max(v), host', 'max(v): the source does not calculate it'],
    ['percentile(v, 9), host', 'percentile(v, 9): other columns of its rows are selected'],
    ['top(v, host, 5000)', 'top(v, host, 5000): it has very many points'],
    ['derivative(v)', 'derivative(v): it has points for rows, not for windows'],
  ])('why rows are read for %s', async (call, why) => {
    expect(await plan(`SELECT ${call} FROM m`)).toContain(`; rows are read because ${why}`);
  });

  test.each([
    ['max(x)', '1h', true],
    ['max(x), stddev(x)', '1h', false],
    ['mean(x)', '1h', false],
    ['percentile(x, 9), median(x)', '1h', true],
    ['max(x)', '2s', false],
  ])('whether %s by %s takes windows of a subquery in any order', async (calls, every, is) => {
    const inner = 'SELECT mean(v) AS x FROM m GROUP BY time(1s), host';
    const text = `SELECT ${calls} FROM (${inner}) WHERE time < 12s GROUP BY time(${every})`;
    expect((await plan(text)).includes('read subquery: group by group')).toBe(is);
  });

  test('subqueries, merged sources, limits of series and faults', async () => {
    const text =
      'SELECT max(mean) FROM (SELECT mean(v) FROM m GROUP BY host), (SELECT v AS mean FROM m)';
    const lines = (await plan(text)).split('\n').map((line) => line.replace(/^[│├└─ ]*/, ''));
    expect(lines.filter((line) => line === 'read subquery')).toHaveLength(2);
    expect(lines).toContain('merge sources');
    expect(lines).toContain('aggregate db.autogen.m: mean(v)');
    expect(await plan('SELECT v FROM m GROUP BY host SLIMIT 1 SOFFSET 1')).toContain(
      'limit series: 1 from 1',
    );
    expect(await plan('SELECT mean(s) FROM t')).toContain(
      'error: unsupported mean iterator type: *query.stringInterruptIterator',
    );
  });

  test('below the recorded lines', async () => {
    const lines = await explained('SELECT mean(v) FROM m');

    expect(lines.slice(0, lines.indexOf('PLAN')).map((line) => line.replace(/: .*/, ''))).toEqual([
      'EXPRESSION',
      'NUMBER OF SHARDS',
      'NUMBER OF SERIES',
      'CACHED VALUES',
      'NUMBER OF FILES',
      'NUMBER OF BLOCKS',
      'SIZE OF BLOCKS',
      '',
    ]);
  });

  test('with the cost of what its own plan asks the source for, part by part', async () => {
    const source = sourceOfTwelve();
    source.write(DATABASE, 'autogen', [
      { measurement: 'n', tags: [], fields: [['v', 1]], time: 0n },
    ]);
    const asked: [string, boolean][] = [];
    const snapshot = source.snapshot();
    const spied: SourceSnapshot = {
      ...snapshot,
      cost: (request, options) => {
        const { source: measurement, aggregate } = request;
        asked.push([measurement.measurement, aggregate !== undefined]);
        return snapshot.cost!(request, options);
      },
    };
    const costsOf = async (text: string): Promise<unknown> => {
      asked.length = 0;
      await explained(text, source, { snapshot: spied });
      return [...asked];
    };

    expect(await costsOf('SELECT mean(v) FROM m, n GROUP BY host SLIMIT 1')).toEqual([
      ['m', true],
      ['n', true],
    ]);
    expect(await costsOf('SELECT max(mean) FROM (SELECT mean(v) FROM m)')).toEqual([['m', true]]);
    expect(await costsOf('SELECT stddev(v) FROM m')).toEqual([['m', false]]);
  });

  test('the operators that it draws are those that EXPLAIN ANALYZE measures', async () => {
    const text = 'SELECT stddev(v) FROM m WHERE time < 12s GROUP BY time(2s)';
    const drawn = (await plan(text)).split('\n').map(nameOf);
    const measured = operators(await analyse(text)).map(nameOf);

    expect([...measured].sort()).toEqual([...drawn].sort());
  });
});

function nameOf(line: string): string {
  return line.replace(/^[│├└─ ]*/, '').replace(/:.*/, '');
}
