// Errors that prevent a service from starting name the setting to change.
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { makeDirectory, removeDirectory, runTidemark } from '@tidemark/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

let directory = '';
beforeEach(async () => {
  directory = await makeDirectory();
});
afterEach(() => removeDirectory(directory));

describe('a data directory that cannot be', () => {
  test.each(['up', 'tsdb', 'engine'])(
    'tidemark %s below /proc says so and ends',
    async (command) => {
      const started = await runTidemark([command, '--data-dir', '/proc/none/of/this']);

      expect(started).toMatchObject({ status: 2, stdout: '' });
      expect(started.stderr).toContain('/proc takes no directories; choose another with data');
      expect(started.stderr).toContain('--data-dir');
    },
  );

  test('a file in its place is named', async () => {
    const file = join(directory, 'file');
    await writeFile(file, '');

    const started = await runTidemark(['tsdb', '--data-dir', file]);

    expect(started.status).toBe(2);
    expect(started.stderr).toContain('is not a directory');
  });
});

describe('an address that somebody else has', () => {
  const taken = createServer();
  beforeEach(async () => {
    taken.listen(0, '127.0.0.1');
    await once(taken, 'listening');
  });
  afterEach(() => new Promise((resolve) => taken.close(resolve)));

  test.each([
    ['tsdb', '--bind', 'http.bind-address (--bind, with `up` --tsdb-bind)'],
    ['engine', '--bind', 'http.bind-address (--bind, with `up` --engine-bind)'],
    ['up', '--ui-bind', 'ui.bind-address (--ui-bind)'],
  ])('tidemark %s %s names the setting', async (command, flag, setting) => {
    const { port } = taken.address() as AddressInfo;
    const free = ['--tsdb-bind', '127.0.0.1:0', '--engine-bind', '127.0.0.1:0'];
    const args = [flag, `127.0.0.1:${port}`, ...(command === 'up' ? free : [])];

    const started = await runTidemark([command, '--data-dir', directory, ...args]);

    expect(started).toMatchObject({ status: 1, stdout: '' });
    expect(started.stderr).toContain(
      `127.0.0.1:${port} is already in use: another process listens there. Stop it, or choose another with ${setting}`,
    );
  });
});
