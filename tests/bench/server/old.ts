// A database that has grown old: five years of hourly rows in 261 weekly shards, loaded in time
// order, and what statements about all of it cost once the server is at rest; then 50,000 series
// with a tag of 2 kB, of which statements want few. With influxd installed everything runs there
// too, in turns. Runs the built executable. packages/cli/bin/node --conditions=source
// tests/bench/server/old.ts
import { readdirSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

import { query, write } from '@tidemark/testkit';

import { DATABASE, withSubjects } from './beside-influxdb.ts';
import type { Subject } from './beside-influxdb.ts';
import { each, note, rest, show, showNames, sizeMb } from './figures.ts';
import { memoryMiB, processorMs } from './processor.ts';

const WEEKS = 261;
const HOURS_PER_WEEK = 168;
const HOSTS = 40;
const HOUR_SECONDS = 3600;
const END_SECONDS = 1_700_000_000;
const LONG_SERIES = 50_000;
const LONG_TAG_BYTES = 2000;
const LONG_PER_BODY = 1000;
/** Enough that steps of ten milliseconds of CPU do not matter. */
const REPEATS = 20;
/** Files that were not read for a minute are closed. */
const UNUSED_MS = 61_000;

const OF_HISTORY: readonly string[] = [
  'SELECT count(v) FROM h',
  "SELECT last(v) FROM h WHERE host = 'h7'",
  "SELECT mean(v) FROM h WHERE host = 'h7' GROUP BY time(30d)",
];
const OF_LONG_TAGS: readonly string[] = [
  'SELECT v, a FROM t LIMIT 10',
  'SELECT last(v) FROM t GROUP BY a LIMIT 1 SLIMIT 5',
];

await withSubjects(async (subjects) => {
  showNames(subjects);
  await measureHistory(subjects);
  await note(subjects, '50,000 series with a tag of 2 kB: load', loadLongTags);
  for (const subject of subjects) await rest(subject);
  await ask(subjects, OF_LONG_TAGS);
});

async function measureHistory(subjects: readonly Subject[]): Promise<void> {
  const before = subjects.map(({ pid }) => processorMs(pid));
  await note(subjects, 'history: load', loadHistory);
  for (const subject of subjects) await rest(subject);
  show(
    'history: load until at rest, CPU ms',
    subjects.map(({ pid }, i) => processorMs(pid) - before[i]!),
  );
  show('history: disk, MB', await each(subjects, ({ directory }) => sizeMb(directory)));
  await ask(subjects, OF_HISTORY);
  show('history: open files', await each(subjects, ({ pid }) => openFiles(pid)));
  await wait(UNUSED_MS);
  show('history: open files a minute later', await each(subjects, ({ pid }) => openFiles(pid)));
  show('history: RSS, MiB', await each(subjects, ({ pid }) => memoryMiB(pid, 'VmRSS')));
}

async function loadHistory({ url }: Subject): Promise<void> {
  for (let week = 0; week < WEEKS; week++) {
    const lines: string[] = [];
    const start = END_SECONDS - (WEEKS - week) * HOURS_PER_WEEK * HOUR_SECONDS;
    for (let hour = 0; hour < HOURS_PER_WEEK; hour++) {
      for (let host = 0; host < HOSTS; host++) {
        const value = ((hour * 37 + host * 11 + week) % 1000) / 8;
        lines.push(`h,host=h${host} v=${value} ${start + hour * HOUR_SECONDS}`);
      }
    }
    await write(url, DATABASE, lines.join('\n'), { precision: 's' });
  }
}

async function loadLongTags({ url }: Subject): Promise<void> {
  for (let first = 0; first < LONG_SERIES; first += LONG_PER_BODY) {
    const lines: string[] = [];
    for (let series = first; series < first + LONG_PER_BODY; series++) {
      const tag = String(series).padStart(LONG_TAG_BYTES, 'abcdefghij');
      lines.push(`t,a=${tag} v=${series % 100} ${END_SECONDS}`);
    }
    await write(url, DATABASE, lines.join('\n'), { precision: 's' });
  }
}

/** The first time, and then the mean of some. */
async function ask(subjects: readonly Subject[], statements: readonly string[]): Promise<void> {
  for (const statement of statements) {
    show(`${statement}, first ms`, await each(subjects, ({ url }) => timeOf(url, statement, 1)));
    const cpu: number[] = [];
    const times = await each(subjects, async ({ url, pid }) => {
      const before = processorMs(pid);
      const ms = await timeOf(url, statement, REPEATS);
      cpu.push((processorMs(pid) - before) / REPEATS);
      return ms;
    });
    show(`${statement}, ms`, times);
    show(`${statement}, CPU ms`, cpu);
  }
}

async function timeOf(url: string, statement: string, repeats: number): Promise<number> {
  const began = performance.now();
  for (let i = 0; i < repeats; i++) await query(url, statement, DATABASE);
  return (performance.now() - began) / repeats;
}

function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
