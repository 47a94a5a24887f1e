// Permissions of a service's files.
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { narrowAndLog, narrowToOwner } from './private-files.ts';

let directory = '';
const at = (name: string): string => join(directory, 'data', name);
const modeOf = (path: string): number => statSync(path).mode & 0o777;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'private-files-'));
  mkdirSync(at('in/deep'), { recursive: true });
  for (const name of ['a', 'in/b', 'in/deep/c']) writeFileSync(at(name), 'x');
  writeFileSync(join(directory, 'outside'), 'x');
  symlinkSync(join(directory, 'outside'), at('link'));
  for (const name of ['', 'in', 'in/deep']) chmodSync(at(name), 0o755);
  chmodSync(at('a'), 0o640);
  chmodSync(at('in/b'), 0o400);
  chmodSync(at('in/deep/c'), 0o666);
  chmodSync(join(directory, 'outside'), 0o644);
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('group and others lose everything, links lead nowhere, and a second look finds nothing', () => {
  expect(narrowToOwner(at(''))).toEqual({ narrowed: 5, refusal: undefined });

  expect(['', 'in', 'in/deep', 'a', 'in/b', 'in/deep/c'].map((name) => modeOf(at(name)))).toEqual([
    0o700, 0o700, 0o700, 0o600, 0o400, 0o600,
  ]);
  expect(modeOf(join(directory, 'outside'))).toBe(0o644);
  expect(narrowToOwner(at(''))).toEqual({ narrowed: 0, refusal: undefined });
});

test('logs how many files were narrowed, and which could not be', () => {
  const lines: string[] = [];
  const log = (level: string, message: string): void => void lines.push(`${level}: ${message}`);

  narrowAndLog(at(''), log);
  narrowAndLog('/proc/self/fdinfo', log);

  expect(lines).toEqual([
    'info: files of the data directory could be used by others, no longer',
    expect.stringMatching(/^warn: files of the data directory can be used by others; .*chmod 0700/),
  ]);
});
