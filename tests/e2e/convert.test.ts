// `tidemark config convert`: converts configurations of the old servers to a file that passes our
// own check.
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import {
  hasPrograms,
  makeDirectory,
  query,
  removeDirectory,
  startTidemark,
  write,
} from '@tidemark/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { runInProcess } from './in-process.ts';

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

    const converted = await runInProcess(['config', 'convert', oldFile, '--for', 'tsdb']);
    await writeFile(file, converted.stdout);

    expect(converted.status).toBe(0);
    expect(converted.stderr).toContain('data.wal-dir: the log is in the data directory\n');
    expect(converted.stderr).not.toContain('http.bind-address');
    expect(converted.stdout).not.toContain('/var/lib/influxdb');
    expect(await runInProcess(['config', 'check', file, '--for', 'tsdb'])).toMatchObject({
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
  [influxdb.subscriptions]
    telegraf = ["autogen"]
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

  const converted = await runInProcess(['config', 'convert', oldFile, '--for', 'engine']);
  await writeFile(file, converted.stdout);

  expect(converted.status).toBe(0);
  expect(converted.stderr).not.toContain('influxdb');
  expect(converted.stdout).toContain('timeout = 0\n');
  expect(converted.stdout).toContain('telegraf = [ "autogen" ]');
  expect(converted.stdout).toContain('[[tsdb]]');
  expect(converted.stdout).not.toContain('/var/lib');
  expect(converted.stdout).toContain('from = "tasks@example.org"');
  expect(await runInProcess(['config', 'check', file, '--for', 'engine'])).toMatchObject({
    status: 0,
    stderr: '',
  });
});

test('both files become one for `up`, which runs with it', async () => {
  const [influxdb, kapacitor] = [join(directory, 'influxdb.conf'), join(directory, 'k.conf')];
  await writeFile(influxdb, '[http]\n  bind-address = "127.0.0.1:0"\n  max-row-limit = 7\n');
  await writeFile(
    kapacitor,
    `[http]
  bind-address = "127.0.0.1:0"
[task]
[[influxdb]]
  default = true
  name = "old"
  urls = ["http://127.0.0.1:1"]
  timeout = 0
  startup-timeout = "0s"
  [influxdb.subscriptions]
    telegraf = ["autogen", "raw"]
[udf]
  [udf.functions.sum]
    prog = "/bin/true"
    timeout = "10s"
`,
  );

  const converted = await runInProcess(['config', 'convert', influxdb, kapacitor]);
  const file = join(directory, 'tidemark.toml');
  await writeFile(file, converted.stdout);

  expect(converted.status).toBe(0);
  expect(converted.stderr).toContain(
    'influxdb: tasks use the servers named there; without [[engine.tsdb]] they use the database of the same process\n',
  );
  expect(converted.stdout).toContain('# From influxdb.conf and k.conf, for `tidemark up');
  expect(await runInProcess(['config', 'check', file])).toMatchObject({ status: 0, stderr: '' });
  const server = await startTidemark({
    directory: join(directory, 'data'),
    args: ['--config', file],
  });
  const response = await fetch(`${server.engine}/engine/v1/config/tsdb/old`);
  const { options } = (await response.json()) as { options: Record<string, unknown> };
  expect(options).toMatchObject({
    subscriptions: { telegraf: 'autogen,raw' },
    timeout: '0s',
  });
  expect(await server.stop()).toBe(0);
}, 60_000);

test('a file of one service given to both is told where its sections belong', async () => {
  const file = join(directory, 'tsdb.toml');
  await writeFile(file, '[http]\nlog-enabled = true\n[coordinator]\n[nonsense]\n');

  const checked = await runInProcess(['config', 'check', file]);

  expect(checked.stderr).toContain(
    'http: belongs to one of the services: write [database.http] or',
  );
  expect(checked.stderr).toContain('coordinator: belongs to one of the services: write [database.');
  expect(checked.stderr).toContain('nonsense: unknown section; known are ui, database, engine');
  expect(await runInProcess(['config', 'check', file, '--for', 'tsdb'])).toMatchObject({
    stderr: expect.stringMatching(/nonsense: unknown section or key; known are meta, data, /),
  });
  const wrong = await runInProcess(['config', 'convert', file, '--for', 'engine']);
  expect(wrong).toMatchObject({ status: 2, stdout: '' });
  expect(wrong.stderr).toContain('is a configuration of influxdb');
});

test('resources that scripts and handlers name are listed, as comments unless they are allowed', async () => {
  const [load, more] = [join(directory, 'load'), join(directory, 'more')];
  await mkdir(join(load, 'tasks'), { recursive: true });
  await mkdir(more);
  const script = "stream|from()|sideload().source('file:///etc/side')|alert().exec('/bin/page')";
  await writeFile(join(load, 'tasks', 'a.tick'), script);
  await writeFile(join(more, 'h.yaml'), 'kind: log\noptions:\n  path: /var/log/a.log\n');
  const oldFile = join(directory, 'kapacitor.conf');
  await writeFile(oldFile, `hostname = "h"\n[load]\n  enabled = true\n  dir = "${load}"\n[task]\n`);
  const convert = ['config', 'convert', oldFile, '--scripts', more];

  const commented = await runInProcess(convert);
  const allowed = await runInProcess([...convert, '--for', 'engine', '--allow-found']);

  const lists = [
    'allowed-programs = ["/bin/page"]',
    'allowed-files = ["/etc/side", "/var/log/a.log"]',
  ];
  const comment = '# Named by scripts, and refused until this is no comment:\n# ';
  const lines = lists.map((line) => `${comment}${line}\n`).join('');
  expect(commented.stdout).toContain(`[engine.alert]\n${lines}`);
  expect(allowed.stdout).toContain(`[alert]\n${lists.join('\n')}\n`);
  for (const [text, command] of [
    [commented.stdout, 'up'],
    [allowed.stdout, 'engine'],
  ] as const) {
    const file = join(directory, `${command}.toml`);
    await writeFile(file, text);
    expect(await runInProcess(['config', 'check', file, '--for', command])).toMatchObject({
      status: 0,
      stderr: '',
    });
  }
});

test('scripts that cannot be read are told', async () => {
  const file = join(directory, 'kapacitor.conf');
  await writeFile(file, '[load]\n  enabled = true\n  dir = "/not/here"\n[task]\n');
  const { status, stderr } = await runInProcess(['config', 'convert', file]);
  expect([status, stderr]).toEqual([
    0,
    expect.stringContaining('/not/here: scripts cannot be read: ENOENT'),
  ]);
});
