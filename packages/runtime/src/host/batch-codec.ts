// Point batches on their way to a task host. Columns cross as they are, moved or copied; series cross once and are
// named by number from then on, because a write of thousands of series would otherwise be mostly their texts.
import { assert } from '@tidemark/core';
import type { PointBatch, RowBlock, SeriesRef } from '../point-batch.ts';

/** Series as flat lists of texts, which cross several times faster than an object for each. */
type PackedSeries = {
  readonly keySets: readonly (readonly string[])[];
  /** Index into `keySets` by series. */
  readonly keySetOf: Uint32Array;
  /** By series: its name, then its tag values. */
  readonly texts: readonly string[];
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
    const next = packed.series === undefined ? undefined : unpackSeries(packed.series);
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
  const keySets: (readonly string[])[] = [];
  const indexOf = new Map<readonly string[], number>();
  const keySetOf = new Uint32Array(refs.length);
  const texts: string[] = [];
  refs.forEach((ref, i) => {
    let index = indexOf.get(ref.tagKeys);
    if (index === undefined) {
      index = keySets.push(ref.tagKeys) - 1;
      indexOf.set(ref.tagKeys, index);
    }
    keySetOf[i] = index;
    texts.push(ref.name);
    for (const value of ref.tagValues) texts.push(value);
  });
  return { keySets, keySetOf, texts };
}

function* unpackSeries({
  keySets,
  keySetOf,
  texts,
}: PackedSeries): Generator<SeriesRef, undefined> {
  let at = 0;
  for (const index of keySetOf) {
    const tagKeys = keySets[index] as readonly string[];
    const name = texts[at++] as string;
    const tagValues = texts.slice(at, at + tagKeys.length);
    at += tagKeys.length;
    yield { name, tagKeys, tagValues };
  }
  return undefined;
}

function taken(
  series: Generator<SeriesRef, undefined> | undefined,
  stableId: number | undefined,
): SeriesRef {
  const ref = series?.next().value;
  assert(ref !== undefined, 'a series without a known number is in the batch');
  return stableId === undefined ? ref : { ...ref, stableId };
}
