import { expect, test } from 'vitest';

import { memoryDisk } from './memory-disk.ts';

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

test('files keep what is written at any place, and zeros where nothing was', () => {
  const file = memoryDisk().open('/d/a', 'create');

  file.write(text('end'), 5);
  file.write(text('ab'), 0);

  const target = new Uint8Array(10);
  expect(file.read(target, 0)).toBe(8);
  expect([...target]).toEqual([97, 98, 0, 0, 0, 101, 110, 100, 0, 0]);
  expect(file.read(target, 8)).toBe(0);
  expect(file.read(target, 100)).toBe(0);
});

test('bytes behind the end of a truncated file do not come back', () => {
  const file = memoryDisk().open('/d/a', 'create');
  file.write(text('abcdef'), 0);

  file.truncate(2);
  file.truncate(4);

  const target = new Uint8Array(6);
  expect(file.size()).toBe(4);
  expect(file.read(target, 0)).toBe(4);
  expect([...target.subarray(0, 4)]).toEqual([97, 98, 0, 0]);
});

test('names are listed by directory, renamed with what they hold, and removed', () => {
  const disk = memoryDisk();
  disk.open('/d/x/a', 'create').write(text('a'), 0);
  disk.open('/d/b', 'create');

  expect(disk.list('/d')).toEqual(['b', 'x']);
  expect(disk.exists('/d/x')).toBe(true);
  disk.rename('/d/x/a', '/d/b');
  expect(disk.open('/d/b', 'read').size()).toBe(1);
  disk.removeDirectory('/d');

  expect(disk.list('/d')).toEqual([]);
  expect(() => disk.open('/d/b', 'modify')).toThrow('ENOENT');
});

test('a file is made once', () => {
  const disk = memoryDisk();
  disk.open('/d/a', 'create');

  expect(() => disk.open('/d/a', 'create')).toThrow('EEXIST');
});
