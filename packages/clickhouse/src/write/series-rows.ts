// Rows of a series table in RowBinary: the series with rows in each shard group.
import { RowWriter } from '../sql/row-binary.ts';

export type SeriesRow = {
  readonly measurement: string;
  readonly id: bigint;
  readonly group: number;
  readonly tagKeys: readonly string[];
  readonly tagValues: readonly string[];
};

/** A row that says whether a series has rows, as of a version. */
type Mark = { readonly version: bigint; readonly isDeleted: boolean };

/** The rows of one insert. Their version is not known yet when they are added. */
export class SeriesRows {
  readonly #rows = new RowWriter();
  /** Offsets of the versions to fill in. */
  readonly #versionAt: number[] = [];

  get sizeBytes(): number {
    return this.#rows.sizeBytes;
  }

  /** Adds a series that has rows. */
  add(series: SeriesRow): void {
    this.#versionAt.push(this.#rows.sizeBytes);
    this.#append(series, { version: 0n, isDeleted: false });
  }

  /**
   * Adds a row with a version of its own, which replaces the row of that version. A deleted series
   * keeps its tags, by which deletes find its points.
   */
  replace(series: SeriesRow, { version, isDeleted }: Mark): void {
    this.#append(series, { version: version + 1n, isDeleted });
  }

  #append(series: SeriesRow, { version, isDeleted }: Mark): void {
    const rows = this.#rows;
    rows.uint64(version);
    rows.text(series.measurement);
    rows.uint64(series.id);
    rows.texts(series.tagKeys);
    rows.texts(series.tagValues);
    rows.uint8(isDeleted ? 1 : 0);
    rows.uint32(series.group);
  }

  /** Appends the rows of another one. */
  append(others: SeriesRows): void {
    const start = this.#rows.sizeBytes;
    for (const at of others.#versionAt) this.#versionAt.push(start + at);
    this.#rows.bytes(others.#rows.finish());
  }

  /** The bytes, as a view. Nothing may be added afterwards. */
  finish(version = 0n): Uint8Array {
    const bytes = this.#rows.finish();
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (const at of this.#versionAt) view.setBigUint64(at, version, true);
    return bytes;
  }
}
