// Runs the simulation, or the ordinary tests of the storage engine, with a text of its source
// replaced.
import { fileURLToPath } from 'node:url';

import { failedTest } from '../mutants/failed-test.ts';
import { runMutant } from '../mutants/mutant.ts';
import type { Edit } from '../mutants/mutant.ts';
import type { Mutant } from './mutants.ts';

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const MAIN = pathOf('./main.ts');
const ORDINARY = pathOf('./ordinary.config.ts');

export type MutantRun = {
  /** The first seed that failed; `undefined` when none did. */
  readonly seed: number | undefined;
  readonly said: string;
};

/**
 * Seeds of the simulation, or orders of the mutant's plan, until one fails. Without a mutant, the
 * source is as it is.
 */
export async function simulateMutant(
  mutant: Mutant | undefined,
  { first, count }: { readonly first: number; readonly count: number },
): Promise<MutantRun> {
  const plan = mutant?.plan === undefined ? [] : [mutant.plan];
  const program = [MAIN, String(count), String(first), 'first', ...plan];
  const { said } = await runMutant({ edits: editsOf(mutant) }, program);
  const seed = /^first failure: seed (\d+)/m.exec(said)?.[1];
  if (seed === undefined && !said.includes(' 0 failures')) throw new Error(said);
  return { seed: seed === undefined ? undefined : Number(seed), said };
}

/** The first of the tests that do one thing at a time that fails; `undefined` when none does. */
export function ordinaryFailure(mutant: Mutant | undefined): Promise<string | undefined> {
  return failedTest(ORDINARY, editsOf(mutant));
}

function editsOf(mutant: Mutant | undefined): readonly Edit[] {
  if (mutant === undefined) return [];
  const { file, from, to } = mutant;
  return [{ file: `packages/storage/src/${file}`, from, to }];
}
