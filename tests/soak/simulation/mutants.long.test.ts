// Runs some mutants that a few seeds find; `npm run soak:mutants` runs all of them.
import { expect, test } from 'vitest';

import { runMutant } from './mutant-run.ts';
import { MUTANTS } from './mutants.ts';

const FAST = [
  'rows of a dropped policy are refused',
  'a delete leaves a tombstone for rows that a flush is writing',
  'a flush keeps the files of shards that are dropped meanwhile',
];
const SEEDS = 100;

test('a copy without a change fails nothing', { timeout: 300_000 }, async () => {
  expect(await runMutant(undefined, SEEDS)).toMatchObject({ seed: undefined });
});

test.each(FAST)('missed: %s', { timeout: 300_000 }, async (guard) => {
  const mutant = MUTANTS.find((one) => one.guard === guard);

  const { seed, said } = await runMutant(mutant, SEEDS);

  expect(mutant).toBeDefined();
  expect(seed, said).toBeDefined();
});
