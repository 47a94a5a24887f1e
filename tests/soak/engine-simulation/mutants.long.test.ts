// Mutants: each guard that the simulation protects is removed from the source, and the simulation
// fails. Here those that one seed finds; `npm run soak:engine-simulation mutants` runs all of them.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findMutant } from '../mutants/find-mutants.ts';
import { MUTANTS } from './mutants.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));

const quick = MUTANTS.filter(({ seed }) => seed !== undefined);

test.each(quick)('found: $what', async (mutant) => {
  const { found, said } = await findMutant(mutant, [MAIN, String(mutant.seed), '1', 'found']);

  expect(found, said).toBeDefined();
});
