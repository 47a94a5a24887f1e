// The wall clock goes backwards, during a run and between two runs.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import {
  hasPrograms,
  makeDirectory,
  query,
  removeDirectory,
  startTidemark,
  write,
} from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterEach, describe, expect, test } from 'vitest';

let directory = '';
let server: Tidemark | undefined;

afterEach(async () => {
  await server?.kill();
  server = undefined;
  await removeDirectory(directory);
});

describe.skipIf(!hasPrograms('faketime'))('a clock that goes back', () => {
  test('loses and refuses nothing: writes without a time, queries, retention, kill and restart', async () => {
    directory = await makeDirectory();
    const preload = execFileSync('faketime', ['-f', '+0d', 'printenv', 'LD_PRELOAD'], {
      encoding: 'utf8',
    }).trim();
    const clockFile = join(directory, 'clock');
    const setClock = (offset: string): void => writeFileSync(clockFile, `${offset}\n`);
    const start = (): Promise<Tidemark> =>
      startTidemark({
        command: 'tsdb',
        directory: join(directory, 'data'),
        args: ['--monitor-store-interval', '1s', '--retention-check-interval', '1s'],
        environment: {
          // The library alone: the program of that name stays the parent of what it starts.
          LD_PRELOAD: preload,
          FAKETIME_TIMESTAMP_FILE: clockFile,
          FAKETIME_NO_CACHE: '1',
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
        },
      });
    const times = async (): Promise<number[]> => {
      const [series] = await query(server?.tsdb ?? '', 'SELECT f FROM m', 'd');
      return (series?.values ?? []).map(([time]) => Date.parse(String(time)));
    };
    setClock('+0d');
    server = await start();
    // Two hours are kept, in shards of one hour.
    await query(server.tsdb, 'CREATE DATABASE d WITH DURATION 2h SHARD DURATION 1h NAME r');
    await write(server.tsdb, 'd', 'm,t=a f=1');

    setClock('-5d');
    await write(server.tsdb, 'd', 'm,t=b f=2');
    const during = await times();
    await server.kill();
    server = await start();
    await write(server.tsdb, 'd', 'm,t=c f=3');
    const after = await times();
    const recent = await query(
      server.tsdb,
      "SELECT f FROM m WHERE time > now() - 1h AND t = 'c'",
      'd',
    );
    setClock('+0d');
    await write(server.tsdb, 'd', 'm,t=d f=4');
    await query(server.tsdb, 'SHOW STATS');

    const day = 86_400_000;
    expect(during).toHaveLength(2);
    expect(during[1]! - during[0]!).toBeGreaterThan(4.9 * day);
    expect(after).toHaveLength(3);
    expect(recent[0]?.values).toHaveLength(1);
    expect((await times()).at(-1)! - Date.now()).toBeLessThan(day);
    expect(server.process.exitCode).toBeNull();
  }, 60_000);
});
