// Starts a real InfluxDB 1.6 of the distribution on free ports, for tests that compare with it or
// import from it.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { freePorts } from '@tidemark/process';

import { eventually } from './http.ts';
import { makeDirectory, removeDirectory } from './tidemark.ts';

export type Influxdb = {
  readonly url: string;
  readonly directory: string;
  readonly process: ChildProcess;
  stop(): Promise<void>;
};

const START_TIMEOUT_MS = 30_000;

/** Starts the server and waits until it answers. */
export async function startInfluxdb(
  settings: {
    readonly isAuthenticated?: boolean;
    /** The folder of an instance that has ended, to start it again. */
    readonly directory?: string | undefined;
  } = {},
): Promise<Influxdb> {
  const directory = settings.directory ?? (await makeDirectory());
  // The peer cannot choose ports itself.
  const [port, backupPort] = await freePorts(2);
  const file = join(directory, 'influxdb.conf');
  await writeFile(
    file,
    `reporting-disabled = true
bind-address = "127.0.0.1:${backupPort}"
[meta]
  dir = "${directory}/meta"
[data]
  dir = "${directory}/data"
  wal-dir = "${directory}/wal"
[monitor]
  store-enabled = false
[http]
  bind-address = "127.0.0.1:${port}"
  auth-enabled = ${settings.isAuthenticated === true}
  log-enabled = false
[subscriber]
  write-concurrency = 1
`,
  );
  const child = spawn('influxd', ['-config', file], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  await eventually(
    'InfluxDB',
    async () => (await fetch(`${url}/ping`).catch(() => undefined))?.ok === true || undefined,
    START_TIMEOUT_MS,
  );
  return {
    url,
    directory,
    process: child,
    stop: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      await removeDirectory(directory);
    },
  };
}
