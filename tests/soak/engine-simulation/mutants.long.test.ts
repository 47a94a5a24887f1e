// Each guard that the simulation protects is taken out of the source, and the simulation notices.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findMutant } from '../mutants/find-mutants.ts';
import { MUTANTS } from './mutants.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));

/** So many seeds at most. */
const SEEDS = '2000';

test.each(MUTANTS)('found: $what', { timeout: 1_200_000 }, async (mutant) => {
  const { found, said } = await findMutant(mutant, [MAIN, '1', SEEDS, 'found']);

  expect(found, said).toBeDefined();
});
