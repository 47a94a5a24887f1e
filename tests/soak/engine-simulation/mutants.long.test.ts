// Each repair that the simulation protects is taken out of a copy of the source, and found.
import { makeDirectory, removeDirectory } from '@tidemark/testkit';
import { execFile } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MUTANTS } from './mutants.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const COPIED = [
  'packages/engine/src',
  'packages/engine/package.json',
  'tests/soak/engine-simulation',
];

/** So many seeds at most. */
const SEEDS = '400';

let directory: string;
beforeEach(async () => {
  directory = await makeDirectory();
  for (const path of [...COPIED, 'package.json'])
    cpSync(join(ROOT, path), join(directory, path), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
});
afterEach(() => removeDirectory(directory));

function run(count: string): Promise<{ readonly status: number; readonly said: string }> {
  const main = join(directory, 'tests/soak/engine-simulation/main.ts');
  const args = ['--conditions=source', '--import', 'tsx', main, '1', count, 'found'];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: ROOT }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code), said: `${stdout}${stderr}` }),
    );
  });
}

test('a copy without a change finds nothing', { timeout: 300_000 }, async () => {
  expect(await run('20')).toMatchObject({ status: 0 });
});

test.each(MUTANTS)('found: $what', { timeout: 600_000 }, async ({ also, ...edit }) => {
  for (const { file, from, to } of also === undefined ? [edit] : [edit, also]) {
    const path = join(directory, 'packages/engine/src', file);
    const source = readFileSync(path, 'utf8');
    expect(source).toContain(from);
    writeFileSync(
      path,
      source.replaceAll(from, () => to),
    );
  }

  const { status, said } = await run(SEEDS);

  expect(said).toMatch(/seed \d+ fails: /);
  expect(status).toBe(1);
});
