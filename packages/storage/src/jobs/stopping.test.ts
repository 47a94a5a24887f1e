// A clean stop leaves rows in segments and no log or, if that fails, rows in the log.
import { readdirSync } from 'node:fs';

import { systemClock } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { afterEach, expect, test } from 'vitest';

import { nodeDisk } from '../disk/node-disk.ts';
import type { Disk } from '../disk/disk.ts';
import { LIMITS } from '../limits.ts';
import { aggregateRows, testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';

const ROWS = 40_000;
let storage: TestEngine;

afterEach(() => storage.dispose());

/** More than a megabyte of rows in memory. */
async function fill({ engine }: TestEngine): Promise<void> {
  const lines = Array.from({ length: ROWS }, (_, i) => `m,t=${i % 7} f=${i}.5,g=${i} ${i}`);
  await write(engine, lines.join('\n'));
}

async function countOf({ engine }: TestEngine): Promise<unknown> {
  const [all] = await aggregateRows(engine, 'm', [
    { field: 'f', type: 'float', functions: ['count'] },
  ]);
  return all?.values[0]?.[0];
}

/**
 * A clock on which nothing happens by itself, but for what takes as long as a closing flush may.
 */
function clockWith(closingFlush: 'in time' | 'too late'): Clock {
  return {
    ...systemClock(),
    sleep: (delayMs, signal) => {
      if (delayMs === LIMITS.closingFlushMs.value && closingFlush === 'too late') {
        return Promise.resolve();
      }
      return new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
      });
    },
  };
}

const OPTIONS = { hasBackgroundWork: true };

test('a clean stop flushes and leaves no log', async () => {
  storage = await testEngine(OPTIONS, { clock: clockWith('in time') });
  await fill(storage);

  await storage.engine.close();

  expect(readdirSync(`${storage.directory}/wal`)).toEqual(['FILES']);
  await storage.reopen();
  expect(await countOf(storage)).toBe(BigInt(ROWS));
});

test('a flush that takes too long is given up, and its rows are read from the log', async () => {
  const messages: string[] = [];
  const log = (level: string, message: string): number => messages.push(`${level}: ${message}`);
  storage = await testEngine({ ...OPTIONS, log }, { clock: clockWith('too late') });
  await fill(storage);

  await storage.engine.close();

  expect(messages).toEqual([
    'info: flushing before the end',
    'warn: rows stay in the log, which the next start reads',
  ]);
  expect(readdirSync(`${storage.directory}/wal`)).not.toEqual([]);
  await storage.reopen();
  expect(await countOf(storage)).toBe(BigInt(ROWS));
});

test('a flush that the disk refuses does not keep the engine from closing', async () => {
  let isFull = false;
  const disk: Disk = nodeDisk();
  const refusing: Disk = {
    ...disk,
    open: (path, mode) => {
      if (isFull && path.endsWith('.seg') && mode === 'create') throw new Error('no space left');
      return disk.open(path, mode);
    },
  };
  storage = await testEngine(OPTIONS, { clock: clockWith('in time'), disk: refusing });
  await fill(storage);

  isFull = true;
  await storage.engine.close();
  isFull = false;

  await storage.reopen();
  expect(await countOf(storage)).toBe(BigInt(ROWS));
});

test('a second close waits for the first', async () => {
  const disk: Disk = nodeDisk();
  let finishSync = (): void => undefined;
  const synced = new Promise<void>((resolve) => (finishSync = resolve));
  let isSlow = false;
  const slow: Disk = {
    ...disk,
    open: (path, mode) => {
      const file = disk.open(path, mode);
      const { sync } = file;
      file.sync = async () => {
        if (isSlow) await synced;
        await sync.call(file);
      };
      return file;
    },
  };
  storage = await testEngine({}, { disk: slow });
  isSlow = true;
  const written = write(storage.engine, 'm f=1 1');
  let isClosed = false;
  const first = storage.engine.close();
  const second = storage.engine.close().then(() => (isClosed = true));
  for (let round = 0; round < 5; round++) await new Promise((next) => setImmediate(next));
  expect(isClosed).toBe(false);

  finishSync();
  await Promise.all([first, second, written]);
  await expect(write(storage.engine, 'm f=2 2')).rejects.toThrow('storage is closed');
});
