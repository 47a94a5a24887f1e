// Lists of consecutive series, as logs, index files and backups store them (docs/formats/wal.md,
// `additions`).
import { NO_MEASUREMENT } from '@tidemark/kernels';

import { ByteReader, ByteWriter } from '../columns/bytes.ts';
import type { SeriesId } from '../columns/series-id.ts';

export type EncodedSeries = {
  /** Number of entries. */
  readonly count: number;
  /**
   * An entry is a series (id of its measurement, length and bytes of its canonical key without the
   * measurement), or a gap (`NO_MEASUREMENT` and the number of ids without series).
   */
  readonly bytes: Uint8Array;
  /** Larger than all ids of measurements in `bytes`. */
  readonly measurementIdEnd: number;
};

/** A series with its id, or a gap of ids. */
export type SeriesEntry =
  | { readonly id: SeriesId; readonly measurementId: number; readonly tags: Uint8Array }
  | { readonly id: SeriesId; readonly noSeries: number };

/** Decodes a list whose first id is `first`. */
export function* seriesEntries(list: EncodedSeries, first: SeriesId): Generator<SeriesEntry> {
  const reader = new ByteReader(list.bytes);
  let id = first;
  for (let n = list.count; n > 0; n--) {
    const measurementId = reader.varint();
    if (measurementId === NO_MEASUREMENT) {
      const noSeries = reader.varint();
      yield { id, noSeries };
      id += noSeries;
    } else yield { id: id++, measurementId, tags: reader.block() };
  }
}

/** Encodes a list. */
export function encodeSeriesEntries(entries: Iterable<SeriesEntry>): EncodedSeries {
  const out = new ByteWriter(1 << 12);
  let count = 0;
  let measurementIdEnd = 0;
  for (const entry of entries) {
    count++;
    if ('noSeries' in entry) {
      out.varint(NO_MEASUREMENT);
      out.varint(entry.noSeries);
      continue;
    }
    measurementIdEnd = Math.max(measurementIdEnd, entry.measurementId + 1);
    out.varint(entry.measurementId);
    out.block(entry.tags);
  }
  return { count, bytes: out.finish(), measurementIdEnd };
}

/** Reads a list and checks its lengths. Throws `DecodeError`. */
export function readSeriesList(reader: ByteReader): EncodedSeries {
  const count = reader.count(2);
  const start = reader.position;
  let measurementIdEnd = 0;
  for (let i = 0; i < count; i++) {
    const measurementId = reader.varint();
    if (measurementId === NO_MEASUREMENT) {
      reader.varint();
      continue;
    }
    if (measurementId >= measurementIdEnd) measurementIdEnd = measurementId + 1;
    reader.skip(reader.varint());
  }
  return { count, bytes: reader.bytes.subarray(start, reader.position), measurementIdEnd };
}
