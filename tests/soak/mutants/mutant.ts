// Mutants: guards removed from the source, each of which a simulation has to find. A table lists
// them; a run with one of them is a separate process, whose loader gives it the changed source.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A text that occurs once in a file of the repository, and what stands there instead. */
export type Edit = { readonly file: string; readonly from: string; readonly to: string };

export type Mutant = {
  /** The purpose of the guard: what happens without it. */
  readonly what: string;
  readonly edits: readonly Edit[];
  /** The checker that notices it, as its failures begin. */
  readonly foundBy: string;
  /** A seed that finds it. Absent where more seeds than a test has time for are needed. */
  readonly seed?: number | undefined;
};

export type Outcome = {
  /** Last line of the run's output. */
  readonly said: string;
  /** Exit status of its process; 1 for a finding. */
  readonly status: number | undefined;
};

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** All other modules are the same for each mutant: compiled once. */
const COMPILED = `${ROOT}node_modules/.cache/compiled`;
const PATCH = fileURLToPath(new URL('./patch-source.mjs', import.meta.url));

/** Why a table does not fit the source any more: each text has to occur exactly once. */
export function misfits(mutants: readonly Pick<Mutant, 'what' | 'edits'>[]): readonly string[] {
  return mutants.flatMap(({ what, edits }) =>
    edits.flatMap(({ file, from }) => {
      const count = readFileSync(`${ROOT}/${file}`, 'utf8').split(from).length - 1;
      return count === 1 ? [] : [`${what}: ${file} has its text ${count} times`];
    }),
  );
}

/** Runs a program with a mutant. */
export function runMutant(
  { edits }: Pick<Mutant, 'edits'>,
  program: readonly string[],
): Promise<Outcome> {
  const args = ['--import', PATCH, '--conditions=source', ...program];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      env: { ...process.env, NODE_COMPILE_CACHE: COMPILED, MUTANT: JSON.stringify(edits) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    const hear = (chunk: Buffer): void => {
      said = `${said}${chunk.toString('utf8')}`.slice(-4000);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('error', reject);
    child.once('close', (status) => resolve({ said, status: status ?? undefined }));
  });
}
