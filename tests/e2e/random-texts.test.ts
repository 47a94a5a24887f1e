// Random texts through every kind of statement: as InfluxDB answers, where it is installed, and the
// same from memory, from the log and from segments.
import { inspectDirectory } from '@tidemark/storage';
import {
  hasPrograms,
  query,
  removeDirectory,
  send,
  startInfluxdb,
  startTidemark,
  write,
} from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import * as fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';

import { toSegments } from './to-segments.ts';

const COUNT = 240;
/** `TEXT_SEEDS`: others, with commas. */
const SEEDS = (process.env['TEXT_SEEDS'] ?? '41,1234').split(',').map(Number);
const SERIES = 3;

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const MARKS = ['', ' ', '\uFEFF', '\uFEFFx', 'a\0b', '"', '\\', `'`, '<b>&', 'a,b', '\n', '\t'];
const WORDS = ['error', 'warn', 'info', 'é', '\u2028', '\uffff', '\u{10000}', '\u{10ffff}'];

/** Texts of all planes, marks, zeros, quotes, empty ones, a few long ones; many more than once. */
function randomTexts(seed: number): readonly string[] {
  const text = fc.oneof(
    { arbitrary: fc.string({ unit: 'binary', maxLength: 60 }), weight: 20 },
    { arbitrary: fc.constantFrom(...MARKS, ...WORDS), weight: 20 },
    { arbitrary: fc.nat(9).map((number) => `${number} `.padEnd(43_000, 'xé')), weight: 1 },
  );
  return fc.sample(text, { seed, numRuns: COUNT });
}

function linesOf(texts: readonly string[]): string {
  const lines = texts.map((text, i) => {
    // Series share their times, so that texts decide between rows.
    const time = Math.floor(i / SERIES) * 1_000_000_000;
    return `m,t=${i % SERIES} s="${text.replace(/["\\]/g, '\\$&')}" ${time}`;
  });
  return lines.join('\n');
}

const literal = (text: string): string =>
  `'${text.replace(/['\\]/g, '\\$&').replaceAll('\n', '\\n')}'`;

function statements(texts: readonly string[]): readonly string[] {
  // A literal with a zero is none.
  const random = texts.filter((text) => text.length > 20 && !text.includes('\0')).slice(0, 3);
  const sought = ['', 'error', '\uFEFF', 'é', '\u{10000}', '\\', `'`, '\n', ...random];
  return [
    'SELECT * FROM m',
    'SELECT s FROM m GROUP BY t',
    'SELECT s FROM m ORDER BY time DESC LIMIT 20',
    'SELECT s FROM m WHERE time >= 10s AND time < 20s',
    'SELECT distinct(s) FROM m',
    'SELECT count(distinct(s)) FROM m',
    'SELECT mode(s) FROM m',
    'SELECT count(s) FROM m WHERE time >= 0s AND time < 80s GROUP BY time(10s)',
    ...['first', 'last'].flatMap((name) => [
      `SELECT ${name}(s) FROM m`,
      `SELECT ${name}(s) FROM m WHERE time >= 0s AND time < 80s GROUP BY time(7s)`,
      `SELECT ${name}(s) FROM m GROUP BY t`,
    ]),
    ...sought.flatMap((text) => [
      `SELECT s FROM m WHERE s = ${literal(text)}`,
      `SELECT count(s) FROM m WHERE s != ${literal(text)}`,
    ]),
    ...['/^$/', '/é/', '/^[a-z]+$/', '/"|<b>/', '/xé.*x/'].flatMap((pattern) => [
      `SELECT count(s) FROM m WHERE s =~ ${pattern}`,
      `SELECT count(s) FROM m WHERE s !~ ${pattern}`,
    ]),
  ];
}

async function answersOf(url: string, texts: readonly string[]): Promise<string[]> {
  const answers: string[] = [];
  for (const statement of statements(texts)) {
    const series = await query(url, statement, 'd', { epoch: 'ns' });
    answers.push(`${statement}: ${JSON.stringify(series)}`);
  }
  return answers;
}

/** Shows the beginnings of answers that differ: whole ones are megabytes. */
function expectSame(answers: readonly string[], wanted: readonly string[]): void {
  const beginnings = (all: readonly string[], others: readonly string[]): string[] =>
    all.filter((answer, i) => answer !== others[i]).map((answer) => answer.slice(0, 300));
  expect(beginnings(answers, wanted)).toEqual(beginnings(wanted, answers));
}

/** The texts of the answer as CSV, in its order. */
async function csvOf({ tsdb }: Tidemark): Promise<string> {
  const parameters = new URLSearchParams({ db: 'd', q: 'SELECT s FROM m', epoch: 'ns' });
  const headers = { accept: 'application/csv' };
  return (await send(`${tsdb}/query?${parameters.toString()}`, { headers })).text;
}

/** How many chunks of the storage have texts in which encoding. */
async function encodings(directory: string): Promise<unknown> {
  const shards = await inspectDirectory({ directory });
  const segments = shards.flatMap((shard) => shard.segments);
  const columns = segments.flatMap(({ measurements }) => measurements.flatMap((m) => m.columns));
  return columns.find(({ name }) => name === 's')?.encodings;
}

test.each(SEEDS)(
  'random texts are answered as in InfluxDB, wherever they are: seed %i',
  async (seed) => {
    const texts = randomTexts(seed);
    let server = await startTidemark({ command: 'tsdb' });
    const { directory } = server;
    cleanups.push(() => removeDirectory(directory));
    cleanups.push(() => server.kill());
    await query(server.tsdb, 'CREATE DATABASE d');
    await write(server.tsdb, 'd', linesOf(texts));

    const fromMemory = await answersOf(server.tsdb, texts);
    const csv = await csvOf(server);
    const [rows] = await query(server.tsdb, 'SELECT s FROM m GROUP BY t', 'd', { epoch: 'ns' });
    const first = texts.filter((_, i) => i % SERIES === 0);
    expect(rows?.values?.every(([, text], i) => text === first[i])).toBe(true);
    for (const text of texts) {
      expect(csv.includes(text) || csv.includes(text.replaceAll('"', '""'))).toBe(true);
    }
    if (hasPrograms('influxd')) {
      const influxdb = await startInfluxdb();
      cleanups.push(() => influxdb.stop());
      await query(influxdb.url, 'CREATE DATABASE d');
      await write(influxdb.url, 'd', linesOf(texts));
      expectSame(fromMemory, await answersOf(influxdb.url, texts));
    }

    await server.kill();
    server = await startTidemark({ command: 'tsdb', directory });
    expectSame(await answersOf(server.tsdb, texts), fromMemory);
    await server.stop();
    expect(await encodings(await toSegments(directory))).toEqual({ frames: SERIES });
    server = await startTidemark({ command: 'tsdb', directory });
    expectSame(await answersOf(server.tsdb, texts), fromMemory);
    expect(await csvOf(server)).toBe(csv);
  },
);
