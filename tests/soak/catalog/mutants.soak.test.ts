// Each guard of the catalog is taken out; the seeds from the one on that missed it when it was
// written down have to miss it.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

import { findMutant } from '../mutants/find-mutants.ts';
import { MUTANTS } from './mutants.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));

test.each(MUTANTS)('missed: $what', { timeout: 300_000 }, async (mutant) => {
  const { found, said } = await findMutant(mutant, [MAIN, '400', String(mutant.seed)]);

  expect(found, said).toBeDefined();
});
