// Prometheus itself: samples it scrapes arrive by remote write, and it reads other clients' points
// by remote read.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import {
  eventually,
  freePort,
  hasPrograms,
  makeDirectory,
  query,
  removeDirectory,
  startTidemark,
  write,
} from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

describe.skipIf(!hasPrograms('prometheus'))('prometheus', () => {
  let server: Tidemark;
  let url: string;
  const cleanups: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    const directory = await makeDirectory();
    cleanups.push(() => removeDirectory(directory));
    server = await startTidemark({ command: 'tsdb', directory: join(directory, 'data') });
    cleanups.push(() => server.stop());
    await query(server.tsdb, 'CREATE DATABASE prom');
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const settings = join(directory, 'prometheus.yml');
    await writeFile(
      settings,
      `global: {scrape_interval: 1s}
scrape_configs:
  - job_name: itself
    static_configs: [{targets: ['127.0.0.1:${port}']}]
remote_write:
  - url: '${server.tsdb}/api/v1/prom/write?db=prom'
    queue_config: {batch_send_deadline: 1s}
remote_read:
  - url: '${server.tsdb}/api/v1/prom/read?db=prom'
    read_recent: true
`,
    );
    const prometheus = spawn(
      'prometheus',
      [
        `--config.file=${settings}`,
        `--storage.tsdb.path=${join(directory, 'prometheus')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: 'ignore' },
    );
    const ended = once(prometheus, 'exit');
    cleanups.push(async () => {
      prometheus.kill('SIGTERM');
      await ended;
    });
    await eventually(
      'prometheus',
      async () => (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok === true || undefined,
      30_000,
    );
  });

  afterAll(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup();
  });

  test('scraped samples arrive with their labels', async () => {
    const series = await eventually('a scrape', async () => {
      const found = await query(server.tsdb, 'SELECT value FROM up GROUP BY job, instance', 'prom');
      return found[0];
    });
    expect(series.tags).toEqual({ instance: url.slice('http://'.length), job: 'itself' });
    expect(series.values?.at(-1)?.[1]).toBe(1);
  }, 30_000);

  test('it reads what others have written', async () => {
    const now = BigInt(Date.now()) * 1_000_000n;
    await write(
      server.tsdb,
      'prom',
      [
        `written_elsewhere,__name__=written_elsewhere,room=kitchen value=42 ${now}`,
        `written_elsewhere,__name__=written_elsewhere,room=bath value=7 ${now}`,
      ].join('\n'),
    );
    const search = new URLSearchParams({ query: 'written_elsewhere{room="kitchen"}' });
    const response = await fetch(`${url}/api/v1/query?${search.toString()}`);
    const answer = (await response.json()) as {
      data: { result: { metric: Record<string, string>; value: [number, string] }[] };
    };
    expect(answer.data.result).toHaveLength(1);
    expect(answer.data.result[0]?.metric).toEqual({
      __name__: 'written_elsewhere',
      room: 'kitchen',
    });
    expect(answer.data.result[0]?.value[1]).toBe('42');
  });
});
