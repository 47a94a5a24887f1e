// EXPLAIN ANALYZE over a known layout: two series of three full chunks each in one segment.
import { executeExplain, eachBatch } from '@tidemark/query';
import { parseQuery } from '@tidemark/influxql';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { MAX_CHUNK_ROWS } from '../segment/format.ts';
import { queryContext, testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';

const CHUNKS = 3;
const ROWS = CHUNKS * MAX_CHUNK_ROWS;
const SERIES = 2;

let storage: TestEngine;

beforeAll(async () => {
  storage = await testEngine();
  for (const host of ['a', 'b']) {
    const lines = Array.from(
      { length: ROWS },
      (_, i) => `m,host=${host} v=${i}.5,w=${i}i ${i + 1}`,
    );
    await write(storage.engine, lines.join('\n'));
  }
  await storage.engine.flush();
});
afterAll(() => storage.dispose());

/** The lines that EXPLAIN answers. */
async function explain(text: string): Promise<readonly string[]> {
  const [statement] = parseQuery(`EXPLAIN ${text}`).query.statements;
  if (statement?.kind !== 'explain') throw new Error(text);
  const snapshot = storage.engine.source.snapshot();
  const context = queryContext(storage.engine, snapshot);
  const lines: string[] = [];
  for await (const { values } of eachBatch(executeExplain(statement, context))) {
    const [column] = values;
    if (column?.type === 'mixed') lines.push(...column.values.map(String));
  }
  snapshot.close();
  return lines;
}

/**
 * The counters of the whole statement, and those of its only operator that reads, which have to be
 * the same.
 */
async function counters(text: string): Promise<Readonly<Record<string, number>>> {
  const found = new Map<string, number[]>();
  for (const line of await explain(`ANALYZE ${text}`)) {
    const [, name, value] =
      /── (series_visited|chunks_\w+|rows_read|bytes_read): (\d+)/.exec(line) ?? [];
    if (name !== undefined) found.set(name, [...(found.get(name) ?? []), Number(value)]);
  }
  for (const [name, values] of found) {
    expect(values, name).toHaveLength(2);
    expect(values[0], name).toBe(values[1]);
  }
  return Object.fromEntries([...found].map(([name, [value = -1]]) => [name, value]));
}

/** The numbers that EXPLAIN knows in advance. */
async function cost(text: string, name: string): Promise<number> {
  const line = (await explain(text)).find((one) => one.startsWith(name)) ?? '';
  return Number(line.slice(name.length + 2));
}

test('a scan reads every chunk of both series, and the bytes that EXPLAIN tells', async () => {
  const text = 'SELECT v FROM m';

  expect(await cost(text, 'NUMBER OF BLOCKS')).toBe(SERIES * CHUNKS);
  expect(await counters(text)).toEqual({
    series_visited: SERIES,
    chunks_read: SERIES * CHUNKS,
    chunks_skipped: 0,
    chunks_answered_by_statistics: 0,
    rows_read: SERIES * ROWS,
    bytes_read: await cost(text, 'SIZE OF BLOCKS'),
  });
});

test('pages that were read before are not read from the file again', async () => {
  expect(await counters('SELECT v FROM m')).toMatchObject({
    chunks_read: SERIES * CHUNKS,
    rows_read: SERIES * ROWS,
    bytes_read: 0,
  });
});

test('chunks outside the time range are skipped', async () => {
  expect(await counters(`SELECT w FROM m WHERE time <= ${MAX_CHUNK_ROWS}`)).toMatchObject({
    series_visited: SERIES,
    chunks_read: SERIES,
    chunks_skipped: SERIES * (CHUNKS - 1),
    rows_read: SERIES * MAX_CHUNK_ROWS,
  });
});

test('a condition on a tag leaves the other series alone', async () => {
  expect(await counters("SELECT w FROM m WHERE host = 'a'")).toMatchObject({
    series_visited: 1,
    chunks_read: CHUNKS,
    chunks_skipped: 0,
    rows_read: ROWS,
  });
});

test('statistics answer whole chunks: nothing is read', async () => {
  const text = 'SELECT mean(v), max(w) FROM m';

  expect(await cost(text, 'NUMBER OF BLOCKS')).toBe(0);
  expect(await cost(text, 'NUMBER OF FILES')).toBe(0);
  expect(await counters(text)).toEqual({
    series_visited: SERIES,
    chunks_read: 0,
    chunks_skipped: 0,
    chunks_answered_by_statistics: SERIES * CHUNKS,
    rows_read: 0,
    bytes_read: 0,
  });
});

test('chunks without any of the best rows are skipped', async () => {
  const text = 'SELECT bottom(v, 2) FROM m';
  expect((await explain(text)).join('\n')).toContain('aggregate db.autogen.m: bottom(v, 2)');
  expect(await counters(text)).toMatchObject({
    chunks_read: SERIES,
    chunks_answered_by_statistics: SERIES * (CHUNKS - 1),
  });
});

test('a range that begins inside of a chunk reads that one, and its rows within the range only', async () => {
  const text = `SELECT mean(v) FROM m WHERE time >= 11 AND time <= ${2 * MAX_CHUNK_ROWS}`;

  expect(await cost(text, 'NUMBER OF BLOCKS')).toBe(SERIES);
  expect(await counters(text)).toMatchObject({
    chunks_read: SERIES,
    chunks_skipped: SERIES * (CHUNKS - 2),
    chunks_answered_by_statistics: SERIES,
    rows_read: SERIES * (MAX_CHUNK_ROWS - 10),
  });
});

test('rows that are still in memory are read rows without chunks', async () => {
  await write(storage.engine, 'm,host=a v=1 20001\nm,host=a v=2 20002\n');

  expect(await cost('SELECT v FROM m', 'CACHED VALUES')).toBe(2);
  expect(await cost('SELECT count(v) FROM m', 'CACHED VALUES')).toBe(2);
  expect(await cost('SELECT count(v) FROM m', 'NUMBER OF BLOCKS')).toBe(0);
  expect(await cost('SELECT count(v) FROM m WHERE v > 1', 'NUMBER OF BLOCKS')).toBe(
    SERIES * CHUNKS,
  );
  expect(await counters('SELECT v FROM m')).toMatchObject({
    chunks_read: SERIES * CHUNKS,
    rows_read: SERIES * ROWS + 2,
  });
});

test('a chunk that others overlap is read, and one of many series is counted once', async () => {
  const few = Array.from({ length: 20 }, (_, i) => `few,host=${i} v=1 1\nfew,host=${i} v=2 2`);
  await write(storage.engine, [...few, 'm,host=a v=5 5'].join('\n'));
  await storage.engine.flush();

  expect(await cost('SELECT count(v) FROM few', 'NUMBER OF BLOCKS')).toBe(1);
  // Those of the series with a row among the others, and the chunk with that row.
  expect(await cost('SELECT mean(v) FROM m', 'NUMBER OF BLOCKS')).toBe(CHUNKS + 1);
  expect(await cost('SELECT mean(v) FROM m', 'NUMBER OF FILES')).toBe(2);
});
