// Files of every released format version stay readable.
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { joinBackups } from '../backup/chain.ts';
import { nodeDisk } from '../disk/node-disk.ts';
import { readManifest } from '../manifest/manifest-file.ts';
import { openStorageInline } from '../engine/open-inline.ts';
import { verifyDirectory } from '../tools/verify.ts';
import { readCheckpoint } from '../series/checkpoint.ts';
import { SeriesIndex } from '../series/series-index.ts';
import { fixtureIndex, MESSAGES, SHARED_ROWS } from './fixture-data.ts';
import { scanRows } from './fixtures.ts';

const FIELDS = [
  ['f', 'float'],
  ['i', 'integer'],
  ['s', 'string'],
  ['b', 'boolean'],
] as const;

const ROWS = Array.from({ length: 40 }, (_, i) => [
  'm,t=a',
  BigInt(i),
  i === 0 ? 99 : i / 4,
  BigInt(i),
  `text ${i % 3}`,
  i % 2 === 0,
]);
const ESCAPED = ['m,t=b\\ c', 5n, -0, null, null, null];
const LOGGED = ['m,t=log', -9223372036854775806n, null, 9223372036854775807n, null, null];

const SHORT_FIELDS = [
  ['f', 'float'],
  ['s', 'string'],
] as const;
const SHORT = Array.from({ length: 10 }, (_, i) =>
  Array.from({ length: SHARED_ROWS }, (_row, at) => [`short,t=${i}`, BigInt(at), i + 0.5, `${i}`]),
).flat();

const FILES = {
  v1: ['index/00000001.series', 'shards/1/00000003.seg', 'shards/1/00000004.seg'],
  v2: ['index/00000001.series', 'shards/1/00000003.seg', 'shards/1/00000004.seg'],
  v3: ['index/00000002.series', 'shards/1/00000004.seg', 'shards/1/00000005.seg'],
  v4: ['index/00000002.series', 'shards/1/00000004.seg', 'shards/1/00000005.seg'],
  v5: ['index/00000002.series', 'shards/1/00000004.seg', 'shards/1/00000005.seg'],
  v6: ['index/00000002.series', 'shards/1/00000004.seg', 'shards/1/00000005.seg'],
  v7: ['MANIFEST.1', 'index/00000002.series', 'shards/1/00000004.seg', 'shards/1/00000005.seg'],
  v8: ['MANIFEST.1', 'index/00000002.series', 'shards/1/00000004.seg', 'shards/1/00000005.seg'],
  v9: ['MANIFEST.1', 'index/00000002.series', 'shards/1/00000004.seg', 'shards/1/00000005.seg'],
} as const;
const VERSIONS = ['v1', 'v2', 'v3', 'v4', 'v5', 'v6', 'v7', 'v8', 'v9'] as const;

test.each(VERSIONS)('a fixture of version %s has a file of every kind', (version) => {
  const folder = fileURLToPath(new URL(`../../fixtures/${version}`, import.meta.url));
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const { manifest } = readManifest(nodeDisk(), `${folder}/data`);

  expect(names.filter((name) => /\.|MANIFEST|backup/.test(name))).toEqual([
    'backup',
    'data/MANIFEST',
    ...FILES[version].map((name) => `data/${name}`),
    expect.stringMatching(/^data\/wal\/\d{8}\.wal$/),
  ]);
  expect(manifest.shards.flatMap((shard) => shard.tombstones)).toHaveLength(1);
});

test.each(VERSIONS)('the files of format version %s are read', async (version) => {
  const directory = mkdtempSync(join(tmpdir(), 'storage-fixture-'));
  const fixture = fileURLToPath(new URL(`../../fixtures/${version}`, import.meta.url));
  cpSync(fixture, directory, { recursive: true });
  const disk = nodeDisk();
  try {
    const sound = await verifyDirectory({ directory: `${directory}/data`, disk });
    const engine = await openStorageInline(
      { directory: `${directory}/data`, hasBackgroundWork: false },
      { disk },
    );
    const rows = await scanRows(engine, 'm', FIELDS);
    const short = await scanRows(engine, 'short', SHORT_FIELDS);
    const messages = await scanRows(engine, 'log', [['s', 'string']]);
    await engine.close();
    const restored = await openStorageInline(
      { directory: `${directory}/restored`, hasBackgroundWork: false },
      { disk },
    );
    await restored.restore(
      { databases: new Map([['db', 'db']]), policies: new Map([[1, 1]]) },
      joinBackups([`${directory}/backup`]),
    );
    const copy = await scanRows(restored, 'm', FIELDS);
    await restored.close();

    expect(sound.damage).toEqual([]);
    expect(rows).toEqual([...ROWS, ESCAPED, LOGGED]);
    expect(short).toEqual(version >= 'v5' ? SHORT : []);
    expect(messages.map(([, , text]) => text)).toEqual(version >= 'v8' ? MESSAGES : []);
    expect(copy).toEqual([...ROWS, ESCAPED]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

test.each(['v1', 'v3'])('the checkpoint of format version %s is read', (version) => {
  const path = fileURLToPath(new URL(`../../fixtures/${version}/checkpoint`, import.meta.url));
  const index = new SeriesIndex('db');
  const expected = fixtureIndex();

  const range = readCheckpoint(index, { disk: nodeDisk(), path });

  expect(range).toEqual({ measurements: 3, series: 6, logBytes: 123 });
  expect(index.measurements.map(({ name }) => name)).toEqual(['cpu load', 'plain', 'no series']);
  for (let id = 0; id < 6; id++) {
    expect(index.has(id)).toBe(version === 'v1' || id !== 2);
    if (!index.has(id)) continue;
    expect(index.seriesKey(id)).toBe(expected.seriesKey(id));
    expect(index.tags(id)).toEqual(expected.tags(id));
    const found = index.findSeries(index.measurementOf(id), index.tags(id));
    expect(found).toBe(id === 2 ? -1 : id);
  }
});
