// Small answers from the storage thread: which ones they are, and that they equal those computed in
// the calling thread.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Cancelled } from '@tidemark/core';
import { ParseCache } from '@tidemark/influxql';
import {
  DEFAULT_QUERY_LIMITS,
  Driver,
  eachPulled,
  executeSelect,
  writeResults,
} from '@tidemark/query';
import type { QueryContext, ResultFormat } from '@tidemark/query';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { StorageEngine } from '@tidemark/storage-api';

import { queryContext, write } from '../testing/fixtures.ts';
import { openStorage } from './open-storage.ts';

let directory: string;
let engine: StorageEngine;
const texts = new ParseCache({});

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'storage-answers-'));
  engine = await openStorage({ directory });
  const lines = Array.from(
    { length: 400 },
    (_, i) =>
      `m,t=${i % 2 === 0 ? 'a' : 'ü"'} f=${i / 3},i=${i}i,b=${i % 3 === 0},s="x\\"${i}" ${i}000000000\n`,
  );
  await write(engine, lines.join(''));
  const gaps = Array.from({ length: 100 }, (_, i) => `gaps f=${i}${i % 3 ? '' : ',g=1'} ${i}\n`);
  await write(engine, gaps.join(''));
});

afterAll(async () => {
  await engine.close();
  rmSync(directory, { recursive: true, force: true });
});

type Asked = { readonly json: string; readonly isText: boolean };

/** The answer as JSON, and whether the thread has written it. */
async function ask(
  text: string,
  { format, ...overrides }: Partial<QueryContext> & { format?: Partial<ResultFormat> } = {},
): Promise<Asked> {
  const [statement] = texts.parse(text).query.statements;
  if (statement?.kind !== 'select') throw new Error('not a SELECT');
  const snapshot = engine.source.snapshot();
  let isText = false;
  const context = queryContext(engine, snapshot, {
    now: 400_000_000_000n,
    onPartial: () => undefined,
    ...overrides,
  });
  const results = writeResults(
    [
      {
        run: (seriesText) =>
          executeSelect(statement, {
            ...context,
            seriesText: seriesText && {
              ...seriesText,
              append: (series) => {
                isText = true;
                seriesText.append(series);
              },
            },
          }),
      },
    ],
    { encoding: 'json', ...format },
  );
  const { signal, monotonicMs } = context;
  const driver = new Driver({ supervision: () => ({ signal }), monotonicMs });
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of eachPulled(driver.pull(results))) pieces.push(piece);
  } finally {
    snapshot.close();
  }
  return { json: Buffer.concat(pieces).toString(), isText };
}

let shapes = 0;

/** Empty statements that nobody has sent yet: what follows is of a shape of its own. */
function newShape(): string {
  return (++shapes).toString(2).replaceAll('1', ' ;').replaceAll('0', ';');
}

type AskOptions = NonNullable<Parameters<typeof ask>[1]>;

/** A text that comes twice, then with another end, and that one as a shape that nobody knows. */
async function askAgain(
  textTo: (end: string) => string,
  how?: AskOptions,
): Promise<readonly [first: Asked, second: Asked, later: Asked, laterFirst: Asked]> {
  const shape = newShape();
  const [early, late] = [textTo(FIVE), textTo(SIX)].map((text) => `${shape}${text}`) as [
    string,
    string,
  ];
  const first = await ask(early, how);
  const second = await ask(early, how);
  const later = await ask(late, how);
  return [first, second, later, await ask(`${newShape()}${textTo(SIX)}`, how)];
}

const FIVE = "'1970-01-01T00:05:00Z'";
const SIX = "'1970-01-01T00:06:00Z'";

const WINDOWS = (calls: string, rest = '') => {
  return (end: string): string =>
    `SELECT ${calls} FROM m WHERE time >= '1970-01-01T00:00:10Z' AND time < ${end} ${rest}`;
};

test.each([
  ['windows of a series', WINDOWS('max(f)', `AND t = 'a' GROUP BY time(1m)`)],
  ['several calls of several types', WINDOWS('max(f), sum(i), last(s), first(b)')],
  ['mathematics', WINDOWS('mean(f) * 2 - min(i) AS "d\\"x"', 'GROUP BY time(30s)')],
  ['a point with its time', WINDOWS('last(s)')],
  ['windows without points, filled', WINDOWS('count(f)', 'GROUP BY time(7s, 2s) fill(7)')],
  ['interpolated ones', WINDOWS('mean(f)', 'AND i > 100 GROUP BY time(1s) fill(linear)')],
  ['from the end, limited', WINDOWS('max(i)', 'GROUP BY time(20s) ORDER BY time DESC LIMIT 3')],
  ['nothing', WINDOWS('max(f)', `AND t = 'none' GROUP BY time(1m)`)],
  ['the first rows', WINDOWS('f, i, t, b', 'LIMIT 10')],
  ['the last ones, behind others', WINDOWS('f * 2', 'ORDER BY time DESC LIMIT 10 OFFSET 3')],
  ['rows that a field is compared in', WINDOWS('i', 'AND f > 20 LIMIT 10')],
  ['rows that a condition is calculated for', WINDOWS('f', 'AND f + i > 9 LIMIT 10')],
  [
    'rows behind others that have only what a condition reads',
    (end: string) => `SELECT g FROM gaps WHERE time < ${end} AND f + 1 > 9 LIMIT 4 OFFSET 3`,
  ],
  ['windows of such rows', WINDOWS('max(f)', 'AND f + i > 9 GROUP BY time(1m)')],
  ['no rows', WINDOWS('f', `AND t = 'none' LIMIT 10`)],
])('%s: the thread writes what would be written here', async (_name, text) => {
  for (const format of [{}, { epoch: 'ms' }, { chunkRows: 400 }] as const) {
    const answers = await askAgain(text, { format });
    const [first, second, later, laterFirst] = answers;

    expect(answers.map(({ isText }) => isText)).toEqual([false, true, true, false]);
    expect([second.json, later.json]).toEqual([first.json, laterFirst.json]);
    expect(first.json).not.toContain('error');
  }
});

test.each([
  ['a tag', (value: string) => `t = ${value}`],
  ['anything but it', (value: string) => `t != ${value}`],
  ['a tag that no series has', (value: string) => `nowhere = ${value}`],
  ['one of several', (value: string) => `(t = 'a' OR t = ${value} OR t = 'b')`],
  ['the same twice', (value: string) => `(t = ${value} OR t = ${value})`],
  ['a field', (value: string) => `s = ${value}`],
  ['a field or a tag', (value: string) => `(s = ${value} OR t = ${value})`],
  ['a field that is no text', (value: string) => `(f = ${value} OR i > 300)`],
  ['one that matches', (value: string) => `t =~ /^${value.slice(1, -1)}$/`],
  ['a field that does not match', (value: string) => `s !~ /${value.slice(1, -1)}/`],
  ['what is matched here', (value: string) => `(t =~ /${value.slice(1, -1)}/ OR f + i > 500)`],
  ['what is compared here', (value: string) => `(t = ${value} OR f + i > 500)`],
])(
  'answers for %s with other values are the same as without a cached plan',
  async (_name, where) => {
    const text = (value: string): string =>
      WINDOWS('count(f), last(s)', `AND ${where(value)} GROUP BY time(1m)`)(FIVE);
    const shape = newShape();
    const values = ["'a'", `'ü"'`, "''", "'x\\\\\"7'", `'x"80'`, "'2026-01-02'", "'none'", "'a'"];
    for (const value of values) {
      const known = await ask(`${shape}${text(value)}`);
      const fresh = await ask(`${newShape()}${text(value)}`);
      expect(known.json, value).toBe(fresh.json);
      expect(fresh.isText).toBe(false);
      expect(known.json).not.toContain('error');
    }
  },
);

test('only the first of a shape with other values is made here', async () => {
  const text = (value: string): string => {
    return WINDOWS('max(f)', `AND (t = '${value}' OR t = 'none')`)(FIVE);
  };
  const shape = newShape();
  const answers = [];
  for (const value of ['a', `ü"`, 'b']) answers.push(await ask(`${shape}${text(value)}`));

  expect(answers.map(({ isText }) => isText)).toEqual([false, true, true]);
  expect(new Set(answers.map(({ json }) => json)).size).toBe(3);
});

test.each([
  ['groups by tags', WINDOWS('max(f)', 'GROUP BY t')],
  ['rows', WINDOWS('f')],
  ['many rows', WINDOWS('f', 'LIMIT 100000')],
  ['rows of texts', WINDOWS('s, f', 'LIMIT 10')],
  ['one row with other columns', WINDOWS('max(f), t')],
  ['rows of groups', WINDOWS('f', 'GROUP BY t LIMIT 10')],
  ['rows of a zone', WINDOWS('f', `LIMIT 10 tz('Europe/Berlin')`)],
  ['calculations', WINDOWS('derivative(max(f), 1s)', 'GROUP BY time(1m)')],
  ['a time zone', WINDOWS('max(f)', `GROUP BY time(1m) tz('Europe/Berlin')`)],
  ['very many windows', WINDOWS('max(f)', 'GROUP BY time(10ms)')],
  ['a subquery', WINDOWS('max(x) FROM (SELECT f AS x FROM m) WHERE f > 0 OR f < 0 --')],
])('%s: the answer is made here', async (_name, text) => {
  const answers = await askAgain(text);

  expect(answers.map(({ isText }) => isText)).toEqual([false, false, false, false]);
});

test.each<[string, AskOptions & { text?: (end: string) => string }]>([
  ['more windows than fit into a chunk', { format: { chunkRows: 4 } }],
  ['more rows than fit into a chunk', { format: { chunkRows: 2 }, text: WINDOWS('f', 'LIMIT 3') }],
  ['a limit of rows', { format: { maxRows: 2 } }],
  ['CSV', { format: { encoding: 'csv' } }],
  ['nobody to tell of what is missing', { onPartial: undefined }],
])('%s: the answer is made here', async (_name, { text, ...how }) => {
  const answers = await askAgain(text ?? WINDOWS('min(f)', 'GROUP BY time(1m)'), how);

  expect(answers.map(({ isText }) => isText)).toEqual([false, false, false, false]);
});

test('a number that JSON lacks, and a limit, are the same errors', async () => {
  const [infinite, again] = await askAgain(WINDOWS(`max(f) * ${'9'.repeat(308)}.0`));
  const limits = { ...DEFAULT_QUERY_LIMITS, maxSelectBuckets: 3 };
  const [limited, limitedAgain] = await askAgain(WINDOWS('max(f)', 'GROUP BY time(3s)'), {
    limits,
  });

  expect(infinite.json).toContain('unsupported value: +Inf');
  expect(again).toEqual({ json: infinite.json, isText: false });
  expect(limited.json).toContain('max-select-buckets limit exceeded');
  expect(limitedAgain.json).toBe(limited.json);
});

test('more rows than others should wait for are merged here', async () => {
  const lines = Array.from({ length: 40_000 }, (_, i) => `crowd,t=${i} f=${i} 60000000000\n`);
  await write(engine, lines.join(''));
  const text = (end: string): string =>
    WINDOWS('f', 'LIMIT 10')(end).replace('FROM m', 'FROM crowd');
  const [first, ...others] = await askAgain(text);

  expect(JSON.parse(first.json).results[0].series[0].values).toHaveLength(10);
  expect(others).toEqual(others.map(() => ({ json: first.json, isText: false })));
});

test('a query that is ended while the thread answers holds nothing there', async () => {
  // More than is read in one turn.
  const lines = Array.from({ length: 3000 }, (_, i) => `n,t=${i} f=${i} ${i}000000\n`);
  await write(engine, lines.join(''));
  const text = WINDOWS('max(f)')(FIVE).replace('FROM m', 'FROM n').replace(':10Z', ':00Z');
  await ask(text);
  const whole = await ask(text);
  const abort = new AbortController();
  const answer = ask(text, { signal: abort.signal });
  abort.abort(new Cancelled('enough'));

  expect(JSON.parse((await answer).json).results[0].error).toBe('enough');
  expect(await ask(text)).toEqual({ json: whole.json, isText: true });
  await vi.waitFor(async () => {
    expect((await engine.statistics()).counters['openSnapshots']).toBe(0);
  });
});
