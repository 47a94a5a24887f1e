// Engines that share a thread do not affect each other.
import { readdirSync, readFileSync } from 'node:fs';

import { systemClock } from '@tidemark/core';
import { eachBatch, zeroCounters } from '@tidemark/query';
import { afterEach, expect, test } from 'vitest';
import type { StorageEngine } from '@tidemark/storage-api';

import { ReadKernels } from '../columns/read-kernels.ts';
import { memoryDisk } from '../disk/memory-disk.ts';
import { SchemaVersions } from '../series/schema-version.ts';
import { scanRows, testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';
import { openStorageInline } from './open-inline.ts';
import { resourcesFor } from './resources.ts';

let storage: TestEngine;
afterEach(() => storage.dispose());

/** More than the megabyte that every cache of columns has, decoded. */
const ROWS = 200_000;

/** Floats that no codec makes narrow. */
const lines = (factor: number): string =>
  Array.from({ length: ROWS }, (_, i) => `m v=${Math.sin(i) * factor} ${i}`).join('\n');

/** Bytes that were read from files for the sums of windows. */
async function bytesOfSums(engine: StorageEngine): Promise<number> {
  const snapshot = engine.source.snapshot();
  const counters = zeroCounters();
  const request = {
    sources: [{ database: 'db', retentionPolicy: 'autogen', measurement: 'm' }],
    timeRange: { start: 0n, end: BigInt(ROWS) - 1n },
    descending: false,
    groupBy: [],
    aggregates: [{ field: 'v', type: 'float', functions: ['sum'] }],
    window: { everyNanos: 500n, offsetNanos: 0n },
  } as const;
  const { signal } = new AbortController();
  const batches = snapshot.aggregate(request, { signal, counters });
  for await (const { windowStarts } of eachBatch(batches)) expect(windowStarts.length).toBe(400);
  snapshot.close();
  return counters.bytesRead;
}

test('a second engine takes no room, no types and no schema from the first', async () => {
  const schemaVersions = new SchemaVersions();
  storage = await testEngine({ columnCacheBytes: 16 << 20 }, { schemaVersions });
  const first = storage.engine;
  await write(first, lines(1));
  await first.flush();
  expect(await bytesOfSums(first)).toBeGreaterThan(ROWS);
  expect(await bytesOfSums(first)).toBe(0);
  const versionBefore = schemaVersions.total;

  const options = { directory: '/second', columnCacheBytes: 0, hasBackgroundWork: false };
  const second = await openStorageInline(options, { disk: memoryDisk() });
  await write(second, lines(2));
  await second.flush();
  expect(await bytesOfSums(second)).toBeGreaterThan(ROWS);
  await second.dropMeasurement('db', 'm');
  await second.close();

  expect(await bytesOfSums(first)).toBe(0);
  expect(schemaVersions.total).toBe(versionBefore);
  expect((await write(first, `m v=7.5 ${ROWS}`)).pointsWritten).toBe(1);
  expect(await scanRows(first, 'm', [['v', 'float']])).toHaveLength(ROWS + 1);
});

test('engines that are given the same kernels read their own columns', async () => {
  const kernels = new ReadKernels(1 << 20);
  storage = await testEngine({}, { kernels });
  const first = storage.engine;
  const options = { directory: '/second', hasBackgroundWork: false };
  const second = await openStorageInline(options, { disk: memoryDisk(), kernels });
  await write(first, 'm v=1 0\nm v=2 1');
  await write(second, 'm v=3 0\nm v=4 1');
  for (const engine of [first, second]) await engine.flush();
  const values = (engine: StorageEngine): Promise<unknown> => {
    return scanRows(engine, 'm', [['v', 'float']]);
  };

  expect(kernels.columns.memoryBytes).toBe(0);
  const both = [await values(first), await values(second)];
  expect(kernels.columns.memoryBytes).toBeGreaterThan(0);
  await second.close();
  expect(both[0]).not.toEqual(both[1]);
  expect(await values(first)).toEqual(both[0]);
});

test('the resources of each engine are its own', () => {
  const clock = systemClock();
  const [first, second] = [{}, {}].map(() => resourcesFor({ directory: '/' }, { clock }));

  for (const name of ['turns', 'kernels', 'lastRows', 'requestMemory', 'schemaVersions'] as const) {
    expect(first?.[name]).not.toBe(second?.[name]);
  }
});

/** State of modules for all engines of a thread, and why no engine notices the others. */
const SHARED = [
  // Functions: nothing stays in their memory between calls.
  'columns/codecs.ts: let kernels',
  'columns/codecs.ts: let sharedCodecs',
  'columns/codecs.ts: let sharedScans',
  // Values that nobody reads or changes.
  'columns/presence.ts: const shared',
  // Counts garbage, which V8 collects for the whole thread.
  'columns/short-lived.ts: const buffers',
  // Counts what the heap of the whole thread holds.
  'columns/thread-heap.ts: const threadHeap',
  // By identity of a request.
  'read/pieces.ts: const placesOf',
  // Bytes on their way from a file to a decoder.
  'segment/segment-blocks.ts: let viewed',
  // By identity of a list of tombstones, which is never changed.
  'shard/tombstone.ts: const groupsOf',
  // Belongs to the thread, which has one engine and its warm-up.
  'thread/host.ts: const kernels',
  'thread/host.ts: const versions',
  'thread/host.ts: let hasRehearsal',
  'thread/reader.ts: const server',
];

test('modules keep nothing that one engine could change for another', () => {
  const folder = new URL('..', import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /(?<!\.test)\.ts$/.test(file) && !file.startsWith('testing/'),
  );
  // Names in capitals are constants; encoders and decoders of text keep nothing.
  const state = /^(?:export )?((?:let|var) \w+|const [a-z]\w*(?=(?:: [^=]+)? = new (?!Text)))/gm;

  const found = files.flatMap((file) => {
    const text = readFileSync(new URL(file, folder), 'utf8');
    return [...text.matchAll(state)].map((match) => `${file}: ${match[1]}`);
  });

  expect(found.toSorted()).toEqual(SHARED);
});
