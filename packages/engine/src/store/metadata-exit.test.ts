// A process that exits while metadata is being written.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeDirectory, removeDirectory } from '@tidemark/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Metadata } from './metadata.ts';

const run = promisify(execFile);

/** Limit for a process that would otherwise wait forever. */
const PATIENCE_MS = 20_000;

let directory: string;

beforeEach(async () => {
  directory = await makeDirectory();
});

afterEach(async () => {
  await removeDirectory(directory);
});

test('a process that exits ends, also while changes of several entries are written', async () => {
  const module = fileURLToPath(new URL('metadata.ts', import.meta.url));
  const source = `
    import { Metadata } from ${JSON.stringify(module)};
    const metadata = await Metadata.open(${JSON.stringify(directory)});
    const table = metadata.table('load');
    void metadata.commit(table.changes(...['a', 'b'].map((id) => ({ id, value: 1 }))));
    // LMDB's thread begins in the next turn; this one is then busy until it has come far.
    setImmediate(() => {
      const until = performance.now() + 100;
      while (performance.now() < until);
      process.exit(3);
    });
  `;
  const args = ['--input-type=module', '-e', source];

  const end = run(process.execPath, args, { timeout: PATIENCE_MS, killSignal: 'SIGKILL' });

  await expect(end).rejects.toMatchObject({ code: 3 });
  const metadata = await Metadata.open(directory);
  // All of it or nothing.
  expect(metadata.table('load').count() % 2).toBe(0);
  await metadata.close();
});
