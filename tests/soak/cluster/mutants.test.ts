// The table of guards fits the source and its tests.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

import { misfits } from '../mutants/mutant.ts';
import { MUTANTS } from './mutants.ts';

test('each guard is in the source once, and the test that protects it exists', () => {
  expect(misfits(MUTANTS)).toEqual([]);
  const absent = MUTANTS.filter(({ foundBy: [file, title] }) => {
    const path = new URL(`../../../packages/clickhouse/src/${file}`, import.meta.url);
    return !readFileSync(fileURLToPath(path), 'utf8').includes(title);
  });
  expect(absent).toEqual([]);
});
