import { statSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory, removeDirectory } from '@tidemark/testkit';
import fc from 'fast-check';
import { open } from 'lmdb';
import type { RootDatabase } from 'lmdb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MetadataRoom } from './metadata-room.ts';

let directory: string;
let file: string;
let root: RootDatabase;
let room: MetadataRoom;

beforeEach(async () => {
  directory = await makeDirectory();
  file = join(directory, 'm.mdb');
  root = open({
    path: file,
    noSubdir: true,
    maxDbs: 8,
    eventTurnBatching: false,
    overlappingSync: false,
  });
});

afterEach(async () => {
  room.close();
  await root.close();
  await removeDirectory(directory);
});

const change = fc.record({
  table: fc.constantFrom('a', 'b', 'c'),
  key: fc.integer({ min: 0, max: 400 }),
  /** Absent removes. */
  length: fc.option(fc.oneof(fc.nat(100), fc.integer({ min: 1_900, max: 4_200 }), fc.nat(60_000)), {
    nil: undefined,
  }),
});

test('LMDB never makes the file longer itself, whatever is written', async () => {
  // Without growing ahead, so that every byte that LMDB takes is one that was asked for.
  room = new MetadataRoom(root, file, 0);
  const release = room.take({ entries: 3, bytes: 0 });
  const tables = new Map(
    ['a', 'b', 'c'].map((name) => [
      name,
      root.openDB<Buffer, number>({ name, encoding: 'binary' }),
    ]),
  );
  release();
  const batch = fc.array(change, { minLength: 1, maxLength: 300 });
  await fc.assert(
    fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 4 }), async (batches) => {
      // All at once, as many clients would.
      const writes = batches.map(async (changes) => {
        const end = room.take({
          entries: changes.length,
          bytes: changes.reduce((sum, { length }) => sum + (length ?? 0), 0),
          // And without what is kept for the end of things.
          isEnd: true,
        });
        await root.batch(() => {
          for (const { table, key, length } of changes) {
            if (length === undefined) void tables.get(table)?.remove(key);
            else void tables.get(table)?.put(key, Buffer.alloc(length, 7));
          }
        });
        end();
      });
      const taken = statSync(file).size;
      await Promise.all(writes);
      await root.flushed;

      expect(statSync(file).size).toBe(taken);
    }),
    { numRuns: 40 },
  );
});

test('reserved but unused space serves later writes: the file stops growing', async () => {
  room = new MetadataRoom(root, file);
  const table = root.openDB<Buffer, number>({ name: 'a', encoding: 'binary' });
  const put = async (): Promise<void> => {
    const end = room.take({ entries: 1, bytes: 100 });
    await table.put(1, Buffer.alloc(100));
    end();
  };
  await put();
  const before = statSync(file).size;

  for (let i = 0; i < 300; i++) await put();

  expect(statSync(file).size).toBe(before);
});

test('room for a burst of many entries of any size is taken in whole bytes', async () => {
  room = new MetadataRoom(root, file);

  // Each of them asks for more pages than there are, beside others that have not ended.
  const releases = Array.from({ length: 40 }, (_, i) =>
    room.take({ entries: 1_500, bytes: 1_500 * (333 + i) + 1 }),
  );
  for (const release of releases) release();

  expect(statSync(file).size).toBeGreaterThan(40 * 1_500 * 333);
});
