// Runs the simulation on a copy of the storage engine in which a text was replaced, seed after seed
// until one fails.
import { execFile } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { makeDirectory, removeDirectory } from '@tidemark/testkit';

import type { Mutant } from './mutants.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const SOURCE = 'packages/storage/src';
const COPIED = [SOURCE, 'packages/storage/package.json', 'tests/soak/simulation', 'package.json'];

export type MutantRun = {
  /** The first seed that failed; `undefined` when none did. */
  readonly seed: number | undefined;
  /** What was said of it. */
  readonly said: string;
};

type Edit = Pick<Mutant, 'file' | 'from' | 'to'>;

/** Without an edit, the copy is as the original. Throws when the text does not occur once. */
export async function runMutant(edit: Edit | undefined, seeds: number): Promise<MutantRun> {
  const directory = await makeDirectory();
  try {
    copyTo(directory);
    if (edit !== undefined) apply(directory, edit);
    const main = join(directory, 'tests/soak/simulation/main.ts');
    const said = await run(['--conditions=source', main, String(seeds), '1', 'first']);
    const seed = /^seed (\d+): /m.exec(said)?.[1];
    if (seed === undefined && !said.includes(' 0 failures')) throw new Error(said);
    return { seed: seed === undefined ? undefined : Number(seed), said };
  } finally {
    await removeDirectory(directory);
  }
}

function copyTo(directory: string): void {
  for (const path of COPIED) {
    cpSync(join(ROOT, path), join(directory, path), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
}

function apply(directory: string, { file, from, to }: Edit): void {
  const path = join(directory, SOURCE, file);
  const source = readFileSync(path, 'utf8');
  if (source.split(from).length !== 2) throw new Error(`${file} does not have it once: ${from}`);
  writeFileSync(
    path,
    source.replace(from, () => to),
  );
}

function run(args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: ROOT, maxBuffer: 1 << 28 }, (_error, stdout, stderr) =>
      resolve(`${stdout}${stderr}`),
    );
  });
}
