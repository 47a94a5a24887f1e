import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { InvalidRequest } from '@tidemark/core';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { makeDirectory } from './make-directory.ts';

let parent = '';
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'make-directory-'));
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const reasonOf = (path: string, setting?: string): string => {
  try {
    makeDirectory(path, { setting });
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidRequest);
    return (error as Error).message;
  }
  return 'no reason';
};

test('makes what is missing, with its mode, and leaves what is there', () => {
  const path = join(parent, 'a/b/c');

  makeDirectory(path, { mode: 0o750, setting: 'data.dir' });
  makeDirectory(path, { mode: 0o700, setting: 'data.dir' });

  expect(statSync(path).mode & 0o777).toBe(0o750);
});

test.runIf(process.platform === 'linux')('below /proc, which answers otherwise, it ends', () => {
  expect(reasonOf('/proc/none/of/this', 'data.dir')).toBe(
    'directory /proc/none/of/this cannot be used: /proc takes no directories; choose another with data.dir',
  );
});

test('a file in the way is named, wherever it stands', () => {
  const file = join(parent, 'file');
  writeFileSync(file, '');

  expect(reasonOf(file)).toBe(`directory ${file} cannot be used: ${file} is not a directory`);
  expect(reasonOf(join(file, 'below'))).toContain(`file/below is not a directory`);
});

test('a directory of somebody else is refused with the setting', () => {
  const path = join(parent, 'closed');
  mkdirSync(path);
  chmodSync(path, 0o555);
  chmodSync(parent, 0o755);
  const isRoot = process.getuid?.() === 0;
  // Root may write everywhere.
  if (isRoot) process.seteuid?.(65_534);
  const [inside, itself] = [reasonOf(join(path, 'in'), 'data.dir'), isRoot || reasonOf(path, 's')];
  if (isRoot) process.seteuid?.(0);

  expect(inside).toContain(`has no right to ${path}; choose another with data.dir`);
  // The system checks rights for the user that started the process.
  if (!isRoot) expect(itself).toContain(`has no right to ${path}; choose another with s`);
});
