// Encodes point batches for a task host. Columns are transferred or copied as they are; each series
// is sent once and referred to by number afterwards, because otherwise a write of thousands of
// series would consist mostly of their texts.
import { assert, textsBytes } from '@tidemark/core';
import type { Column } from '@tidemark/core';
import { PagedSeries, SeriesPage } from '../data/paged-series.ts';
import type { SeriesShape } from '../data/paged-series.ts';
import { DictionarySeries } from '../data/series-dictionary.ts';
import { TagKeys } from '../data/series.ts';
import type { Series, SeriesTable } from '../data/series.ts';
import type { PointBatch, RowBlock, SeriesList, SeriesRef } from '../point-batch.ts';

/** Series as one text, which is sent many times faster than texts for each of them. */
type PackedSeries = {
  readonly shapes: readonly SeriesShape[];
  /** Index into `shapes` by series; `undefined` when there is one shape. */
  readonly shapeOf: Uint32Array | undefined;
  /** Tag values of all series, see `SeriesPage`. */
  readonly text: string;
  readonly ends: Uint32Array;
};

export type PackedBatch = {
  readonly database: string;
  readonly retentionPolicy: string;
  readonly record: number | undefined;
  readonly rowCount: number;
  /** Numbers are counted from here; those of earlier batches are dropped when it changes. */
  readonly base: number;
  /**
   * By series of the batch: its number; `UNNUMBERED`, or an unknown number, takes the next of
   * `series`.
   */
  readonly numbers: Uint32Array;
  readonly series: PackedSeries | undefined;
  readonly seriesOfRow: Uint32Array;
  readonly times: BigInt64Array;
  readonly blocks: readonly RowBlock[];
  readonly blockOfRow: Uint32Array | undefined;
  readonly rowInBlock: Uint32Array | undefined;
};

const UNNUMBERED = 0xffffffff;
/** In place of a stable id. */
const NO_ID = -1;

/**
 * Maximum number of cached numbers: slightly more than an index of series assigns before it starts
 * over.
 */
const NUMBERS_MAX = 1 << 20;
const NUMBERS_KEPT = 1 << 18;

/** For fewer rows, copying the columns costs less than transferring them. */
const ROWS_MOVED_MIN = 64;

/** The sender's side, one for each host: it remembers which series the host has. */
export class BatchPacker {
  #base = 0;
  #known = new Uint8Array(1024);

  pack(batch: PointBatch): PackedBatch {
    const numbers = this.#numbers(stableIds(batch.series));
    return packedBatch(batch, { base: this.#base, numbers, unknown: this.#learn(numbers) });
  }

  /** Turns the result of `packWhole` into a batch for this packer's receiver. */
  adopt(packed: PackedBatch): PackedBatch {
    return { ...packed, base: this.#base };
  }

  #numbers(ids: Float64Array): Uint32Array {
    let newest = NO_ID;
    for (let i = 0; i < ids.length; i++) newest = Math.max(newest, ids[i] as number);
    // The base must not change within a batch.
    if (newest !== NO_ID) this.#reach(newest);
    const numbers = new Uint32Array(ids.length);
    const base = this.#base;
    for (let i = 0; i < ids.length; i++) {
      const number = (ids[i] as number) - base;
      numbers[i] = number < 0 ? UNNUMBERED : number;
    }
    return numbers;
  }

  /** Indexes of the series that the host does not have yet. */
  #learn(numbers: Uint32Array): Uint32Array {
    const unknown = new Uint32Array(numbers.length);
    const known = this.#known;
    let count = 0;
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i] as number;
      if (number !== UNNUMBERED) {
        if (known[number] === 1) continue;
        known[number] = 1;
      }
      unknown[count++] = i;
    }
    return unknown.subarray(0, count);
  }

  /** Makes room for a number. */
  #reach(stableId: number): void {
    if (stableId - this.#base >= NUMBERS_MAX) {
      this.#base = stableId - NUMBERS_KEPT;
      this.#known = new Uint8Array(NUMBERS_KEPT * 2);
    }
    const number = stableId - this.#base;
    if (number < this.#known.length) return;
    const larger = new Uint8Array(Math.max(this.#known.length * 2, number + 1));
    larger.set(this.#known);
    this.#known = larger;
  }
}

/** A batch with all of its series: it can be sent by any packer for the receiver. */
export function packWhole(batch: PointBatch): PackedBatch {
  const { length } = batch.series;
  const numbers = new Uint32Array(length).fill(UNNUMBERED);
  const unknown = Uint32Array.from({ length }, (_, i) => i);
  return packedBatch(batch, { base: 0, numbers, unknown });
}

function packedBatch(
  batch: PointBatch,
  {
    base,
    numbers,
    unknown,
  }: { readonly base: number; readonly numbers: Uint32Array; readonly unknown: Uint32Array },
): PackedBatch {
  const { database, retentionPolicy, rowCount, series, seriesOfRow, times, blocks } = batch;
  return {
    database,
    retentionPolicy,
    record: batch.record,
    rowCount,
    base,
    numbers,
    series: unknown.length === 0 ? undefined : packSeries(series, unknown),
    seriesOfRow,
    times,
    blocks,
    blockOfRow: batch.blockOfRow,
    rowInBlock: batch.rowInBlock,
  };
}

/** By series; `NO_ID` for those without. */
function stableIds(series: SeriesList): Float64Array {
  if (series instanceof DictionarySeries) return series.stableIds();
  const ids = new Float64Array(series.length);
  for (let i = 0; i < ids.length; i++) ids[i] = series.at(i)?.stableId ?? NO_ID;
  return ids;
}

/** A batch as it arrived, and its series in the table of the receiver. */
export type UnpackedBatch = { readonly batch: PointBatch; readonly series: readonly Series[] };

/** The receiver's side. Series with numbers are only in the table. */
export class BatchUnpacker {
  readonly #table: SeriesTable;
  #base = 0;
  #series: (Series | undefined)[] = [];

  constructor(table: SeriesTable) {
    this.#table = table;
  }

  unpack(packed: PackedBatch): UnpackedBatch {
    if (packed.base !== this.#base) {
      this.#base = packed.base;
      this.#series = [];
    }
    const series = this.#unpackSeries(packed);
    const { database, retentionPolicy, rowCount, seriesOfRow, times, blocks } = packed;
    const { record, blockOfRow, rowInBlock } = packed;
    return {
      series,
      batch: {
        database,
        retentionPolicy,
        record,
        rowCount,
        series,
        seriesOfRow,
        times,
        blocks,
        blockOfRow,
        rowInBlock,
      },
    };
  }

  #unpackSeries({ numbers, series: packed }: PackedBatch): Series[] {
    const table = this.#table;
    const known = this.#series;
    const next = packed === undefined ? undefined : new PackedSeriesReader(packed);
    const series: Series[] = [];
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i] as number;
      if (number === UNNUMBERED) {
        series.push(table.intern(taken(next).ref()));
        continue;
      }
      const found = known[number];
      const one = found === undefined ? taken(next).add(table) : table.present(found);
      if (one !== found) {
        // Without holes: a sparse array is a table, several times slower to read.
        while (known.length < number) known.push(undefined);
        known[number] = one;
      }
      series.push(one);
    }
    return series;
  }
}

/**
 * The batch with columns that share no buffer with anything else, as a message carries whole
 * buffers: columns of a batch that came in a frame would bring the frame each time. Adds their
 * buffers to those of the message, which transfers them; the given batch must not be read
 * afterwards.
 */
export function movable(
  batch: PackedBatch,
  buffers: Set<ArrayBuffer>,
  rowsMovedMin = ROWS_MOVED_MIN,
): PackedBatch {
  const isMoved = batch.rowCount >= rowsMovedMin;
  const own: Owned = (view) => {
    const owned = alone(view);
    if (isMoved && owned.buffer instanceof ArrayBuffer) buffers.add(owned.buffer);
    return owned;
  };
  const { series, blockOfRow, rowInBlock } = batch;
  return {
    ...batch,
    numbers: alone(batch.numbers),
    // Its page may be the one that the sender remembers.
    series: series && {
      ...series,
      shapeOf: series.shapeOf && alone(series.shapeOf),
      ends: alone(series.ends),
    },
    seriesOfRow: own(batch.seriesOfRow),
    times: own(batch.times),
    blocks: batch.blocks.map(({ fieldNames, columns }) => ({
      fieldNames,
      columns: columns.map((column) => ownColumn(column, own)),
    })),
    blockOfRow: blockOfRow && own(blockOfRow),
    rowInBlock: rowInBlock && own(rowInBlock),
  };
}

type ColumnArray = Uint8Array | Uint32Array | Float64Array | BigInt64Array | BigUint64Array;

type Owned = <T extends ColumnArray>(view: T) => T;

/** A view that has its buffer for itself. */
const alone: Owned = (view) =>
  view.byteLength === view.buffer.byteLength ? view : (view.slice() as typeof view);

function ownColumn(column: Column, own: Owned): Column {
  const valid = column.valid && own(column.valid);
  if (column.type === 'string') {
    const { bytes, offsets } = column.texts;
    return {
      ...column,
      valid,
      codes: own(column.codes),
      texts: { bytes: own(bytes), offsets: own(offsets) },
    };
  }
  return { ...column, valid, values: own(column.values) } as Column;
}

/** About what a batch takes in memory: the same at both ends. */
export function packedBytes(batch: PackedBatch): number {
  const { series, seriesOfRow, times, blockOfRow, rowInBlock } = batch;
  let sizeBytes = batch.numbers.byteLength + seriesOfRow.byteLength + times.byteLength;
  sizeBytes += (blockOfRow?.byteLength ?? 0) + (rowInBlock?.byteLength ?? 0);
  if (series !== undefined) sizeBytes += series.text.length + series.ends.byteLength;
  for (const { columns } of batch.blocks) {
    for (const column of columns) {
      if (column.type !== 'string') sizeBytes += column.values.byteLength;
      else {
        sizeBytes += column.codes.byteLength;
        sizeBytes += textsBytes(column.texts);
      }
    }
  }
  return sizeBytes;
}

/** The series of a batch with these indexes. */
function packSeries(series: SeriesList, indexes: Uint32Array): PackedSeries {
  return (
    (series instanceof DictionarySeries ? wholeSection(series, indexes) : undefined) ??
    packRefs(Array.from(indexes, (i) => series.at(i) as SeriesRef))
  );
}

/** The page that consists of exactly these series: common for a write with new ones. */
function wholeSection(series: DictionarySeries, indexes: Uint32Array): PackedSeries | undefined {
  const section = series.sectionFrom(indexes[0] as number);
  if (section === undefined || section.count !== indexes.length) return undefined;
  const { shape, page } = section;
  if (page.ends.length !== section.count * shape.tagKeys.length) return undefined;
  for (let i = 1; i < indexes.length; i++) {
    if (!series.isSuccessor(indexes[i] as number, indexes[i - 1] as number)) return undefined;
  }
  return { shapes: [shape], shapeOf: undefined, text: page.text, ends: page.ends };
}

function packRefs(refs: readonly SeriesRef[]): PackedSeries {
  const shapes: SeriesShape[] = [];
  const shapeOf = new Uint32Array(refs.length);
  const ends: number[] = [];
  let last: SeriesShape | undefined;
  let text = '';
  for (let i = 0; i < refs.length; i++) {
    const { name, tagKeys, tagValues } = refs[i] as SeriesRef;
    if (last === undefined || name !== last.name || tagKeys !== last.tagKeys) {
      shapes.push((last = { name, tagKeys }));
    }
    shapeOf[i] = shapes.length - 1;
    for (const value of tagValues) {
      text += value;
      ends.push(text.length);
    }
  }
  return { shapes, shapeOf, text, ends: Uint32Array.from(ends) };
}

const NO_SHAPE = { name: '', keys: new TagKeys([]) };

/** Unpacks series in their order. */
class PackedSeriesReader {
  readonly #packed: PackedSeries;
  readonly #page: SeriesPage;
  #next = 0;
  #nextValue = 0;
  #lastShape: SeriesShape | undefined;
  #last: { readonly name: string; readonly keys: TagKeys } = NO_SHAPE;

  constructor(packed: PackedSeries) {
    this.#packed = packed;
    this.#page = SeriesPage.of(packed.text, packed.ends);
  }

  /** The next series, interned. */
  add(table: SeriesTable): Series {
    const shape = this.#shape();
    if (shape !== this.#lastShape) {
      this.#lastShape = shape;
      this.#last = { name: shape.name, keys: table.internKeys(shape.tagKeys) };
    }
    return table.add(this.#last, this.#page, this.#takeValues(shape));
  }

  /** The next series, without interning it, for one without a number. */
  ref(): SeriesRef {
    const shape = this.#shape();
    return new PagedSeries(shape, { page: this.#page, first: this.#takeValues(shape) }, undefined);
  }

  #shape(): SeriesShape {
    const { shapes, shapeOf } = this.#packed;
    const shape = shapes[shapeOf === undefined ? 0 : (shapeOf[this.#next++] ?? shapes.length)];
    assert(shape !== undefined, 'series without a known number are in the batch');
    return shape;
  }

  #takeValues({ tagKeys }: SeriesShape): number {
    const first = this.#nextValue;
    this.#nextValue += tagKeys.length;
    return first;
  }
}

function taken(packed: PackedSeriesReader | undefined): PackedSeriesReader {
  assert(packed !== undefined, 'a batch with unknown series brings them');
  return packed;
}
