// The state that a program inherits from the process that starts it, and its fate when that process
// is killed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { eventually } from '@tidemark/testkit';
import { open } from 'lmdb';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startProgram } from './start-program.ts';

let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'start-program-'));
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true, force: true });
});

async function outputOf(script: string, environment?: Record<string, string>): Promise<string> {
  const program = startProgram('/bin/sh', ['-c', script], { environment });
  let text = '';
  program.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  // Some read none of it.
  program.stdin.on('error', () => undefined).end('input');
  await once(program, 'close');
  return text.trim();
}

test('a program gets what it needs to run, what it is given, and no more of the environment', async () => {
  vi.stubEnv('DATABASE_PASSWORD', 'secret');
  vi.stubEnv('TZ', 'Europe/Berlin');

  const names = (await outputOf('env', { GIVEN: 'x' }))
    .split('\n')
    .map((line) => line.split('=')[0]);

  expect(names).toEqual(expect.arrayContaining(['PATH', 'TZ', 'GIVEN']));
  expect(names).not.toContain('DATABASE_PASSWORD');
});

test.runIf(existsSync('/proc/self/fd'))(
  'a program gets no file that libraries of the service have open',
  async () => {
    const root = open({ path: join(directory, 'engine.mdb'), noSubdir: true });

    const files = await outputOf('ls -l /proc/self/fd; cat');
    await root.close();

    expect(files).toContain('input');
    expect(files).not.toContain('engine.mdb');
  },
);

test('a program that is not there is an error as such', async () => {
  const [error] = (await once(startProgram('/nowhere/at-all', []), 'error')) as [Error];

  expect(error.message).toContain('/nowhere/at-all ENOENT');
});

test.runIf(process.platform === 'linux')(
  'a program ends when the process that started it is killed',
  async () => {
    const source = `
      import { startProgram } from '${fileURLToPath(new URL('start-program.ts', import.meta.url))}';
      startProgram('/bin/sh', ['-c', 'echo $$; exec sleep 600']).stdout.pipe(process.stdout);
    `;
    const args = ['--input-type=module', '-e', source];
    const parent = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string];
    const isAlive = (): boolean => /^\d+ \(\w+\) [^Z]/.test(stateOf(line));
    expect(isAlive()).toBe(true);

    parent.kill('SIGKILL');

    await eventually('the end of the program', async () => (isAlive() ? undefined : true));
  },
);

/** The system's description of a process; empty without one. */
function stateOf(pid: string): string {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
