// A guard of each area is taken out, and seeds are run from the one on that missed it when it was
// written down. A change of the engine changes the order of its steps, so that it may be another
// one. `npm run soak:mutants` takes out all of them.
import { expect, test } from 'vitest';

import { simulateMutant } from './mutant-run.ts';
import { AREAS, MUTANTS, SEEDS_MAX } from './mutants.ts';

const ofAreas = AREAS.map((area) => MUTANTS.find((mutant) => mutant.area === area)!);

test.each(ofAreas)('missed: $guard', { timeout: 300_000 }, async (mutant) => {
  const { seed, said } = await simulateMutant(mutant, { first: mutant.seed, count: SEEDS_MAX });

  expect(seed, said).toBeDefined();
});
