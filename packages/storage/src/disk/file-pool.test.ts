import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { FilePool, pooledFilesMax } from './file-pool.ts';
import { nodeDisk } from './node-disk.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'file-pool-'));
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(directory, { recursive: true, force: true });
});

/** Files of the directory for which the process has an open descriptor. */
function heldFiles(): string[] {
  return readdirSync('/proc/self/fd')
    .map((descriptor) => {
      try {
        return readlinkSync(`/proc/self/fd/${descriptor}`);
      } catch {
        // The descriptor of this listing itself, which is closed by now.
        return '';
      }
    })
    .filter((path) => path.startsWith(directory))
    .map((path) => path.slice(directory.length + 1))
    .sort();
}

function makeFiles(count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const path = join(directory, `f${i}`);
    writeFileSync(path, `content ${i}`);
    return path;
  });
}

function contentOf(file: { read(target: Uint8Array, position: number): number }): string {
  const bytes = new Uint8Array(20);
  return new TextDecoder().decode(bytes.subarray(0, file.read(bytes, 0)));
}

test('more files than descriptors can be read, in any order, those used last stay open', () => {
  const disk = nodeDisk(new FilePool(3));
  const files = makeFiles(10).map((path) => disk.open(path, 'read'));

  for (const i of [0, 9, 5, 0, 1, 7, 0, 3]) expect(contentOf(files[i]!)).toBe(`content ${i}`);

  expect(heldFiles()).toEqual(['f0', 'f3', 'f7']);
  expect(files[4]!.size()).toBe(9);
  for (const file of files) file.close();
  expect(heldFiles()).toEqual([]);
});

test('a file that was closed is not read, one that does not exist is not opened', () => {
  const disk = nodeDisk(new FilePool(3));
  const [path] = makeFiles(1);
  const file = disk.open(path!, 'read');
  file.close();
  file.close();

  expect(() => contentOf(file)).toThrow('before it is closed');
  expect(() => disk.open(join(directory, 'none'), 'read')).toThrow('ENOENT');
  expect(heldFiles()).toEqual([]);
});

test('opens without a free descriptor get those of the pool, one by one', () => {
  const pool = new FilePool(8);
  const disk = nodeDisk(pool);
  for (const path of makeFiles(5)) disk.open(path, 'read');
  const failure = Object.assign(new Error('too many open files'), { code: 'EMFILE' });
  let tries = 0;
  const opened = pool.withRoom(() => {
    if (++tries <= 3) throw failure;
    return pool.openFiles;
  });

  expect(opened).toBe(2);
  expect(() =>
    pool.withRoom(() => {
      throw failure;
    }),
  ).toThrow('too many open files');
  expect(heldFiles()).toEqual([]);
});

test('the limit of the process leaves room for everything else', () => {
  expect(pooledFilesMax()).toBeGreaterThanOrEqual(8);
  expect(pooledFilesMax()).toBeLessThanOrEqual(256);
});

test('descriptors that nobody uses for a while are closed, and opened again by the next read', () => {
  vi.useFakeTimers();
  const disk = nodeDisk(new FilePool(10, 1000));
  const files = makeFiles(3).map((path) => disk.open(path, 'read'));

  vi.advanceTimersByTime(1000);
  expect(heldFiles()).toEqual(['f0', 'f1', 'f2']);
  contentOf(files[1]!);
  vi.advanceTimersByTime(1000);
  expect(heldFiles()).toEqual(['f1']);
  vi.advanceTimersByTime(1000);
  expect(heldFiles()).toEqual([]);
  // Nothing is left to look for.
  expect(vi.getTimerCount()).toBe(0);

  expect(contentOf(files[2]!)).toBe('content 2');
  expect(heldFiles()).toEqual(['f2']);
  vi.advanceTimersByTime(2000);
  expect(heldFiles()).toEqual([]);
  for (const file of files) file.close();
});
