// Waiting for recordings and replays on a terminal: the bar, and Ctrl-C. The terminal is made by
// util-linux' `script`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import {
  EXECUTABLE,
  eventually,
  hasPrograms,
  removeDirectory,
  run,
  startTidemark,
  write,
} from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const hasTerminals = hasPrograms('script');

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';

let server: Tidemark;

beforeAll(async () => {
  server = await startTidemark({ command: 'engine' });
  const script = join(server.directory, 'cpu.tick');
  await writeFile(script, "stream|from().measurement('cpu')|log()");
  const defined = await tidemark('task', 'define', 'cpu', '--script', script, '--dbrp', 'd.r');
  expect(defined).toMatchObject({ status: 0 });
  // A stop in the past is meant in the times of the points, so that the next point ends the
  // recording.
  await fetch(`${server.engine}/engine/v1/recordings/stream`, {
    method: 'POST',
    body: JSON.stringify({ id: 'done', task: 'cpu', stop: '2024-01-01T00:00:01Z' }),
  });
  await write(server.engine, 'd', 'cpu v=1 1704067200\ncpu v=2 1704067205', {
    rp: 'r',
    precision: 's',
  });
  await eventually('the end of the recording', async () => {
    const response = await fetch(`${server.engine}/engine/v1/recordings/done`);
    return response.status === 200 ? true : undefined;
  });
});

afterAll(async () => {
  await server.stop();
  await removeDirectory(server.directory);
});

const tidemark = (...args: string[]): ReturnType<typeof run> =>
  run(EXECUTABLE, [...args, '--url', server.engine]);

/** Starts a command on a terminal of its own. */
function onTerminal(line: string): {
  readonly output: () => string;
  type(text: string): void;
  readonly status: Promise<number | null>;
} {
  // `script` starts the command with the user's shell, which not every shell leaves to it; Ctrl-C
  // would reach both.
  const command = `exec '${EXECUTABLE}' ${line} --url ${server.engine}`;
  const child = spawn('script', ['-qec', command, '/dev/null'], { stdio: 'pipe' });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  return {
    output: () => output,
    type: (text) => child.stdin.write(text),
    status: once(child, 'close').then(([status]) => status as number | null),
  };
}

test.runIf(hasTerminals)('a bar is drawn until the replay has ended', async () => {
  const replay = onTerminal('replay recording --recording done --task cpu');

  expect(await replay.status).toBe(0);
  const output = replay.output();
  expect(output).toContain(HIDE_CURSOR);
  expect(output).toMatch(/replay \[[^\]]+\] 100 %/);
  expect(output.slice(output.lastIndexOf('100 %'))).toContain(SHOW_CURSOR);
  expect(output.trimEnd().split(/\r?\n/).at(-1)).toMatch(/[\w-]{36}$/);
});

test.runIf(hasTerminals)(
  'Ctrl-C ends the waiting, gives the cursor back and leaves the recording going',
  async () => {
    const recording = onTerminal('record stream --task cpu --duration 1h --id long');
    await expect.poll(recording.output, { timeout: 30_000 }).toMatch(/recording \[/);
    recording.type('\u0003');

    expect(await recording.status).toBe(1);
    const output = recording.output();
    expect(output).toContain(SHOW_CURSOR);
    expect(output).toContain(
      'tidemark: not waited for: the recording goes on; `tidemark recording delete long` cancels it',
    );
    const shown = await tidemark('recording', 'show', 'long');
    expect(shown.stdout).toMatch(/^Status: running$/m);
    expect(await tidemark('recording', 'delete', 'long')).toMatchObject({ status: 0 });
    expect(await tidemark('recording', 'show', 'long')).toMatchObject({ status: 1 });
  },
);

test('nothing is drawn where standard error is no terminal', async () => {
  const replayed = await tidemark(
    'replay',
    'recording',
    '--recording',
    'done',
    '--task',
    'cpu',
    '--id',
    'quiet',
  );

  expect(replayed).toEqual({ status: 0, stdout: 'quiet\n', stderr: '' });
});
