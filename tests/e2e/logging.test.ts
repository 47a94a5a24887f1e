// Log targets and formats follow the sections `logging`, set by flags, the environment or a file.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import {
  eventually,
  EXECUTABLE,
  hasPrograms,
  makeDirectory,
  query,
  removeDirectory,
  runTidemark,
  startTidemark,
} from '@tidemark/testkit';
import type { StartOptions, Tidemark } from '@tidemark/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

let directory = '';
let server: Tidemark | undefined;
beforeEach(async () => {
  directory = await makeDirectory();
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
  await removeDirectory(directory);
});

const start = async (command: StartOptions['command'], ...args: string[]): Promise<Tidemark> => {
  server = await startTidemark({ command, directory: join(directory, 'data'), args });
  return server;
};

describe.each(['tsdb', 'engine'] as const)('of the service %s', (command) => {
  test('lines are JSON where nobody watches', async () => {
    const { errorOutput } = await start(command, '--log-level', 'debug');
    await server?.stop();

    const lines = errorOutput().trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object).at(-1)).toMatchObject({
      level: 'info',
      msg: 'stopping',
      signal: 'SIGTERM',
    });
  });

  test('logfmt', async () => {
    const { errorOutput } = await start(command, '--logging-format', 'logfmt');
    await server?.stop();

    expect(errorOutput()).toMatch(/^ts=\S+Z lvl=info msg=stopping signal=SIGTERM$/m);
  });

  test('a file, which is opened anew on SIGHUP, and nothing else anywhere', async () => {
    const file = join(directory, 'tidemark.log');
    const { errorOutput } = await start(command, '--logging-file', file);
    await rename(file, `${file}.1`);
    server?.process.kill('SIGHUP');
    await eventually('a new file', () => readFile(file, 'utf8').catch(() => undefined));
    await server?.stop();

    expect(await readFile(`${file}.1`, 'utf8')).toContain('"msg":"reloading"');
    expect(await readFile(file, 'utf8')).toContain('"msg":"stopping"');
    expect(errorOutput()).toBe('');
  });

  test('the level of the file holds, and that of the flag wins', async () => {
    const config = join(directory, 'c.toml');
    await writeFile(config, '[logging]\nlevel = "ERROR"\nformat = "text"\n');
    const quiet = await start(command, '--config', config);
    await quiet.stop();
    const loud = await start(command, '--config', config, '--log-level', 'info');
    await loud.stop();

    expect(quiet.errorOutput()).toBe('');
    expect(loud.errorOutput()).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d INFO {2}stopping {2}signal=/m,
    );
  });

  test('a file that cannot be written keeps the service from starting, with a sentence', async () => {
    const file = join(directory, 'nowhere', 'tidemark.log');

    const started = await runTidemark([command, '--logging-file', file]);

    expect(started).toMatchObject({ status: 2, stdout: '' });
    expect(started.stderr).toContain('the log cannot be written');
    expect(started.stderr).toContain('choose another file with logging.file');
  });
});

test('with `up` the flags are meant for both', async () => {
  const { errorOutput } = await start('up', '--logging-format', 'logfmt');
  await server?.stop();

  expect(errorOutput()).toMatch(/^ts=\S+ lvl=info msg=\S.* service=engine/m);
  expect(errorOutput()).toMatch(/^ts=\S+ lvl=info msg="listening; [^"]+" service=tsdb/m);
});

test('both services of one process log where each is told', async () => {
  const file = join(directory, 'engine.log');
  const { errorOutput, tsdb } = await start('up', '--engine-logging-file', file);
  await query(tsdb, 'CREATE DATABASE d');
  await server?.stop();

  const log = await readFile(file, 'utf8');
  expect(log).toContain('"service":"engine"');
  expect(log).not.toContain('"service":"tsdb"');
  expect(errorOutput()).toContain('"service":"tsdb"');
  expect(errorOutput()).not.toContain('"service":"engine"');
});

test.runIf(hasPrograms('script'))('on a terminal lines are text', async () => {
  const line = [EXECUTABLE, 'tsdb', '--data-dir', join(directory, 'data')];
  const command = [...line, '--bind', '127.0.0.1:0'].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['-qec', `exec ${command}`, '/dev/null'], { stdio: 'pipe' });
  const ended = once(child, 'close');
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text));
  await eventually('the ready line', async () => (shown.includes('ready ') ? true : undefined));
  child.stdin.write('\u0003');
  await ended;

  expect(shown).toMatch(/\d\d:\d\d:\d\d INFO {2}listening; storage is recovering {2}/);
  expect(shown).toMatch(/INFO {2}stopping {2}signal=SIGINT/);
});
