import { expect, test } from 'vitest';

import { UsageError } from '../exit.ts';
import { splitConfigFlags } from './flags.ts';

const known = new Set(['http-auth-enabled', 'http-bind-address']);

test('takes known flags in both spellings and leaves the rest in order', () => {
  const { flags, rest } = splitConfigFlags(
    [
      'tsdb',
      '--http-bind-address',
      '[::1]:0',
      '--data-dir',
      'd',
      '--http-auth-enabled=true',
      '--version',
    ],
    known,
  );

  expect([...flags]).toEqual([
    ['http-bind-address', '[::1]:0'],
    ['http-auth-enabled', 'true'],
  ]);
  expect(rest).toEqual(['tsdb', '--data-dir', 'd', '--version']);
});

test('reads a flag without a value as true', () => {
  expect([...splitConfigFlags(['--http-auth-enabled', '--data-dir', 'd'], known).flags]).toEqual([
    ['http-auth-enabled', 'true'],
  ]);
});

test('refuses a flag that is given twice', () => {
  expect(() =>
    splitConfigFlags(['--http-auth-enabled=true', '--http-auth-enabled=false'], known),
  ).toThrow(UsageError);
});
