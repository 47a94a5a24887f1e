// Threads start with any command line of the process.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const run = promisify(execFile);
const MODULE = new URL('../dist/thread.js', import.meta.url).href;
const { PROGRAM_BEGIN, PROGRAM_END } = createRequire(import.meta.url)(
  '../boot/bundle-loader.cjs',
) as { readonly PROGRAM_BEGIN: string; readonly PROGRAM_END: string };

test('a process with flags of V8 starts threads', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'thread-'));
  const main = join(folder, 'main.mjs');
  await writeFile(
    main,
    `import { startThread } from ${JSON.stringify(MODULE)};
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

describe('a thread that starts before its program is loaded', () => {
  /** What a process prints that starts the bundled program `p-child` early and then runs `body`. */
  async function printed(body: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'thread-'));
    const early = new URL('../boot/early-threads.cjs', import.meta.url).href;
    const main = join(folder, 'main.mjs');
    const child = `
      const { writeFileSync, writeSync } = require('node:fs');
      const threads = require('node:worker_threads');
      writeSync(1, 'loading ');
      writeFileSync(__dirname + '/loading', '');
      writeSync(1, 'data ' + threads.workerData + ' ' + threads.workerData + ' ');
      threads.parentPort.on('message', (text) => {
        writeSync(1, text + ' ');
        threads.parentPort.close();
      });`;
    const program = `${PROGRAM_BEGIN}${child}${PROGRAM_END}//${'0'.repeat(32)}`;
    await writeFile(join(folder, 'p-child.cjs'), program);
    await writeFile(
      main,
      `import { existsSync, writeSync } from 'node:fs';
       import { setTimeout as sleep } from 'node:timers/promises';
       import { endEarlyThreads, startThread } from ${JSON.stringify(MODULE)};
       import boot from ${JSON.stringify(early)};
       const directory = ${JSON.stringify(folder)};
       const threads = boot.startEarly(directory, { 'p-child': { name: 'early' } });
       globalThis.tidemarkBundle = { directory, threads };
       const { worker } = threads.get('p-child');
       const start = (workerData, name = 'early') =>
         startThread('file:///p/dist/main.js', 'child', { name, workerData });
       ${body}`,
    );
    try {
      return (await run(process.execPath, [main])).stdout;
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  test('loads its program, waits for its data, and keeps the process running from then on', async () => {
    const stdout = await printed(`
      while (!existsSync(directory + '/loading')) await sleep(5);
      writeSync(1, 'starting ');
      start('seven').postMessage('hello');`);

    expect(stdout).toBe('loading starting data seven seven hello ');
  });

  test('is started once only: the next one is a thread of its own', async () => {
    const stdout = await printed(`start('a').postMessage('x'); start('b').postMessage('y');`);

    expect(stdout.match(/loading/g)).toHaveLength(2);
    expect(stdout).toContain('data a a');
    expect(stdout).toContain('data b b');
  });

  test('lets the process end that does not need it, and ends when it is told to', async () => {
    expect(await printed('')).not.toContain('data');
    const ended = `
      const exited = new Promise((resolve) => worker.once('exit', resolve));
      worker.ref();
      endEarlyThreads();
      await exited;
      writeSync(1, 'ended');`;
    expect(await printed(ended)).toMatch(/ended$/);
  });

  test('must have the options that it is started with', async () => {
    await expect(printed(`start('a', 'other');`)).rejects.toThrow(/p-child has other options/);
  });
});
