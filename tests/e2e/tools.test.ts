// Tools for the files of a database that is not running, through the executable.
import { open, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { openStorage } from '@tidemark/storage';
import { makeDirectory, query, removeDirectory, startTidemark, write } from '@tidemark/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { runInProcess } from './in-process.ts';
import { toSegments } from './to-segments.ts';

let directory: string;

beforeAll(async () => {
  directory = await makeDirectory();
  const server = await startTidemark({
    command: 'tsdb',
    directory,
    args: ['--monitor-store-enabled', 'false'],
  });
  await query(server.tsdb, 'CREATE DATABASE d');
  const lines = Array.from(
    { length: 5000 },
    (_, i) => `m,host=h${i % 10} f=${i / 7},n=${i}i,s="text ${i % 3}" ${i}`,
  );
  await write(server.tsdb, 'd', lines.join('\n'), { precision: 's' });
  await server.stop();
  // The tools have more to look at there.
  await toSegments(directory);
});

afterAll(() => removeDirectory(directory));

/** The segment files below the data directory, largest first. */
async function segments(): Promise<readonly string[]> {
  const names = await readdir(directory, { recursive: true });
  const files = names.filter((name) => name.endsWith('.seg')).map((name) => join(directory, name));
  const sizes = new Map(
    await Promise.all(files.map(async (file) => [file, (await stat(file)).size] as const)),
  );
  return files.toSorted((a, b) => (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0));
}

test('inspect shows columns with their size, verify finds nothing wrong', async () => {
  const inspected = await runInProcess(['tsdb', 'inspect', '--data-dir', directory, '--json']);
  expect(inspected.stderr).toBe('');
  const shards = JSON.parse(inspected.stdout) as {
    segments: { measurements: { rows: number; columns: { name: string; values: number }[] }[] }[];
  }[];
  const columns = shards.flatMap((shard) =>
    shard.segments.flatMap((segment) => segment.measurements.flatMap((one) => one.columns)),
  );
  const valuesOf = (name: string): number =>
    columns
      .filter((column) => column.name === name)
      .reduce((sum, column) => sum + column.values, 0);
  expect([valuesOf('f'), valuesOf('n'), valuesOf('s')]).toEqual([5000, 5000, 5000]);

  const verified = await runInProcess(['tsdb', 'verify', '--data-dir', directory]);
  expect(verified.stdout).toContain('everything is readable');
  expect(verified.status).toBe(0);
});

test('the tools refuse a directory that a server owns', async () => {
  const server = await startTidemark({ command: 'tsdb', directory });
  const verified = await runInProcess(['tsdb', 'verify', '--data-dir', directory]);
  await server.stop();

  expect(verified.status).toBe(1);
  expect(verified.stderr).toContain('in use');
});

test('a damaged copy of the catalog is named and mended, two are named', async () => {
  const catalog = join(directory, 'tsdb', 'meta', 'catalog.tdm');
  let sound = await readFile(catalog);
  const tool = (name: string): ReturnType<typeof runInProcess> =>
    runInProcess(['tsdb', name, '--data-dir', directory]);
  const half = sound.length / 2;
  try {
    await writeFile(catalog, Buffer.concat([sound.subarray(0, half), Buffer.alloc(half)]));
    const found = await tool('verify');
    const mended = await tool('repair');
    sound = await readFile(catalog);
    const after = await tool('verify');
    await writeFile(catalog, Buffer.alloc(sound.length));
    const lost = await tool('repair');

    expect(found.stdout).toContain('one copy of the catalog, or of a change in its journal, is');
    expect(found.stdout).toContain(`file=\`${catalog}\``);
    expect([found, mended, after, lost].map(({ status }) => status)).toEqual([1, 0, 0, 1]);
    expect(lost.stdout).toContain('restore the catalog from a backup');
  } finally {
    await writeFile(catalog, sound);
  }
}, 60_000);

test('verify names a damaged block, repair keeps the rest and lists what is lost', async () => {
  const [file = ''] = await segments();
  const handle = await open(file, 'r+');
  const position = Math.floor((await handle.stat()).size / 3);
  const byte = Buffer.alloc(1);
  await handle.read(byte, 0, 1, position);
  await handle.write(Buffer.from([(byte[0] ?? 0) ^ 0xff]), 0, 1, position);
  await handle.close();

  const verified = await runInProcess(['tsdb', 'verify', '--data-dir', directory, '--json']);
  expect(verified.status).toBe(1);
  expect((JSON.parse(verified.stdout) as { damage: { file: string }[] }).damage[0]?.file).toContain(
    file.slice(directory.length),
  );

  const repaired = await runInProcess(['tsdb', 'repair', '--data-dir', directory, '--json']);
  const report = JSON.parse(repaired.stdout) as { rowsKept: number; lost: unknown[] };
  expect(repaired.status).toBe(1);
  expect(report.lost.length).toBeGreaterThan(0);
  expect(report.rowsKept).toBeGreaterThan(0);
  expect((await runInProcess(['tsdb', 'verify', '--data-dir', directory])).status).toBe(0);

  const server = await startTidemark({
    command: 'tsdb',
    directory,
    args: ['--monitor-store-enabled', 'false'],
  });
  const [series] = await query(server.tsdb, 'SELECT count(n) FROM m', 'd');
  await server.stop();
  expect(Number(series?.values?.[0]?.[1])).toBeGreaterThan(0);
}, 60_000);

test('a shard of a dropped policy is named, and set aside', async () => {
  const storage = await openStorage({ directory: join(directory, 'tsdb', 'data') });
  const policy = {
    id: 999,
    database: 'd',
    retentionPolicy: 'gone',
    shardDurationNanos: 604_800_000_000_000n,
    maxSeriesPerDatabase: 0,
    maxValuesPerTag: 0,
  };
  const body = new TextEncoder().encode('m,host=left v=1 1');
  await storage.writeLines({ policy, body, precision: 's', now: 0n });
  await storage.flush();
  await storage.close();
  const tool = (name: string): ReturnType<typeof runInProcess> =>
    runInProcess(['tsdb', name, '--data-dir', directory]);

  const found = await tool('verify');
  const repaired = await tool('repair');
  const left = await tool('verify');

  expect(found.stdout).toMatch(/ORPHAN shard \d+ of `d`.`gone` .* retention policy was dropped/);
  expect(found.status).toBe(1);
  expect(repaired.stdout).toMatch(/SET ASIDE shard \d+ of `d`.`gone`/);
  expect(left.stdout).not.toContain('ORPHAN');
});
