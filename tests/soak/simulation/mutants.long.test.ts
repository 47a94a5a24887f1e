// Each guard is taken out, and the seed that misses it first is run. `npm run soak:mutants` looks
// for these seeds.
import { expect, test } from 'vitest';

import { simulateMutant } from './mutant-run.ts';
import { MUTANTS } from './mutants.ts';

const found = MUTANTS.flatMap((mutant) =>
  mutant.seed === undefined ? [] : [{ ...mutant, first: mutant.seed }],
);

test.each(found)('missed: $guard', { timeout: 300_000 }, async (mutant) => {
  const { seed, said } = await simulateMutant(mutant, { first: mutant.first, count: 1 });

  expect(seed, said).toBe(mutant.first);
});
