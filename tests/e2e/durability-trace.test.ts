// The system calls of the real executable: the log is on disk before a write is acknowledged.
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

const directories: string[] = [];
afterEach(async () => {
  for (const directory of directories.splice(0)) await removeDirectory(directory);
});

/** Lines of a trace of a service that got some writes, one after the other. */
async function traceWrites(environment: Readonly<Record<string, string>>): Promise<string[]> {
  const directory = await makeDirectory();
  directories.push(directory);
  const trace = join(directory, 'trace');
  const child = spawn(
    'strace',
    // -D: the process that was started is the service itself, so that it gets the signal.
    ['-D', '-f', '-s', '32', '-e', 'trace=read,fdatasync,fsync,write,writev', '-o', trace].concat(
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
    for (let i = 0; i < WRITES; i++) await write(url, 'd', `m f=${i} ${i}`);
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
  /\bfdatasync\(\d+\)\s+= 0$/.test(line) || /fdatasync resumed>\)\s+= 0$/.test(line);

describe.skipIf(!hasPrograms('strace'))('a trace of system calls', () => {
  test('shows that the log is synced between a write and its 204', async () => {
    const spans = betweenRequestAndAnswer(await traceWrites({}));
    expect(spans).toHaveLength(WRITES);
    for (const span of spans) {
      expect(span.findIndex(isSyncStarted)).toBeGreaterThanOrEqual(0);
      expect(span.findLastIndex(isSyncDone)).toBeGreaterThanOrEqual(span.findIndex(isSyncStarted));
    }
  }, 60_000);

  test('shows none when the operator has chosen to sync later, so that the above can fail', async () => {
    const spans = betweenRequestAndAnswer(
      await traceWrites({ TIDEMARK_DATA_WAL_FSYNC_DELAY: '1h' }),
    );
    expect(spans).toHaveLength(WRITES);
    // Other files may be synced meanwhile: after the start, and with the first write.
    expect(spans.filter((span) => span.some(isSyncDone)).length).toBeLessThan(WRITES);
  }, 60_000);
});
