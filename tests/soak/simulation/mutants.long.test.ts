// Each guard is taken out, and seeds are run from the one on that missed it when it was written
// down. A change of the engine changes the order of its steps, so that it may be another one.
import { expect, test } from 'vitest';

import { simulateMutant } from './mutant-run.ts';
import { MUTANTS, SEEDS_MAX } from './mutants.ts';

test.each(MUTANTS)('missed: $guard', { timeout: 300_000 }, async (mutant) => {
  const { seed, said } = await simulateMutant(mutant, { first: mutant.seed, count: SEEDS_MAX });

  expect(seed, said).toBeDefined();
});
