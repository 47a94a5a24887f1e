// Mutants: each guard that the simulation protects is removed from the source, and the simulation
// fails, from the seed on that found it last: schedules shift with the code. `npm run
// soak:engine-simulation mutants` runs all of them from the first seed on.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findMutant } from '../mutants/find-mutants.ts';
import { MUTANTS } from './mutants.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));

/** Seeds of a mutant at most; where its seed still finds it, it takes one. */
const COUNT = 1000;

test.each(MUTANTS)('found: $what', { timeout: 600_000 }, async (mutant) => {
  const first = String(mutant.seed ?? 1);

  const { found, said } = await findMutant(mutant, [MAIN, first, String(COUNT), 'found']);

  expect(found, said).toBeDefined();
});
