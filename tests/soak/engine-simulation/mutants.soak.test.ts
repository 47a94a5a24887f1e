// Mutants: guards that the simulation protects are removed from the source, one at a time, and the
// simulation fails, from the seed on that found it last: schedules shift with the code. Those that
// few seeds find are left to `npm run soak:engine-simulation mutants`.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findMutant } from '../mutants/find-mutants.ts';
import { MUTANTS } from './mutants.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));

/** Seeds of a mutant at most; where its seed still finds it, it takes one. */
const COUNT = 1000;
/** The first seed of a mutant that many seeds find. */
const FIRST_MAX = 200;

const frequent = MUTANTS.filter(({ seed = Infinity }) => seed <= FIRST_MAX);

test.each(frequent)('found: $what', { timeout: 600_000 }, async (mutant) => {
  const first = String(mutant.seed);

  const { found, said } = await findMutant(mutant, [MAIN, first, String(COUNT)]);

  expect(found, said).toBeDefined();
});
