// median, mode, stddev, percentile, distinct: reducers that need all values of the window at once.
import type { FieldValue } from '@tidemark/core';
import { columnValue, compareBytes } from '@tidemark/core';

import type { LeafWriter, RowRef } from '../operators/leaf-writer.ts';
import type { Accumulator, ReducerInput } from './reducers.ts';

type Point = { readonly time: bigint; readonly value: FieldValue; readonly row: RowRef };

const EPOCH = 0n;

/** Order of values of one type: numbers by size, false before true, strings by bytes. */
export function compareValues(a: FieldValue, b: FieldValue): number {
  if (typeof a === 'string' && typeof b === 'string') return compareBytes(a, b);
  if (a < b) return -1;
  return a > b ? 1 : 0;
}

function compareTimes(a: Point, b: Point): number {
  if (a.time < b.time) return -1;
  return a.time > b.time ? 1 : 0;
}

abstract class ListAccumulator implements Accumulator {
  protected points: Point[] = [];

  add({ times, column, columns }: ReducerInput, from: number, to: number): void {
    for (let i = from; i < to; i++) {
      const value = columnValue(column, i);
      if (value !== null) this.points.push({ time: times[i]!, value, row: { columns, row: i } });
    }
  }

  emit(stamp: bigint | undefined, out: LeafWriter): void {
    const { points } = this;
    this.points = [];
    if (points.length > 0) this.reduce(points, stamp, out);
  }

  /** Appends what the points of a window come to. There is at least one. */
  protected abstract reduce(points: Point[], stamp: bigint | undefined, out: LeafWriter): void;
}

function byValue(points: Point[]): Point[] {
  return points.sort((a, b) => compareValues(a.value, b.value) || compareTimes(a, b));
}

export class MedianAccumulator extends ListAccumulator {
  protected reduce(points: Point[], stamp: bigint | undefined, out: LeafWriter): void {
    const sorted = byValue(points);
    const high = sorted[sorted.length >> 1]!.value;
    if (sorted.length % 2 === 1) {
      out.append(stamp ?? EPOCH, Number(high));
      return;
    }
    const low = sorted[(sorted.length >> 1) - 1]!.value;
    const distance =
      typeof low === 'bigint' && typeof high === 'bigint'
        ? Number(BigInt.asIntN(64, high - low))
        : Number(high) - Number(low);
    out.append(stamp ?? EPOCH, Number(low) + distance / 2);
  }
}

/** The most frequent value. Among values that occur once only, the smallest; ties go to the earlier occurrence. */
export class ModeAccumulator extends ListAccumulator {
  protected reduce(points: Point[], stamp: bigint | undefined, out: LeafWriter): void {
    const sorted = byValue(points);
    let best = sorted[0]!;
    let bestCount = 0;
    let bestFirst = best.time;
    for (let start = 0; start < sorted.length;) {
      const first = sorted[start]!;
      let end = start + 1;
      while (end < sorted.length && sorted[end]!.value === first.value) end++;
      const count = end - start;
      const isEarlier = count === bestCount && count > 1 && first.time <= bestFirst;
      if (count > bestCount || isEarlier) {
        best = first;
        bestCount = count;
        bestFirst = first.time;
      }
      start = end;
    }
    out.append(stamp ?? EPOCH, best.value);
  }
}

/** Standard deviation of the sample; a single value has none, which is null. */
export class StddevAccumulator extends ListAccumulator {
  protected reduce(points: Point[], stamp: bigint | undefined, out: LeafWriter): void {
    let mean = 0;
    let count = 0;
    for (const { value } of points) mean += (Number(value) - mean) / ++count;
    let squares = 0;
    for (const { value } of points) squares += (Number(value) - mean) ** 2;
    const deviation = count < 2 ? null : Math.sqrt(squares / (count - 1));
    out.append(stamp ?? EPOCH, deviation);
  }
}

/** Nearest rank; no point for ranks outside the window's points. */
export class PercentileAccumulator extends ListAccumulator {
  readonly #percent: number;

  constructor(percent: number) {
    super();
    this.#percent = percent;
  }

  protected reduce(points: Point[], stamp: bigint | undefined, out: LeafWriter): void {
    const rank = Math.floor((points.length * this.#percent) / 100 + 0.5) - 1;
    if (rank < 0 || rank >= points.length) return;
    const point = byValue(points)[rank]!;
    out.append(stamp ?? point.time, point.value, point.row);
  }
}

/** The different values by first occurrence, or their number. */
export class DistinctAccumulator extends ListAccumulator {
  readonly #wantsCount: boolean;

  constructor(wantsCount: boolean) {
    super();
    this.#wantsCount = wantsCount;
  }

  protected reduce(points: Point[], stamp: bigint | undefined, out: LeafWriter): void {
    const earliest = new Map<FieldValue, Point>();
    for (const point of points) {
      const known = earliest.get(point.value);
      if (known === undefined || point.time < known.time) earliest.set(point.value, point);
    }
    if (this.#wantsCount) {
      out.append(stamp ?? EPOCH, BigInt(earliest.size));
      return;
    }
    const ordered = [...earliest.values()].sort(
      (a, b) => compareTimes(a, b) || compareValues(a.value, b.value),
    );
    for (const { value } of ordered) out.append(stamp ?? EPOCH, value);
  }
}
