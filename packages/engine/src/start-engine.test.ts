// A failed start leaves nothing open, wherever it fails; and what the first start creates.
import { readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TestEngine } from '@tidemark/testkit/engine';

let engine: TestEngine;

beforeEach(() => {
  engine = new TestEngine();
});

afterEach(() => engine.close());

/** Files of the engine's directory that this process has open. */
function openFiles(): readonly string[] {
  return readdirSync('/proc/self/fd')
    .flatMap((descriptor) => {
      try {
        return [readlinkSync(`/proc/self/fd/${descriptor}`)];
      } catch {
        // The one that listed the folder.
        return [];
      }
    })
    .filter((path) => path.startsWith(engine.directory));
}

test('a folder of recordings that cannot be made: the metadata file is closed again', async () => {
  const dir = '/dev/null/recordings';

  await expect(engine.start({ replay: { dir } })).rejects.toThrow('replay.dir');
  expect(openFiles()).toEqual([]);

  await engine.start();
  expect(openFiles()).not.toEqual([]);
  await engine.stop();
  expect(openFiles()).toEqual([]);
});

test('an address that is in use: everything is closed again', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;

  const http = { 'bind-address': `127.0.0.1:${port}` };
  await expect(engine.start({ http, task: { hosts: '1' } })).rejects.toThrow('is already in use');

  expect(openFiles()).toEqual([]);
  await new Promise((resolve) => (other satisfies Server).close(resolve));
});

test('files of the first start are readable by its user only', async () => {
  rmSync(engine.directory, { recursive: true });
  const umask = process.umask(0o022);
  try {
    await engine.start();
    const { directory } = engine;
    const paths = readdirSync(directory, { recursive: true, encoding: 'utf8' });
    const open = ['', ...paths].filter((path) => {
      const status = statSync(join(directory, path));
      return (status.isDirectory() || status.isFile()) && (status.mode & 0o077) !== 0;
    });

    expect(paths).toEqual(expect.arrayContaining(['engine.mdb', 'replay']));
    expect(open).toEqual([]);
  } finally {
    process.umask(umask);
  }
});
