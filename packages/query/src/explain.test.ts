// EXPLAIN ANALYZE: every operator with what it cost. The clock moves one millisecond each time it
// is read, so that the times are exact.
import { parseQuery } from '@tidemark/influxql';
import { expect, test } from 'vitest';

import { executeExplain } from './executor.ts';
import { MemorySource } from './testing/memory-source.ts';
import { contextOf, DATABASE, driverOf, SECOND } from './testing/run-statement.ts';

async function analyse(text: string): Promise<readonly string[]> {
  const { query, error } = parseQuery(`EXPLAIN ANALYZE ${text}`);
  const [statement] = query.statements;
  if (error !== undefined || statement?.kind !== 'explain') throw new Error(error ?? text);
  let ms = 0;
  const lines: string[] = [];
  const context = await contextOf(sourceOfTwelve(), { monotonicMs: () => (ms += 1) });
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
    '            scan db.autogen.m: 4 batches, 12 rows',
    '        evaluate columns: 1 batches',
  ]);
});

test('names those of windows that the source reduces, and of those that are reduced here', async () => {
  const pushed = await analyse('SELECT mean(v) FROM m WHERE time < 12s GROUP BY time(2s), host');
  const own = await analyse('SELECT median(v) FROM m WHERE time < 12s GROUP BY time(2s), host');

  expect(operators(pushed)[1]).toBe('        aggregate db.autogen.m: 4 batches, 12 rows');
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
