// A failed assertion ends the storage thread: it sends no further answers, and the directory is
// opened again from the log. After two failures within a minute, the process is told to exit.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

import { Unavailable } from '@tidemark/core';
import { TestClock } from '@tidemark/testkit';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { StorageEngine } from '@tidemark/storage-api';

import type { StorageOptions } from '../options.ts';
import { aggregateRows, POLICY, scanRows, write } from '../testing/fixtures.ts';
import { openStorage } from './open-storage.ts';

let directory: string;
let engine: StorageEngine;
let logged: { readonly message: string; readonly details: Record<string, unknown> }[];
let availability: boolean[];
let fatal: Error | undefined;
let clock: TestClock;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'storage-broken-'));
  logged = [];
  availability = [];
  fatal = undefined;
  clock = new TestClock();
});

afterEach(async () => {
  await engine.close();
  rmSync(directory, { recursive: true, force: true });
});

async function open(options: Partial<StorageOptions> = {}): Promise<void> {
  engine = await openStorage(
    {
      directory,
      hasBackgroundWork: false,
      log: (_level, message, details = {}) => logged.push({ message, details }),
      onAvailability: (isAvailable) => availability.push(isAvailable),
      onFatal: (reason) => {
        fatal = reason;
      },
      ...options,
    },
    clock,
  );
}

const rows = (): Promise<unknown> => scanRows(engine, 'm', [['v', 'float']]);
const WRITTEN = [['m,t=a', 1n, 1]];

/** A query that no statement asks for: windows without a length. */
function impossibleQuery(): Promise<unknown> {
  return aggregateRows(engine, 'm', [{ field: 'v', type: 'float', functions: ['mean'] }], {
    window: { everyNanos: 0n, offsetNanos: 0n },
  });
}

test.each([
  {
    what: 'a call',
    options: { failsAt: 'delete:selected' },
    fail: () => engine.delete({ database: 'db', measurements: ['m'] }),
    reason: 'no fault at delete:selected',
  },
  {
    what: 'a query',
    options: {},
    fail: () => impossibleQuery(),
    reason: 'windows have a positive length',
  },
])('$what whose assertion fails is not answered, and the thread begins anew', async (one) => {
  await open(one.options);
  await write(engine, 'm,t=a v=1 1');

  const failing = one.fail();
  const behind = setImmediate()
    .then(rows)
    .catch((error: unknown) => error);

  await expect(failing).rejects.toThrow(Unavailable);
  // It may come while the failing request waits for its turn.
  expect(await behind).toSatisfy(
    (answer) => answer instanceof Unavailable || isDeepStrictEqual(answer, WRITTEN),
  );
  await vi.waitFor(() => expect(availability).toEqual([false, true]), { timeout: 50_000 });
  expect(await rows()).toEqual(WRITTEN);
  expect(fatal).toBeUndefined();
  const [entry] = logged.filter(({ message }) => message === 'storage thread failed');
  expect(String(entry?.details['stack'])).toMatch(
    new RegExp(`assertion failed: ${one.reason}\\n +at .*\\n`),
  );
});

test('a drop that had no answer is made before anything is read again', async () => {
  await open({ failsAt: 'delete:selected' });
  await write(engine, 'm,t=a v=1 1');

  const failing = engine.delete({ database: 'db', measurements: ['m'] });
  const drop = engine.dropPolicy(POLICY.id);

  await expect(failing).rejects.toThrow(Unavailable);
  await expect(drop).rejects.toThrow(Unavailable);
  await vi.waitFor(() => expect(availability).toEqual([false, true]), { timeout: 50_000 });
  expect(await rows()).toEqual([]);
  expect(await engine.shards()).toEqual([]);
});

test('an assertion of background work ends the thread too', async () => {
  await open({ failsAt: 'flush:segments-written', hasBackgroundWork: true, walMaxBytes: 1 });

  await write(engine, 'm,t=a v=1 1');

  await vi.waitFor(() => expect(availability).toContain(true), { timeout: 50_000 });
  expect(await rows()).toEqual(WRITTEN);
});

test('twice within a minute ends it for good, with the reason', async () => {
  await open({ failsAt: 'delete:selected' });
  await write(engine, 'm,t=a v=1 1');
  const remove = (): Promise<void> => engine.delete({ database: 'db', measurements: ['m'] });

  for (const failures of [1, 2]) {
    await expect(remove()).rejects.toThrow(Unavailable);
    const seen = Array.from({ length: failures }, () => [false, true]).flat();
    await vi.waitFor(() => expect(availability).toEqual(seen), { timeout: 50_000 });
    clock.advance(failures === 1 ? 60_001 : 59_999);
  }
  expect(fatal).toBeUndefined();
  await expect(remove()).rejects.toThrow(Unavailable);

  await vi.waitFor(() => expect(fatal?.message).toMatch('no fault at delete:selected'), {
    timeout: 50_000,
  });
  expect(availability).toEqual([false, true, false, true, false]);
  await expect(rows()).rejects.toThrow(Unavailable);
});
