// Missing or truncated metadata: the engine does not start as if nothing had been defined, unless
// `start-empty` is set.
import {
  copyFileSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { TestEngine } from '@tidemark/testkit/engine';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

const PAGE = 4096;
const START_TIMEOUT_MS = 60_000;

let engine: TestEngine;
let file: string;
/** A copy of the sound file. */
let sound: string;
/** Behind it the file has only room for later writes. */
let usedBytes: number;

beforeAll(async () => {
  engine = new TestEngine();
  await engine.start();
  for (let i = 0; i < 40; i++)
    expect(
      (await engine.startTask(`task${i}`, `stream|from()|httpOut('${'x'.repeat(500)}')`)).status,
    ).toBe(200);
  await engine.stop();
  file = join(engine.directory, 'engine.mdb');
  sound = join(engine.directory, 'sound');
  copyFileSync(file, sound);
  usedBytes = PAGE * Math.ceil(readFileSync(file).findLastIndex((byte) => byte !== 0) / PAGE);
}, START_TIMEOUT_MS);
afterAll(() => engine.close());

beforeEach(() => {
  for (const name of readdirSync(engine.directory))
    if (name.startsWith('engine.mdb')) rmSync(join(engine.directory, name));
  copyFileSync(sound, file);
});

const taskCount = async (): Promise<number> =>
  (await engine.call('GET', '/engine/v1/tasks')).json.tasks.length;

/** The engine refuses, and then starts with nothing when it is told to. */
async function startsOnlyEmpty(reason: RegExp): Promise<void> {
  const before = readFileSync(file);
  const refusal = engine.start();
  await expect(refusal).rejects.toThrow(reason);
  await expect(refusal).rejects.toThrow(file);
  await expect(refusal).rejects.toThrow(/backup.*--start-empty true/);
  expect(readFileSync(file).equals(before)).toBe(true);

  await engine.start({ 'start-empty': true });
  expect(await taskCount()).toBe(0);
  expect(readFileSync(`${file}.damaged-1`).equals(before)).toBe(true);
  await engine.startTask('new', 'stream|from()');
  await engine.stop();
  // An undamaged store stays, whatever the option says.
  await engine.start({ 'start-empty': true });
  expect(await taskCount()).toBe(1);
  await engine.stop();
  await engine.start();
  expect(await taskCount()).toBe(1);
  await engine.stop();
}

const CUTS: readonly (readonly [string, () => number])[] = [
  ['to nothing', () => 0],
  ['within its first page', () => 100],
  ['to its first page', () => PAGE],
  ['to its first two pages', () => 2 * PAGE],
  ['to a half', () => PAGE * Math.floor(usedBytes / PAGE / 2)],
  ['by one page that is used', () => usedBytes - PAGE],
  ['by one byte that is used', () => usedBytes - 1],
];
test.each(CUTS)('a file that was cut %s', { timeout: START_TIMEOUT_MS }, async (_, size) => {
  truncateSync(file, size());
  await startsOnlyEmpty(/was cut short|is not the file of a task engine/);
});

test('a file that begins with something else', { timeout: START_TIMEOUT_MS }, async () => {
  writeFileSync(file, readFileSync(file).fill(0x20, 0, 2 * PAGE));
  await startsOnlyEmpty(/is not the file of a task engine/);
});

test('a file that is gone', { timeout: START_TIMEOUT_MS }, async () => {
  rmSync(file);
  await expect(engine.start()).rejects.toThrow(/is missing in .*--start-empty true/);
  await engine.start({ 'start-empty': true });
  expect(await taskCount()).toBe(0);
  await engine.stop();
});

test(
  'a file without the room behind what is used is sound',
  { timeout: START_TIMEOUT_MS },
  async () => {
    expect(statSync(file).size).toBeGreaterThanOrEqual(usedBytes);
    truncateSync(file, usedBytes);
    await engine.start();
    expect(await taskCount()).toBe(40);
    await engine.stop();
  },
);
