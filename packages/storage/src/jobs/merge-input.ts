// One of the segments that are merged, in the fields of the output: its rows are read all at once
// or one column at a time, or its chunks are copied.
import type { Column } from '@tidemark/core';

import { codecs } from '../columns/codecs.ts';
import type { Run } from '../columns/run.ts';
import { textsOfRows } from '../columns/run-texts.ts';
import type { SeriesRows } from '../columns/series-rows.ts';
import type { ChunkMeta, ColumnMeta, SegmentField, SegmentMeasurement } from '../segment/format.ts';
import { holdsChunk } from '../segment/segment-blocks.ts';
import type { ReadAhead } from '../segment/segment-blocks.ts';
import type { Segment } from '../segment/segment.ts';
import type { SeriesRange } from '../segment/series-ranges.ts';
import type { SegmentWriter } from '../segment/writer.ts';
import { storedRowsWithin } from '../shard/stored-rows.ts';
import type { StoredPlace, StoredRows } from '../shard/stored-rows.ts';
import { tombstonesOf } from '../shard/tombstone.ts';
import type { Tombstone } from '../shard/tombstone.ts';
import type { PackedRun, PackedTexts } from './packed-runs.ts';

/** Segments of one measurement that are merged, oldest first. */
export type MergeInputs = {
  /** Those of all inputs. */
  readonly fields: readonly SegmentField[];
  readonly inputs: readonly MergeInput[];
};

/** The rows of a run of which each field is read for itself. */
export type OneColumn = {
  readonly times: BigInt64Array;
  /** The same times with the one column of an output field. */
  readonly column: (field: number) => Run;
};

/**
 * For a series with few rows, reading takes longer than everything else; chunks are stored in the
 * order in which they are merged.
 */
const READ_BYTES = 256 << 10;

export class MergeInput {
  readonly place: StoredPlace;
  /** Output field of each field here, and how many there are. */
  readonly #fieldMap: readonly number[];
  readonly #fields: readonly SegmentField[];
  #held: ReadAhead | undefined;

  /** `fields` may still grow. */
  constructor(place: StoredPlace, fieldMap: readonly number[], fields: readonly SegmentField[]) {
    this.place = place;
    this.#fieldMap = fieldMap;
    this.#fields = fields;
  }

  /** All rows that are left. */
  load(rows: StoredRows): Run {
    return rows.left(this.#columnsOf(rows));
  }

  /** As `load`, of a whole chunk, leaving texts in frames as they are stored. */
  loadPacked(rows: StoredRows): PackedRun {
    const bytes = this.#bytesOf(rows.chunk);
    const columns: Run['columns'][number][] = this.#fields.map(() => undefined);
    const packed = new Map<number, PackedTexts>();
    let textBytes = 0;
    for (const meta of rows.chunk.columns) {
      const output = this.#outputOf(meta);
      const texts = this.#packedTexts(rows, meta, bytes);
      if (texts === undefined) columns[output] = rows.column(meta, bytes);
      else packed.set(output, texts);
      textBytes += texts?.textBytes ?? 0;
    }
    const run = { times: rows.times(bytes), columns };
    return { ...run, packed, textBytes: textBytes + textsOfRows(run, 0, run.times.length) };
  }

  /** `undefined` for columns with nulls, of another type or in another encoding. */
  #packedTexts(rows: StoredRows, meta: ColumnMeta, bytes: ReadAhead): PackedTexts | undefined {
    const { segment, stored } = this.place;
    const { field, offset, validBytes, valueBytes } = meta;
    if (validBytes > 0 || stored.fields[field]?.type !== 'string') return undefined;
    const { blocks } = segment;
    const block = blocks.view(offset, valueBytes, bytes);
    const textBytes = blocks.decoding(offset, () => codecs().texts.joinableBytes(block));
    if (textBytes === undefined) return undefined;
    return { block: block.slice(), textBytes, column: () => rows.column(meta) };
  }

  /**
   * As `load`, for a reader that takes one column at a time. Reads the chunk once, and keeps it.
   */
  single(rows: StoredRows): OneColumn {
    const { segment } = this.place;
    const bytes = rows.isPart ? undefined : segment.blocks.readOn(rows.chunk, 0);
    const all = rows.times(bytes);
    const metas = new Map<number, ColumnMeta>();
    for (const meta of rows.chunk.columns) metas.set(this.#outputOf(meta), meta);
    const runOf = (column: Column | undefined): Run => rows.left({ times: all, columns: [column] });
    return {
      times: runOf(undefined).times,
      column: (field) => {
        const meta = metas.get(field);
        return runOf(meta && rows.column(meta, bytes));
      },
    };
  }

  /** Rows of the series in the range, in blocks. */
  *blocks(range: SeriesRange): Generator<SeriesRows | undefined, void> {
    for (const rows of storedRowsWithin(this.place, range)) {
      yield rows.leftOfSeries(this.#columnsOf(rows));
    }
  }

  /** Bytes of the texts of a chunk in its file: at most what they take in memory, mostly less. */
  storedTextBytes({ columns }: ChunkMeta): number {
    const { fields } = this.place.stored;
    let bytes = 0;
    for (const { field, valueBytes } of columns) {
      if (fields[field]?.type === 'string') bytes += valueBytes;
    }
    return bytes;
  }

  /** Copies a chunk without decoding it. */
  copyTo(writer: SegmentWriter, chunk: ChunkMeta): void {
    const bytes = this.place.segment.blocks.rawChunk(chunk);
    const columns = chunk.columns.map((meta) => ({ ...meta, field: this.#outputOf(meta) }));
    writer.addRawChunk({ meta: { ...chunk, columns }, bytes });
  }

  #outputOf({ field }: ColumnMeta): number {
    return this.#fieldMap[field]!;
  }

  #columnsOf(rows: StoredRows): Run {
    const bytes = rows.isPart ? undefined : this.#bytesOf(rows.chunk);
    const columns: Run['columns'][number][] = this.#fields.map(() => undefined);
    for (const meta of rows.chunk.columns) columns[this.#outputOf(meta)] = rows.column(meta, bytes);
    return { times: rows.times(bytes), columns };
  }

  /** Reads chunks that are merged one after the other, many at a time. */
  #bytesOf(chunk: ChunkMeta): ReadAhead {
    if (this.#held === undefined || !holdsChunk(this.#held, chunk)) {
      this.#held = this.place.segment.blocks.readOn(chunk, READ_BYTES);
    }
    return this.#held;
  }
}

/**
 * The segments that have the measurement. Those from before a DROP MEASUREMENT are left out
 * together with their fields.
 */
export function mergeInputs(
  segments: readonly Segment[],
  tombstones: readonly Tombstone[],
  measurementId: number,
): MergeInputs {
  const frees = tombstonesOf(tombstones, measurementId).filter((one) => one.freesTypes);
  const freedAt = Math.max(0, ...frees.map(({ sequence }) => sequence));
  const fields: SegmentField[] = [];
  const places = new Map<string, number>();
  const outputOf = (field: SegmentField): number => {
    const known = places.get(field.name);
    if (known !== undefined) return known;
    places.set(field.name, fields.length);
    return fields.push(field) - 1;
  };
  const inputs: MergeInput[] = [];
  for (const segment of segments) {
    const stored: SegmentMeasurement | undefined = segment.measurement(measurementId);
    if (stored === undefined || segment.info.sequence < freedAt) continue;
    const place = { segment, stored, tombstones };
    inputs.push(new MergeInput(place, stored.fields.map(outputOf), fields));
  }
  return { fields, inputs };
}
