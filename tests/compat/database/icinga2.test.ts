// A monitoring agent of the distribution delivers real metrics; a task over them raises an alert
// that the API shows.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import {
  eventually,
  hasPrograms,
  makeDirectory,
  query,
  removeDirectory,
  send,
  startTidemark,
} from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

// The daemon itself; the wrapper in the path changes user and reads the packaged configuration.
const ICINGA =
  (existsSync('/usr/lib') ? readdirSync('/usr/lib') : [])
    .map((name) => `/usr/lib/${name}/icinga2/sbin/icinga2`)
    .find((path) => existsSync(path)) ?? 'icinga2';

/**
 * Icinga with one host and the built-in check `random`, whose performance data its InfluxdbWriter
 * sends.
 */
function configuration(tsdb: string, directory: string): string {
  const { hostname, port } = new URL(tsdb);
  return `
const NodeName = "agent"
const ZoneName = "agent"
const PluginDir = "/nonexistent"
object Endpoint NodeName {}
object Zone ZoneName { endpoints = [ NodeName ] }
include <itl>
object CheckerComponent "checker" {}
object Host "web one" { check_command = "random"; check_interval = 1s; retry_interval = 1s; address = "127.0.0.1" }
object Service "load" { host_name = "web one"; check_command = "random"; check_interval = 1s; retry_interval = 1s }
object InfluxdbWriter "influxdb" {
  host = "${hostname}"
  port = ${port}
  database = "icinga2"
  flush_threshold = 4
  flush_interval = 1s
  host_template = { measurement = "$host.check_command$"; tags = { hostname = "$host.name$" } }
  service_template = { measurement = "$service.check_command$"; tags = { hostname = "$host.name$"; service = "$service.name$" } }
}
object FileLogger "main" { severity = "information"; path = "${directory}/icinga2.log" }
`;
}

const TASK = `stream
    |from()
        .database('icinga2')
        .measurement('random')
        .groupBy('hostname')
    |where(lambda: isPresent("value"))
    |alert()
        .id('{{ .Name }}/{{ index .Tags "hostname" }}')
        .message('{{ .ID }} is {{ .Level }}: {{ index .Fields "value" }}')
        .crit(lambda: "value" >= 0.0)
        .stateChangesOnly()
        .topic('agents')
`;

describe.skipIf(!hasPrograms('icinga2'))('icinga2 with its InfluxdbWriter', () => {
  let server: Tidemark;
  let directory: string;
  let icinga: ChildProcess;

  beforeAll(async () => {
    server = await startTidemark();
    directory = await makeDirectory();
    await query(server.tsdb, 'CREATE DATABASE icinga2');
    const defined = await send(`${server.engine}/engine/v1/tasks`, {
      method: 'POST',
      body: JSON.stringify({
        id: 'agents',
        type: 'stream',
        dbrps: [{ db: 'icinga2', rp: 'autogen' }],
        script: TASK,
        status: 'enabled',
      }),
    });
    expect(defined.status, defined.text).toBe(200);
    await eventually(
      'the subscription of the task engine',
      async () => {
        const shown = await query(server.tsdb, 'SHOW SUBSCRIPTIONS');
        return shown.some((series) => series.name === 'icinga2') ? true : undefined;
      },
      90_000,
    );
    for (const name of ['lib', 'run', 'cache', 'log', 'spool']) await mkdir(join(directory, name));
    await writeFile(join(directory, 'icinga2.conf'), configuration(server.tsdb, directory));
    const folders = {
      DataDir: 'lib',
      InitRunDir: 'run',
      CacheDir: 'cache',
      LogDir: 'log',
      ConfigDir: '.',
      SpoolDir: 'spool',
    };
    const defines = Object.entries(folders).map(
      ([name, folder]) => `-D${name}=${join(directory, folder)}`,
    );
    icinga = spawn(
      ICINGA,
      [
        'daemon',
        '-c',
        join(directory, 'icinga2.conf'),
        ...defines,
        '-DRunAsUser=root',
        '-DRunAsGroup=root',
      ],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      },
    );
  }, 120_000);

  afterAll(async () => {
    if (icinga.pid !== undefined && icinga.exitCode === null) {
      process.kill(-icinga.pid, 'SIGKILL');
      await once(icinga, 'exit');
    }
    await server.stop();
    await removeDirectory(server.directory);
    await removeDirectory(directory);
  });

  test('delivers its metrics over HTTP/1.0', async () => {
    const series = await eventually(
      'metrics in the database',
      async () => {
        const found = await query(
          server.tsdb,
          'SELECT count(value) FROM random GROUP BY hostname',
          'icinga2',
        );
        return found.length > 0 ? found : undefined;
      },
      60_000,
    );

    expect(series[0]?.tags).toEqual({ hostname: 'web one' });
    expect(Number(series[0]?.values?.[0]?.[1])).toBeGreaterThan(0);
  }, 90_000);

  test('feeds a task whose alert event is read through the API', async () => {
    const events = await eventually(
      'an alert event',
      async () => {
        const answer = await send(`${server.engine}/engine/v1preview/alerts/topics/agents/events`);
        if (answer.status !== 200) return undefined;
        const list = (
          JSON.parse(answer.text) as {
            events: { id: string; state: { level: string; message: string } }[];
          }
        ).events;
        return list.length > 0 ? list : undefined;
      },
      60_000,
    );

    expect(events[0]).toMatchObject({ id: 'random/web one', state: { level: 'CRITICAL' } });
    expect(events[0]?.state.message).toMatch(/^random\/web one is CRITICAL: \d/);
  }, 90_000);
});
