// Point batches on their way to a task host. Columns cross as they are, moved or copied; series cross once and are
// named by number from then on, because a write of thousands of series would otherwise be mostly their texts.
import { assert } from '@tidemark/core';
import { PagedSeries, SeriesPage } from '../data/paged-series.ts';
import type { SeriesShape } from '../data/paged-series.ts';
import type { PointBatch, RowBlock, SeriesRef } from '../point-batch.ts';

/** Series as one text, which crosses many times faster than texts for each of them. */
type PackedSeries = {
  readonly shapes: readonly SeriesShape[];
  /** Index into `shapes` by series. */
  readonly shapeOf: Uint32Array;
  /** Tag values of all series, see `SeriesPage`. */
  readonly text: string;
  readonly ends: Uint32Array;
};

export type PackedBatch = {
  readonly database: string;
  readonly retentionPolicy: string;
  readonly rowCount: number;
  /** Numbers are counted from here; those of earlier batches are forgotten when it changes. */
  readonly base: number;
  /** By series of the batch: its number; `UNNUMBERED`, or a number not seen before, takes the next of `series`. */
  readonly numbers: Uint32Array;
  readonly series: PackedSeries | undefined;
  readonly seriesOfRow: Uint32Array;
  readonly times: BigInt64Array;
  readonly blocks: readonly RowBlock[];
  readonly blockOfRow: Uint32Array | undefined;
  readonly rowInBlock: Uint32Array | undefined;
};

const UNNUMBERED = 0xffffffff;

/** Numbers that are remembered: a bit more than one index of series hands out before it starts over. */
const NUMBERS_MAX = 1 << 20;
const NUMBERS_KEPT = 1 << 18;

/** Below this, copying the columns costs less than moving them. */
const ROWS_MOVED_MIN = 64;

/** The sending end. One for each host: it remembers which series the host knows. */
export class BatchPacker {
  #base = 0;
  #known = new Uint8Array(1024);

  pack(batch: PointBatch): PackedBatch {
    const { series } = batch;
    const numbers = new Uint32Array(series.length);
    const unknown: SeriesRef[] = [];
    // The base must not change within a batch.
    for (const { stableId } of series) if (stableId !== undefined) this.#reach(stableId);
    for (let i = 0; i < series.length; i++) {
      const ref = series[i] as SeriesRef;
      const number = ref.stableId === undefined ? -1 : ref.stableId - this.#base;
      if (number < 0) {
        numbers[i] = UNNUMBERED;
        unknown.push(ref);
        continue;
      }
      numbers[i] = number;
      if (this.#known[number] === 1) continue;
      this.#known[number] = 1;
      unknown.push(ref);
    }
    const { database, retentionPolicy, rowCount, seriesOfRow, times, blocks } = batch;
    return {
      database,
      retentionPolicy,
      rowCount,
      base: this.#base,
      numbers,
      series: unknown.length === 0 ? undefined : packSeries(unknown),
      seriesOfRow,
      times,
      blocks,
      blockOfRow: batch.blockOfRow,
      rowInBlock: batch.rowInBlock,
    };
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

/** The receiving end. */
export class BatchUnpacker {
  #base = 0;
  #refs: (SeriesRef | undefined)[] = [];

  unpack(packed: PackedBatch): PointBatch {
    if (packed.base !== this.#base) {
      this.#base = packed.base;
      this.#refs = [];
    }
    const refs = this.#refs;
    const next = packed.series === undefined ? undefined : new PackedSeriesReader(packed.series);
    const series: SeriesRef[] = [];
    for (const number of packed.numbers) {
      if (number === UNNUMBERED) {
        series.push(taken(next, undefined));
        continue;
      }
      let ref = refs[number];
      if (ref === undefined) {
        ref = taken(next, number + this.#base);
        // Without holes: a sparse array is a table, several times slower to read.
        while (refs.length < number) refs.push(undefined);
        refs[number] = ref;
      }
      series.push(ref);
    }
    const { database, retentionPolicy, rowCount, seriesOfRow, times, blocks } = packed;
    const { blockOfRow, rowInBlock } = packed;
    return {
      database,
      retentionPolicy,
      rowCount,
      series,
      seriesOfRow,
      times,
      blocks,
      blockOfRow,
      rowInBlock,
    };
  }
}

/** Adds the buffers that can be moved instead of being copied. Nobody may read the batch afterwards. */
export function appendMovable(batch: PackedBatch, buffers: Set<ArrayBuffer>): void {
  if (batch.rowCount < ROWS_MOVED_MIN) return;
  const add = (view: ArrayBufferView | undefined): void => {
    if (view === undefined || !(view.buffer instanceof ArrayBuffer)) return;
    // A view of a part shares its buffer with something else.
    if (view.byteLength === view.buffer.byteLength) buffers.add(view.buffer);
  };
  add(batch.seriesOfRow);
  add(batch.times);
  add(batch.blockOfRow);
  add(batch.rowInBlock);
  for (const { columns } of batch.blocks) {
    for (const column of columns) add(column.type === 'string' ? column.codes : column.values);
  }
}

function packSeries(refs: readonly SeriesRef[]): PackedSeries {
  const shapes: SeriesShape[] = [];
  const shapeOf = new Uint32Array(refs.length);
  let last: SeriesShape | undefined;
  let valueCount = 0;
  for (let i = 0; i < refs.length; i++) {
    const ref = refs[i] as SeriesRef;
    const { name, tagKeys } = ref;
    if (last === undefined || name !== last.name || tagKeys !== last.tagKeys) {
      shapes.push((last = { name, tagKeys }));
    }
    shapeOf[i] = shapes.length - 1;
    valueCount += tagKeys.length;
  }
  const page = wholePage(refs, valueCount) ?? pageOf(refs, valueCount);
  return { shapes, shapeOf, text: page.text, ends: page.ends };
}

/** The page that consists of just these series: the rule, when a write brings new ones. */
function wholePage(refs: readonly SeriesRef[], valueCount: number): SeriesPage | undefined {
  const [first] = refs;
  if (!(first instanceof PagedSeries) || first.page.ends.length !== valueCount) return undefined;
  const { page } = first;
  let next = 0;
  for (const ref of refs) {
    if (!(ref instanceof PagedSeries) || ref.page !== page || ref.first !== next) return undefined;
    next += ref.shape.tagKeys.length;
  }
  return page;
}

function pageOf(refs: readonly SeriesRef[], valueCount: number): SeriesPage {
  const ends = new Uint32Array(valueCount);
  let text = '';
  let at = 0;
  for (const { tagValues } of refs) {
    for (const value of tagValues) {
      text += value;
      ends[at++] = text.length;
    }
  }
  return SeriesPage.of(text, ends);
}

/** Takes series out of what was packed, in its order. */
class PackedSeriesReader {
  readonly #packed: PackedSeries;
  readonly #page: SeriesPage;
  #next = 0;
  #nextValue = 0;

  constructor(packed: PackedSeries) {
    this.#packed = packed;
    this.#page = SeriesPage.of(packed.text, packed.ends);
  }

  take(stableId: number | undefined): SeriesRef {
    const { shapes, shapeOf } = this.#packed;
    const shape = shapes[shapeOf[this.#next++] ?? shapes.length];
    assert(shape !== undefined, 'series without a known number are in the batch');
    const first = this.#nextValue;
    this.#nextValue += shape.tagKeys.length;
    return new PagedSeries(shape, { page: this.#page, first }, stableId);
  }
}

function taken(packed: PackedSeriesReader | undefined, stableId: number | undefined): SeriesRef {
  assert(packed !== undefined, 'a batch with unknown series brings them');
  return packed.take(stableId);
}
