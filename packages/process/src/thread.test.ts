// Threads start with any command line of the process.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);

test('a process with flags of V8 starts threads', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'thread-'));
  const module = new URL('../dist/thread.js', import.meta.url).href;
  const main = join(folder, 'main.mjs');
  await writeFile(
    main,
    `import { startThread } from ${JSON.stringify(module)};
     startThread(import.meta.url, 'child', {}).on('exit', (code) => process.exit(code));`,
  );
  await writeFile(join(folder, 'child.js'), `console.log('up')`);
  try {
    const { stdout } = await run(process.execPath, ['--max-semi-space-size=16', main]);

    expect(stdout).toBe('up\n');
  } finally {
    await rm(folder, { recursive: true });
  }
});
