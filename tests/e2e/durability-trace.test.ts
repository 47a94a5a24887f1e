// The system calls of the real executable: the log is on disk before a write is acknowledged, also
// when writes of many clients become durable together.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import {
  EXECUTABLE,
  hasPrograms,
  makeDirectory,
  query,
  removeDirectory,
  write,
} from '@tidemark/testkit';
import { afterEach, describe, expect, test } from 'vitest';

const WRITES = 3;
const CLIENTS = 16;
const WRITES_EACH = 5;

const TRACED = 'trace=read,fdatasync,fsync,pwrite64,write,writev';

const directories: string[] = [];
afterEach(async () => {
  for (const directory of directories.splice(0)) await removeDirectory(directory);
});

/** Some writes, one after the other. */
async function oneByOne(url: string): Promise<void> {
  for (let i = 0; i < WRITES; i++) await write(url, 'd', `m f=${i} ${i}`);
}

/** Lines of a trace of a service that got writes. */
async function traceWrites(
  work: (url: string) => Promise<void>,
  environment: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const directory = await makeDirectory();
  directories.push(directory);
  const trace = join(directory, 'trace');
  const child = spawn(
    'strace',
    // -D: the process that was started is the service itself, so that it gets the signal.
    ['-D', '-f', '-s', '20000', '-e', TRACED, '-o', trace].concat(
      [EXECUTABLE, 'tsdb', '--data-dir', join(directory, 'data')],
      ['--bind', '127.0.0.1:0'],
    ),
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, TIDEMARK_MONITOR_STORE_ENABLED: 'false', ...environment },
    },
  );
  const exited = once(child, 'exit');
  try {
    let url = '';
    for await (const line of createInterface({ input: child.stdout })) {
      url = /tsdb=(\S+)/.exec(line)?.[1] ?? '';
      if (url !== '') break;
    }
    expect(url).not.toBe('');
    await query(url, 'CREATE DATABASE d');
    await work(url);
  } finally {
    child.kill('SIGTERM');
    await exited;
  }
  return (await readFile(trace, 'utf8')).split('\n');
}

/** System calls between the arrival of each write and its answer. */
function betweenRequestAndAnswer(lines: readonly string[]): string[][] {
  const found: string[][] = [];
  let current: string[] | undefined;
  for (const line of lines) {
    if (line.includes('"POST /write')) current = [];
    else if (current !== undefined && /writev?\(.*"HTTP\/1\.1 204/.test(line)) {
      found.push(current);
      current = undefined;
    } else current?.push(line);
  }
  return found;
}

const isSyncStarted = (line: string): boolean => /\bfdatasync\(\d+/.test(line);
const isSyncDone = (line: string): boolean =>
  /\bfdatasync\(\d+ ?\)\s+= 0$/.test(line) || /fdatasync resumed>\)\s+= 0$/.test(line);

/**
 * Writes whose answer left before a sync of the log ended that began when they were in it, and how
 * many answers left at all. Each write has a tag value of its own.
 */
function answersBeforeTheirSync(lines: readonly string[]): {
  readonly early: readonly string[];
  readonly answered: number;
} {
  /** The write that came over each socket last. */
  const requests = new Map<string, string>();
  const logged = new Set<string>();
  let log = '';
  /** What the sync of a thread makes durable. */
  const syncing = new Map<string, ReadonlySet<string>>();
  const durable = new Set<string>();
  const early: string[] = [];
  let answered = 0;
  for (const { thread, line, isResumed } of joinedCalls(lines)) {
    const request = /^read\((\d+), ".*m,c=(n\d+x\d+) /.exec(line);
    if (request !== null) requests.set(request[1]!, request[2]!);
    const [, file] = /^pwrite64\((\d+), .*,c=n\d+x\d+/.exec(line) ?? [];
    if (file !== undefined) {
      log = file;
      for (const [, name] of line.matchAll(/,c=(n\d+x\d+)/g)) logged.add(name!);
    }
    const [, synced] = /^fdatasync\((\d+)/.exec(line) ?? [];
    if (synced !== undefined && !isResumed) {
      syncing.set(thread, new Set(synced === log ? logged : []));
    }
    if (isSyncDone(line)) for (const name of syncing.get(thread) ?? []) durable.add(name);
    const [, socket] = /^writev?\((\d+), .*"HTTP\/1\.1 204/.exec(line) ?? [];
    const name = socket === undefined ? undefined : requests.get(socket);
    if (name === undefined) continue;
    answered++;
    if (!durable.has(name)) early.push(name);
    requests.delete(socket!);
  }
  return { early, answered };
}

/**
 * The calls of a trace. One that another thread interrupted is there twice: when it began, and as a
 * whole when it ended.
 */
function* joinedCalls(
  lines: readonly string[],
): Generator<{ readonly thread: string; readonly line: string; readonly isResumed: boolean }> {
  const begun = new Map<string, string>();
  for (const each of lines) {
    const [, thread = '', text = ''] = /^(\d+) +(.*)$/.exec(each) ?? [];
    const [, start] = /^(.*?) *<unfinished \.\.\.>$/.exec(text) ?? [];
    const [, end] = /^<\.\.\. \w+ resumed>(.*)$/.exec(text) ?? [];
    if (start !== undefined) begun.set(thread, start);
    const line = end === undefined ? (start ?? text) : `${begun.get(thread) ?? ''} ${end}`;
    // The answer of an interrupted write has left when it began.
    if (end === undefined || !/^(?:p?write)/.test(line)) {
      yield { thread, line, isResumed: end !== undefined };
    }
  }
}

/** Each client waits for its answer. */
async function manyAtOnce(url: string): Promise<void> {
  const client = async (number: number): Promise<void> => {
    for (let i = 0; i < WRITES_EACH; i++) {
      await write(url, 'd', `m,c=n${number}x${i} f=${i} ${i}`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
}

describe.skipIf(!hasPrograms('strace'))('a trace of system calls', () => {
  test('shows that the log is synced between a write and its 204', async () => {
    const spans = betweenRequestAndAnswer(await traceWrites(oneByOne));
    expect(spans).toHaveLength(WRITES);
    for (const span of spans) {
      expect(span.findIndex(isSyncStarted)).toBeGreaterThanOrEqual(0);
      expect(span.findLastIndex(isSyncDone)).toBeGreaterThanOrEqual(span.findIndex(isSyncStarted));
    }
  }, 60_000);

  test('shows that no answer leaves before a sync of its write, with many clients at once', async () => {
    const { early, answered } = answersBeforeTheirSync(await traceWrites(manyAtOnce));

    expect(answered).toBe(CLIENTS * WRITES_EACH);
    expect(early).toEqual([]);
  }, 60_000);

  test('shows none when the operator has chosen to sync later, so that the above can fail', async () => {
    const spans = betweenRequestAndAnswer(
      await traceWrites(oneByOne, { TIDEMARK_DATA_WAL_FSYNC_DELAY: '1h' }),
    );
    expect(spans).toHaveLength(WRITES);
    // Other files may be synced meanwhile: after the start, and with the first write.
    expect(spans.filter((span) => span.some(isSyncDone)).length).toBeLessThan(WRITES);
    const together = await traceWrites(manyAtOnce, { TIDEMARK_DATA_WAL_FSYNC_DELAY: '1h' });
    expect(answersBeforeTheirSync(together).early).not.toEqual([]);
  }, 60_000);
});
