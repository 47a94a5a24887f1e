// Writes that wait for the log, while the disk is slow to sync.
import { expect, test } from 'vitest';

import type { Disk } from '../disk/disk.ts';
import { memoryDisk } from '../disk/memory-disk.ts';
import { write } from '../testing/fixtures.ts';
import { openStorageInline } from './open-inline.ts';

/** A disk whose files are synced by `sync`. */
function slowDisk(sync: () => Promise<void>): Disk {
  const disk = memoryDisk();
  return { ...disk, open: (path, mode) => ({ ...disk.open(path, mode), sync }) };
}

test('a waiting write counts with the texts that it holds, however small its record is', async () => {
  let sync = (): Promise<void> => Promise.resolve();
  const options = { directory: '/data', hasBackgroundWork: false, writeQueueMaxBytes: 50_000 };
  const engine = await openStorageInline(options, { disk: slowDisk(() => sync()) });
  await write(engine, 'm s="first" 1');
  let endSync = (): void => undefined;
  const synced = new Promise<void>((resolve) => (endSync = resolve));
  const syncing = new Promise<void>((resolve) => {
    sync = () => {
      resolve();
      return synced;
    };
  });

  const waiting = write(engine, `m s="${'x'.repeat(60_000)}" 2`);
  await syncing;
  await expect(write(engine, 'm s="refused" 3')).rejects.toThrow(
    'too many writes wait for the log. setting=`data.write-queue-max-size`',
  );

  endSync();
  expect((await waiting).pointsWritten).toBe(1);
  expect((await write(engine, 'm s="later" 4')).pointsWritten).toBe(1);
  await engine.close();
});

test('rows in memory count ASCII texts once', async () => {
  const options = { directory: '/data', hasBackgroundWork: false };
  const engine = await openStorageInline(options, { disk: memoryDisk() });
  const lines = Array.from({ length: 100 }, (_, i) => `m s="${`${i} `.padEnd(10_000, 'x')}" ${i}`);
  await write(engine, lines.join('\n'));

  const { memtableBytes } = (await engine.statistics()).counters;
  expect(memtableBytes).toBeGreaterThan(1_000_000);
  expect(memtableBytes).toBeLessThan(1_100_000);
  await engine.close();
});
