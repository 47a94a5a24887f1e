// `tidemark config convert`: what old servers are configured with becomes a file that passes our own check.
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import {
  hasPrograms,
  makeDirectory,
  query,
  removeDirectory,
  runTidemark,
  startTidemark,
  write,
} from '@tidemark/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';

let directory: string;
beforeEach(async () => {
  directory = await makeDirectory();
});
afterEach(() => removeDirectory(directory));

test.skipIf(!hasPrograms('influxd'))(
  'the configuration that InfluxDB 1.6 prints runs the database',
  async () => {
    const old = execFileSync('influxd', ['config'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const changed = old
      .replace('bind-address = ":8086"', 'bind-address = "127.0.0.1:0"')
      .replace('max-row-limit = 0', 'max-row-limit = 7');
    const [oldFile, file] = [join(directory, 'influxdb.conf'), join(directory, 'tidemark.toml')];
    await writeFile(oldFile, changed);

    const converted = await runTidemark(['config', 'convert', oldFile]);
    await writeFile(file, converted.stdout);

    expect(converted.status).toBe(0);
    expect(converted.stderr).toContain('data.wal-dir: the log lies in the data directory\n');
    expect(converted.stderr).not.toContain('http.bind-address');
    expect(converted.stdout).not.toContain('/var/lib/influxdb');
    expect(await runTidemark(['config', 'check', file, '--for', 'tsdb'])).toMatchObject({
      status: 0,
    });
    const server = await startTidemark({
      command: 'tsdb',
      directory: join(directory, 'data'),
      args: ['--config', file],
    });
    await query(server.tsdb, 'CREATE DATABASE d');
    const lines = Array.from({ length: 10 }, (_, i) => `m f=${i} ${i}`);
    await write(server.tsdb, 'd', lines.join('\n'));
    const [series] = await query(server.tsdb, 'SELECT f FROM m', 'd');
    expect(series?.values).toHaveLength(7);
    expect(await server.stop()).toBe(0);
  },
  60_000,
);

test('a configuration of Kapacitor keeps what the engine knows', async () => {
  const [oldFile, file] = [join(directory, 'kapacitor.conf'), join(directory, 'tidemark.toml')];
  await writeFile(
    oldFile,
    `hostname = "tasks"
data_dir = "/var/lib/kapacitor"
[http]
  bind-address = "127.0.0.1:9092"
  auth-enabled = false
  log-enabled = true
[[influxdb]]
  enabled = true
  default = true
  name = "localhost"
  urls = ["http://localhost:8086"]
  timeout = 0
[smtp]
  enabled = true
  host = "localhost"
  port = 25
  from = "tasks@example.org"
  to = ["ops@example.org"]
[reporting]
  enabled = false
[udf]
[udf.functions]
`,
  );

  const converted = await runTidemark(['config', 'convert', oldFile]);
  await writeFile(file, converted.stdout);

  expect(converted.status).toBe(0);
  expect(converted.stderr).toContain('influxdb.timeout: 0 is not allowed; expected a duration');
  expect(converted.stdout).toContain('[[tsdb]]');
  expect(converted.stdout).not.toContain('/var/lib');
  expect(converted.stdout).toContain('from = "tasks@example.org"');
  expect(await runTidemark(['config', 'check', file, '--for', 'engine'])).toMatchObject({
    status: 0,
    stderr: '',
  });
});
