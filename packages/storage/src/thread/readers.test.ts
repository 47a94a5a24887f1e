// What a reader answers is the same to the last bit as what the storage thread answers, wherever
// the rows are; files stay until it has ended its reads.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { columnValue } from '@tidemark/core';
import { parseQuery } from '@tidemark/influxql';
import { eachBatch, executeSelect, zeroCounters } from '@tidemark/query';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { queryContext, testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';
import { inlineReaders } from '../testing/inline-readers.ts';
import type { InlineReaders } from '../testing/inline-readers.ts';
import { randomNumbers } from '../testing/simulated-disk.ts';

let readers: InlineReaders;
let own: TestEngine;

beforeEach(async () => {
  readers = inlineReaders();
  own = await testEngine({}, { readers: readers.make });
});

afterEach(() => own.dispose());

type Answer = {
  readonly series: unknown[];
  readonly counters: unknown;
  readonly isOfReader: boolean;
};

async function answerOf(text: string, signal?: AbortSignal): Promise<Answer> {
  const [select] = parseQuery(text).query.statements;
  if (select?.kind !== 'select') throw new Error(text);
  const snapshot = own.engine.source.snapshot();
  const counters = zeroCounters();
  const context = queryContext(own.engine, snapshot, signal ? { counters, signal } : { counters });
  const series: unknown[] = [];
  try {
    for await (const batch of eachBatch(executeSelect(select, context))) {
      const { tags, columns, rowCount, values } = batch;
      const rows = Array.from({ length: rowCount }, (_, row) =>
        values.map((column) =>
          column.type === 'time' || column.type === 'mixed'
            ? column.values[row]
            : columnValue(column, row),
        ),
      );
      series.push([tags, columns, rows]);
    }
  } finally {
    snapshot.close();
  }
  const { readerMs, ...others } = counters;
  return { series, counters: others, isOfReader: readerMs > 0 };
}

/** Compares both answers. Whether a reader has been asked at all. */
async function compared(text: string): Promise<boolean> {
  readers.rowsMin = Number.POSITIVE_INFINITY;
  const local = await answerOf(text);
  readers.rowsMin = 0;
  const { isOfReader, ...remote } = await answerOf(text);
  expect(isDeepStrictEqual({ ...remote, isOfReader: false }, local), text).toBe(true);
  return isOfReader;
}

const SECONDS = 1_000_000_000;

/** Rows whose floats have no exact sums, some of them out of order and twice. */
function lines(random: () => number, series: number, count: number): string {
  let text = '';
  for (let i = 0; i < count; i++) {
    const host = Math.floor(random() * series);
    const fields = [`f=${random() * 1000}`];
    if (random() < 0.6) fields.push(`i=${Math.floor(random() * 100)}i`);
    if (random() < 0.3) fields.push(`s="t${Math.floor(random() * 9)}"`);
    if (random() < 0.5) fields.push(`b=${random() < 0.5}`);
    const time = Math.floor(random() * 2000) * SECONDS;
    text += `m,host=h${host},dc=d${host % 3} ${fields.join(',')} ${time}\n`;
  }
  return text;
}

const WHERE = [
  '',
  ` WHERE time >= 300s AND time < 1500s`,
  ` WHERE dc != 'd1' AND f < 500 AND time > 100s AND time < 1900s`,
];
const LEASED = [
  'mean(f), max(i), count(s)',
  'count(f)',
  'percentile(f, 90)',
  'median(i)',
  'stddev(f), mode(i)',
  'distinct(s)',
  'top(f, 3)',
  'sum(f), spread(f), last(s), first(b)',
  'integral(f), count(distinct(i))',
];
const GROUPS = ['', ' GROUP BY host', ' GROUP BY dc, time(170s)', ' GROUP BY *'];

async function compareAll(isShort: boolean): Promise<number> {
  let leased = 0;
  for (const calls of isShort ? LEASED.slice(0, 2) : LEASED) {
    for (const where of WHERE) {
      for (const group of isShort ? GROUPS.slice(0, 3) : GROUPS) {
        const text = `SELECT ${calls} FROM m ${where}${group}`;
        const order = group === ' GROUP BY host' ? ' ORDER BY time DESC' : '';
        if (await compared(`${text}${order}`)) leased++;
      }
    }
  }
  return leased;
}

test.each([5, 1500])('answers are the same, with %d series', async (series) => {
  const random = randomNumbers(series);
  const writeSome = (count: number): Promise<unknown> =>
    write(own.engine, lines(random, series, count));
  await writeSome(6000);
  await own.engine.flush();
  await writeSome(3000);
  await own.engine.delete({
    database: 'db',
    timeRange: { start: 500_000_000_000n, end: 550_000_000_000n },
  });
  await own.engine.flush();
  await writeSome(2000);
  await writeSome(5);

  expect(await compareAll(series > 100)).toBeGreaterThan(10);
  await own.engine.compact();
  expect(await compareAll(series > 100)).toBeGreaterThan(10);
});

function segmentFiles(): string[] {
  const directory = join(own.directory, 'shards');
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.seg'));
}

async function twoSegments(): Promise<void> {
  for (const from of [0, 1000]) {
    const rows = Array.from({ length: 200 }, (_, i) => `m,host=a f=${i} ${from + i}\n`);
    await write(own.engine, rows.join(''));
    await own.engine.flush();
  }
}

test('files of a read stay until the reader has ended it, not until the query has', async () => {
  await twoSegments();
  const before = segmentFiles();
  const controller = new AbortController();
  readers.isHeld = true;
  const answer = answerOf('SELECT sum(f) FROM m', controller.signal);
  answer.catch(() => undefined);
  await new Promise(setImmediate);
  controller.abort();
  await expect(answer).rejects.toThrow('cancelled');
  await own.engine.compact();

  expect(segmentFiles()).toEqual(expect.arrayContaining(before));
  readers.isHeld = false;
  await expect.poll(segmentFiles).not.toEqual(expect.arrayContaining(before));
});

test('a reader that dies fails its queries, and holds no files; the next query starts another', async () => {
  await twoSegments();
  const before = segmentFiles();
  readers.isHeld = true;
  const answer = answerOf('SELECT sum(f) FROM m');
  answer.catch(() => undefined);
  await new Promise(setImmediate);
  await own.engine.compact();
  expect(segmentFiles()).toEqual(expect.arrayContaining(before));
  readers.kill();

  await expect(answer).rejects.toThrow('the reader of the query has ended');
  expect(segmentFiles()).not.toEqual(expect.arrayContaining(before));
  readers.isHeld = false;
  expect((await answerOf('SELECT sum(f) FROM m')).series).toEqual([
    expect.arrayContaining([[[0n, 39_800]]]),
  ]);
  expect(readers.started).toBe(2);
});
