import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lockDirectory } from './directory-lock.ts';

const OPTIONS = { kind: 'test', ownerFile: 'owner.json' };

const PROGRAM = `
  import { lockDirectory } from ${JSON.stringify(new URL('directory-lock.ts', import.meta.url).href)};
  await lockDirectory(process.env.DIRECTORY, { kind: 'test', ownerFile: 'owner.json' });
  process.stdout.write('locked\\n');
  setInterval(() => {}, 1000);
`;

let parent = '';
let directory = '';
let child: ChildProcess | undefined;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'directory-lock-'));
  directory = join(parent, 'data');
  mkdirSync(directory);
});

afterEach(async () => {
  await killChild();
  rmSync(parent, { recursive: true, force: true });
});

async function lockInChild(): Promise<number> {
  const args = ['--conditions=source', '--input-type=module', '-e', PROGRAM];
  const started = spawn(process.execPath, args, {
    env: { ...process.env, DIRECTORY: directory },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child = started;
  for await (const _ of createInterface({ input: started.stdout })) return started.pid ?? 0;
  throw new Error('the process ended before it held the lock');
}

async function killChild(): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

test('a directory is held once, whatever path leads to it, until it is released', async () => {
  const lock = await lockDirectory(directory, OPTIONS);
  const link = join(parent, 'link');
  symlinkSync(directory, link);

  await expect(lockDirectory(link, OPTIONS)).rejects.toThrow(`data directory ${link} is in use`);
  await lock.release();
  await lock.release();
  const again = await lockDirectory(link, OPTIONS);
  await again.release();
});

test('the refusal names the process that holds it; a killed process holds nothing', async () => {
  const pid = await lockInChild();

  await expect(lockDirectory(directory, OPTIONS)).rejects.toThrow(
    `data directory ${directory} is in use by process ${pid}; stop it or choose another directory`,
  );
  await killChild();
  const lock = await lockDirectory(directory, OPTIONS);
  await lock.release();
});

test('owners of different kinds share a directory', async () => {
  const lock = await lockDirectory(directory, OPTIONS);
  const other = await lockDirectory(directory, { kind: 'other', ownerFile: 'other.json' });

  await other.release();
  await lock.release();
});

test('a directory that cannot be written to is not held afterwards', async () => {
  const options = { kind: 'test', ownerFile: 'absent/owner.json' };

  await expect(lockDirectory(directory, options)).rejects.toThrow('ENOENT');
  const lock = await lockDirectory(directory, OPTIONS);
  await lock.release();
});
