// Runs the simulation, or the ordinary tests of the storage engine, with a text of its source
// replaced.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { runMutant } from '../mutants/mutant.ts';
import type { Edit } from '../mutants/mutant.ts';
import type { Mutant } from './mutants.ts';

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const MAIN = pathOf('./main.ts');
const VITEST = pathOf('../../../node_modules/vitest/vitest.mjs');
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
export async function ordinaryFailure(mutant: Mutant | undefined): Promise<string | undefined> {
  const args = [VITEST, 'run', '--config', ORDINARY, '--reporter', 'json', '--bail', '1'];
  const env = { ...process.env, MUTANT: JSON.stringify(editsOf(mutant)) };
  const options = { env, maxBuffer: 1 << 28 };
  const [stdout, stderr] = await new Promise<readonly [string, string]>((resolve) => {
    // Its status says what the report says.
    execFile(process.execPath, args, options, (_error, out, err) => resolve([out, err]));
  });
  if (!stdout.includes('{"numTotal')) throw new Error(`${stdout}${stderr}`);
  const report = JSON.parse(stdout.slice(stdout.indexOf('{"numTotal'))) as Report;
  for (const { name, status, message, assertionResults } of report.testResults) {
    const failed = assertionResults.find((one) => one.status === 'failed');
    if (failed !== undefined) return `${name}: ${failed.fullName}`;
    if (status === 'failed' && assertionResults.length === 0) return `${name}: ${message}`;
  }
  return undefined;
}

type Report = {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
};

function editsOf(mutant: Mutant | undefined): readonly Edit[] {
  if (mutant === undefined) return [];
  const { file, from, to } = mutant;
  return [{ file: `packages/storage/src/${file}`, from, to }];
}
