// Reads the file of a series index without building an index, for `verify` and `repair`.
import { CodecError } from '@tidemark/kernels';
import type { Damage } from '@tidemark/storage-api';

import { DecodeError } from '../columns/bytes.ts';
import { indexDirectory } from '../disk/paths.ts';
import type { ManifestDatabase } from '../manifest/manifest.ts';
import { checkpointPath, readCheckpoint } from '../series/checkpoint.ts';
import { indexDamage } from '../series/index-damage.ts';
import { IndexLog } from '../series/index-log.ts';
import { SeriesIndex } from '../series/series-index.ts';
import { seriesEntries } from '../series/series-list.ts';
import type { SeriesEntry } from '../series/series-list.ts';
import type { Segment } from '../segment/segment.ts';
import { SeriesSet } from '../series/series-set.ts';
import type { OpenDirectory } from './directory.ts';

export type IndexContents = {
  readonly path: string;
  readonly fileBytes: number;
  readonly records: number;
  /** Bytes after the end that the manifest records, or after the last good record. */
  readonly tornBytes: number;
  readonly damage: Damage | undefined;
};

/**
 * Reads the index file of a database. Calls `visit` with everything that can be read, in the order
 * of the file.
 */
export function readIndex(
  { disk, directory }: OpenDirectory,
  { instance, indexFile = instance, index: known }: ManifestDatabase,
  visit: {
    readonly measurement: (id: number, name: string) => void;
    readonly entry: (entry: SeriesEntry) => void;
  },
): IndexContents {
  const file = new IndexLog(disk, indexDirectory(directory), indexFile);
  const { additions, damagedAt, goodBytes } = file.read({ to: known?.bytes });
  let measurements = 0;
  let series = 0;
  for (const {
    firstMeasurementId,
    measurements: names,
    firstSeriesId,
    series: list,
  } of additions) {
    names.forEach((name, i) => visit.measurement(firstMeasurementId + i, name));
    measurements = Math.max(measurements, firstMeasurementId + names.length);
    for (const entry of seriesEntries(list, firstSeriesId)) {
      visit.entry(entry);
      series = Math.max(series, entry.id + ('noSeries' in entry ? entry.noSeries : 1));
    }
  }
  const found = { logBytes: goodBytes, checksum: file.checksum(goodBytes), measurements, series };
  const message = indexDamage(found, { known, covered: 0, damagedAt });
  const { path } = file;
  const fileBytes = file.sizeBytes();
  return {
    path,
    fileBytes,
    records: additions.length,
    tornBytes: fileBytes - goodBytes,
    damage:
      message === undefined
        ? undefined
        : { file: path, offset: damagedAt[0] ?? goodBytes, message },
  };
}

/** The series that segments hold, by measurement, from their footers. */
export class HeldSeries {
  readonly measurements = new Map<number, SeriesSet>();

  add({ footer }: Segment): void {
    for (const { measurementId, series } of footer.measurements) {
      let ids = this.measurements.get(measurementId);
      if (ids === undefined) this.measurements.set(measurementId, (ids = new SeriesSet()));
      for (const id of series) ids.add(id);
    }
  }
}

/** A series with rows that has no entry in the index, not even that of a deleted series. */
export function missingEntry(
  path: string,
  known: SeriesSet,
  { measurements }: HeldSeries,
): Damage | undefined {
  const missing = new SeriesSet();
  for (const ids of measurements.values()) {
    for (const id of ids) if (!known.has(id)) missing.add(id);
  }
  if (missing.size === 0) return undefined;
  const message = `the series index lacks ${missing.size} series that segments hold`;
  return { file: path, offset: 0, message };
}

/**
 * Damage of an index's checkpoint. No data is lost by it, because the index file has the same
 * entries.
 */
export function checkpointDamage(
  { disk, directory }: OpenDirectory,
  { name, instance, indexFile = instance }: ManifestDatabase,
): Damage | undefined {
  const path = checkpointPath(indexDirectory(directory), indexFile);
  try {
    readCheckpoint(new SeriesIndex(name), { disk, path });
    return undefined;
  } catch (error) {
    if (!(error instanceof DecodeError || error instanceof CodecError)) throw error;
    return { file: path, offset: 0, message: `checkpoint is damaged: ${error.message}` };
  }
}
