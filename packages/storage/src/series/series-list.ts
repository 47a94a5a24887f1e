// Consecutive series as logs, index files and backups hold them (docs/formats/wal.md, `additions`).
import type { ByteReader } from '../bytes.ts';

export type EncodedSeries = {
  /** Of entries. */
  readonly count: number;
  /**
   * An entry is a series: id of its measurement, length and bytes of its canonical key without the measurement; or
   * `NO_SERIES` and how many ids have none.
   */
  readonly bytes: Uint8Array;
  /** Above all ids of measurements that `bytes` mentions. */
  readonly measurementIdEnd: number;
};

const NO_SERIES = 0xffffffff;

/** Steps over a list and checks that its lengths fit. Throws `DecodeError`. */
export function readSeriesList(reader: ByteReader): EncodedSeries {
  const count = reader.count(2);
  const start = reader.position;
  let measurementIdEnd = 0;
  for (let i = 0; i < count; i++) {
    const measurementId = reader.varint();
    if (measurementId === NO_SERIES) {
      reader.varint();
      continue;
    }
    if (measurementId >= measurementIdEnd) measurementIdEnd = measurementId + 1;
    reader.skip(reader.varint());
  }
  return { count, bytes: reader.bytes.subarray(start, reader.position), measurementIdEnd };
}
