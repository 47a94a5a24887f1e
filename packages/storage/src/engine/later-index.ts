// Small series indexes that are whole are read when somebody first needs them: of very many
// databases, most are asked for nothing for a long time.
import { Corruption } from '@tidemark/core';

import { indexDamage } from '../series/index-damage.ts';
import type { IndexEnd } from '../series/index-damage.ts';
import { applyAdditions } from '../series/index-additions.ts';
import type { IndexLog } from '../series/index-log.ts';
import { endOf } from '../series/stored-index.ts';
import type { Segment } from '../segment/segment.ts';
import type { Contents } from '../state/contents.ts';
import type { Database } from '../state/database.ts';

/** Series that are read within a request: about two milliseconds, and too few for a checkpoint. */
const LATER_SERIES_MAX = 2000;

/**
 * Puts off reading the index of a database if it is small and its log is as the manifest says.
 * Returns whether it did; then the shards of the database are there before the index is read.
 */
export function readIndexLater(
  contents: Contents,
  database: Database,
  from: {
    readonly file: IndexLog;
    readonly known: IndexEnd | undefined;
    /** `false` while rows may follow of series that no shard has yet. */
    readonly isRecovered: () => boolean;
  },
): boolean {
  const { file, known, isRecovered } = from;
  if (known?.checksum === undefined || known.series > LATER_SERIES_MAX) return false;
  const { bytes, checksum, measurements, series } = known;
  if (!file.isAsWritten({ bytes, checksum })) return false;
  const end = { measurements, series, logBytes: bytes, checksum };
  database.readLater(end, (index) => {
    const { additions, damagedAt, goodBytes: logBytes } = file.read({ from: 0, to: bytes });
    for (const entry of additions) applyAdditions(index, entry);
    // What was lost since the start is not replaced by placeholders.
    const found = { ...endOf(index), logBytes, checksum: undefined };
    const message = indexDamage(found, { known, covered: 0, damagedAt });
    if (message !== undefined) {
      throw new Corruption(message, { file: file.path, offset: damagedAt[0] ?? logBytes });
    }
    const shards = contents.shards.ofDatabase(database.name);
    for (const shard of shards) for (const id of shard.series) index.addedToShard(id);
    // Series in segments that cannot be opened seem to have no data, but repair may bring them
    // back.
    const isWhole = shards.every(({ damage }) => damage === undefined);
    if (isRecovered() && isWhole) index.deleteAllEmpty();
  });
  return true;
}

/** Whether the index, if it is not read yet, has all series and measurements of a segment. */
export function hasSeriesOf({ stored }: Database, { footer }: Segment): boolean {
  const { measurements, series } = stored.persistedEnd;
  return footer.measurements.every(
    (one) => one.measurementId < measurements && (one.series.at(-1) ?? -1) < series,
  );
}
