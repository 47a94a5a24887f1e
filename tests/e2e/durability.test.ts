// Acknowledged writes survive SIGKILL; a graceful stop loses nothing; a directory has one owner.
import { once } from 'node:events';

import {
  EXECUTABLE,
  makeDirectory,
  query,
  removeDirectory,
  run,
  send,
  startTidemark,
  write,
} from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterEach, expect, test } from 'vitest';

let running: Tidemark | undefined;
const directories: string[] = [];

afterEach(async () => {
  await running?.kill();
  running = undefined;
  for (const directory of directories.splice(0)) await removeDirectory(directory);
});

async function start(directory: string): Promise<Tidemark> {
  running = await startTidemark({ command: 'tsdb', directory });
  return running;
}

async function newDirectory(): Promise<string> {
  const directory = await makeDirectory();
  directories.push(directory);
  return directory;
}

/**
 * Writes batches one after the other until the server is gone; how many points were acknowledged.
 */
async function writeUntilKilled(server: Tidemark, firstPoint: number): Promise<number> {
  let acknowledged = firstPoint;
  for (;;) {
    const lines = Array.from(
      { length: 50 },
      (_, i) => `m,host=h${(acknowledged + i) % 7} f=${acknowledged + i}i ${acknowledged + i}`,
    );
    try {
      const answer = await send(`${server.tsdb}/write?db=d`, {
        method: 'POST',
        body: lines.join('\n'),
      });
      if (answer.status !== 204) throw new Error(answer.text);
    } catch {
      // The server was killed: nothing after this batch was acknowledged.
      return acknowledged;
    }
    acknowledged += lines.length;
  }
}

test('every acknowledged point survives kill -9 at random moments under load', async () => {
  const directory = await newDirectory();
  let server = await start(directory);
  await query(server.tsdb, 'CREATE DATABASE d');
  let acknowledged = 0;

  for (let round = 0; round < 5; round++) {
    const writing = writeUntilKilled(server, acknowledged);
    await new Promise((resolve) => setTimeout(resolve, 150 + Math.random() * 300));
    await server.kill();
    acknowledged = await writing;
    server = await start(directory);
    const [series] = await query(server.tsdb, 'SELECT count(f), max(f), sum(f) FROM m', 'd');
    const [, count, max] = (series?.values?.[0] ?? []) as number[];
    // A batch that was stored but whose answer was lost is allowed; a missing or invented point is
    // not.
    expect(count).toBeGreaterThanOrEqual(acknowledged);
    expect(count).toBeLessThanOrEqual(acknowledged + 50);
    expect(max).toBe((count ?? 0) - 1);
    acknowledged = count ?? 0;
  }
  expect(acknowledged).toBeGreaterThan(0);
}, 60_000);

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s ends with status 0 within ten seconds and loses nothing',
  async (signal) => {
    const directory = await newDirectory();
    let server = await start(directory);
    await query(server.tsdb, 'CREATE DATABASE d');
    await write(server.tsdb, 'd', 'm f=1,s="x" 1\nm f=2 2');

    const started = performance.now();
    const exited = once(server.process, 'exit');
    server.process.kill(signal);
    expect(await exited).toEqual([0, null]);
    expect(performance.now() - started).toBeLessThan(10_000);

    server = await start(directory);
    const [series] = await query(server.tsdb, 'SELECT * FROM m', 'd', { epoch: 'ns' });
    expect(series).toEqual({
      name: 'm',
      columns: ['time', 'f', 's'],
      values: [
        [1, 1, 'x'],
        [2, 2, null],
      ],
    });
  },
);

test('a second process on the same directory refuses to start and says why', async () => {
  const directory = await newDirectory();
  await start(directory);

  const second = await run(EXECUTABLE, ['tsdb', '--data-dir', directory, '--bind', '127.0.0.1:0']);

  expect(second.status).toBe(1);
  expect(second.stderr).toContain(directory);
  expect(second.stderr).toMatch(/in use/);
  expect(second.stderr).not.toMatch(/\n\s+at /);
});
