// The contents of the fixtures of file formats, the same for every version.
import type { StorageEngine } from '@tidemark/storage-api';

import { storeBackup } from '../backup/chain.ts';
import { IndexRebuild } from '../series/index-rebuild.ts';
import { SeriesIndex } from '../series/series-index.ts';
import { write } from './fixtures.ts';

/** Since version 3: ids without series. The engine rebuilds its index for two deleted series. */
export async function rebuildIndex(engine: StorageEngine): Promise<void> {
  await write(engine, 'old,t=x f=1 1\nkept f=1 1\nold,t=y f=1 1\n');
  await engine.dropMeasurement('db', 'old');
  await engine.compact();
}

/** Rows in a compacted segment, in a flushed one, behind a tombstone, and in the log. */
export async function fillFixture(engine: StorageEngine): Promise<void> {
  const lines = Array.from(
    { length: 40 },
    (_, i) => `m,t=a f=${i / 4},i=${i}i,s="text ${i % 3}",b=${i % 2 === 0} ${i}\n`,
  );
  await write(engine, lines.join(''));
  await engine.flush();
  await write(engine, 'm,t=b\\ c f=-0 5\nm,t=gone f=1 1\n');
  await engine.flush();
  await engine.compact();
  await engine.delete({
    database: 'db',
    where: { kind: 'tag', key: 't', operator: '=', value: 'gone' },
  });
  await write(engine, 'm,t=a f=99 0\n');
}

/** Since version 5: series that share a chunk, in a segment that is compacted later. */
export async function shareChunks(engine: StorageEngine): Promise<void> {
  for (let round = 0; round < SHARED_ROWS; round++) {
    const lines = Array.from({ length: 10 }, (_, i) => `short,t=${i} f=${i}.5,s="${i}" ${round}\n`);
    await write(engine, lines.join(''));
  }
}

/** Since version 8: distinct texts, which are stored in frames. */
export async function writeMessages(engine: StorageEngine): Promise<void> {
  await write(engine, MESSAGES.map((text, i) => `log,t=x s="${text}" ${i}\n`).join(''));
}

export const MESSAGES = Array.from({ length: 300 }, (_, i) =>
  `message ${(i * 2_654_435_761).toString(16)} é of ${i}`.padEnd(150, '.'),
);

/** Rows of each series of `shareChunks`. */
export const SHARED_ROWS = 3;

export async function backupFixture(engine: StorageEngine, path: string): Promise<void> {
  await storeBackup(path, engine.backup({}));
  await write(engine, 'm,t=log i=9223372036854775807i -9223372036854775806\n');
}

/**
 * Escapes, a measurement without tags, series that lack a tag, and one whose key leads elsewhere.
 */
export function fixtureIndex(): SeriesIndex {
  const index = new SeriesIndex('db');
  const cpu = index.addMeasurement('cpu load');
  for (let i = 0; i < 5; i++) {
    index.addSeries(
      cpu,
      i % 2 === 0
        ? [['host', `h ${i}`]]
        : [
            ['dc', 'a=b,c'],
            ['host', `h${i}`],
          ],
    );
  }
  index.addSeries(index.addMeasurement('plain'), []);
  index.addMeasurement('no series');
  index.keys.delete(2);
  return index;
}

/** The same without the series that was deleted. */
export function rebuiltFixtureIndex(): SeriesIndex {
  const index = fixtureIndex();
  for (const id of [0, 1, 3, 4, 5]) index.addedToShard(id);
  index.deleteAllEmpty();
  const rebuild = new IndexRebuild(index);
  rebuild.finish();
  return rebuild.index;
}
