// Damaged metadata: the engine starts, says what is lost, and the rest works as before.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { resolveEngineConfig } from '../config/config.ts';
import { startEngine } from '../start-engine.ts';
import type { EngineService } from '../engine-service.ts';

const TASKS = 120;
const PAGE = 4096;
const none = (): void => {};

/** How a task stands in the file: its beginning, which is no other's. */
async function storedText(task: string): Promise<string> {
  const root = open({ path: file, noSubdir: true, maxDbs: 32, readOnly: true });
  const text = root.openDB<string, string>({ name: 'tasks', encoding: 'string' }).get(task);
  await root.close();
  rmSync(`${file}-lock`, { force: true });
  return text?.slice(0, 200) ?? '';
}

let directory = '';
let file = '';
let engine: EngineService | undefined;
let errors: string[] = [];

/** Where the sound store is that each test begins with a copy of. */
let sound = '';

beforeAll(async () => {
  sound = mkdtempSync(join(tmpdir(), 'engine-sound-'));
  directory = sound;
  await start();
  for (let i = 0; i < TASKS; i++) await define(id(i));
  await close();
});

afterAll(() => rmSync(sound, { recursive: true, force: true }));

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'engine-repair-'));
  cpSync(sound, directory, { recursive: true });
  file = join(directory, 'engine.mdb');
});

afterEach(async () => {
  await close();
  rmSync(directory, { recursive: true, force: true });
});

const id = (i: number): string => `task-${String(i).padStart(3, '0')}`;

async function start(): Promise<void> {
  errors = [];
  const { config } = resolveEngineConfig([
    {
      source: 'test',
      values: {
        data_dir: directory,
        stats: { enabled: false },
        task: { hosts: '0' },
        http: { 'bind-address': '127.0.0.1:0' },
      },
    },
  ]);
  const error = (fields: object, message: string): void => {
    errors.push(`${message} ${JSON.stringify(fields)}`);
  };
  engine = await startEngine(config, { log: { debug: none, info: none, warn: none, error } });
}

async function close(): Promise<void> {
  await engine?.close();
  engine = undefined;
}

async function define(task: string): Promise<void> {
  const script = `// ${'long '.repeat(60)}\nstream|from().measurement('m')|httpOut('out')`;
  const response = await fetch(`${engine?.url}/engine/v1/tasks`, {
    method: 'POST',
    body: JSON.stringify({ id: task, dbrps: [{ db: 'd', rp: 'r' }], script, status: 'enabled' }),
  });
  expect(response.status, await response.text()).toBe(200);
}

async function tasks(): Promise<readonly { readonly id: string; readonly executing: boolean }[]> {
  const path = '/engine/v1/tasks?limit=1000&fields=id&fields=executing';
  const { tasks: list } = (await (await fetch(`${engine?.url}${path}`)).json()) as any;
  return list;
}

/**
 * Starts with the damage, checks what always holds, and gives the number of tasks that are left.
 */
async function startDamaged(): Promise<number> {
  await start();
  const left = await tasks();
  expect(left.every(({ executing }) => executing)).toBe(true);
  expect(errors[0]).toContain('metadata is damaged; the readable part is kept');
  expect(readdirSync(directory)).toContain('engine.mdb.damaged-1');
  await define('new');

  await close();
  await start();
  expect(errors).toEqual([]);
  expect((await tasks()).length).toBe(left.length + 1);
  return left.length;
}

// Engines are started on damaged files in other processes, which is slow on a busy machine.
const TIMEOUT = { timeout: 120_000 };

test('a sound file is left alone', TIMEOUT, async () => {
  await start();

  expect(errors).toEqual([]);
  expect((await tasks()).length).toBe(TASKS);
  expect(readdirSync(directory).filter((name) => name.includes('damaged'))).toEqual([]);
});

test('one task whose text is damaged is lost and said to be, all others run', TIMEOUT, async () => {
  // Every place: older copies of the page are still in the file.
  const needle = await storedText(id(7));
  const bytes = readFileSync(file);
  for (let at = 0; (at = bytes.indexOf(needle, at)) >= 0; at++) bytes[at + 100] = 0x21;
  writeFileSync(file, bytes);

  expect(await startDamaged()).toBe(TASKS - 1);
});

test('entries before and after a page of zeros are kept', TIMEOUT, async () => {
  const bytes = readFileSync(file);
  const pages = new Set<number>();
  const needle = await storedText(id(60));
  for (let at = 0; (at = bytes.indexOf(needle, at)) >= 0; at++) pages.add(Math.floor(at / PAGE));
  for (const page of pages) bytes.fill(0, page * PAGE, (page + 1) * PAGE);
  writeFileSync(file, bytes);

  await start();
  const lost = errors.find((line) => line.startsWith('entries of tasks are lost')) ?? '';
  const left = (await tasks()).map((task) => task.id);

  expect(left).not.toContain(id(60));
  expect(left).toEqual(expect.arrayContaining([id(0), id(TASKS - 1)]));
  expect(lost).toContain(`"kept":${left.length},"lost":${TASKS - left.length}`);
  expect(left.length).toBeGreaterThan(TASKS - 30);
});
