// first and last over the merged rows of several series, of which some may have the same time.
import type { Column, FieldValue, Texts } from '@tidemark/core';
import { columnValue, compareBytes, textAt } from '@tidemark/core';

import type { PointWriter, RowRef } from '../batch/point-writer.ts';
import { isPreferred, pickTied } from './merge-heads.ts';
import type { EndFunction } from './merge-heads.ts';
import { keyOfLabel, sourceOfLabel } from '../series-label.ts';
import type { ShardSpan } from '../series-source.ts';
import type { Accumulator, AccumulatorContext, ReducerInput } from './reducers.ts';
import { RetainedRows } from './retained-rows.ts';

/** The merge that rows come from. */
export type SeriesMerge = {
  /** The input with the label of each row's series; null where rows come from a subquery. */
  readonly input: number;
  /** Inputs of texts that the merge compares at equal times. */
  readonly compared: readonly number[];
  /** The shard of a source that has a time. */
  readonly shardOf: (source: number, time: bigint) => Pick<ShardSpan, 'start' | 'end'>;
};

type Series = { readonly label: string; time: bigint };

type Tied = {
  readonly label: string | undefined;
  readonly value: FieldValue;
  readonly row: RowRef;
};

type Placed = Tied & { readonly place: number };

/** Memory of a series besides its label. */
const SERIES_BYTES = 150;

export class MergedFirstLast implements Accumulator {
  readonly #name: EndFunction;
  readonly #merge: SeriesMerge;
  readonly #hold: (bytes: number) => void;
  readonly #retained: RetainedRows;
  /** The best time of each series. */
  readonly #series = new Map<string, Series>();
  #seriesBytes = 0;
  /** The entries of `#series` by their codes in the labels of the last rows. */
  #byCode: (Series | undefined)[] = [];
  #labels: Texts | undefined;
  #best: bigint | undefined;
  /** Rows that have the best time. */
  #tied: Tied[] = [];

  constructor(name: EndFunction, merge: SeriesMerge, { hold }: AccumulatorContext) {
    this.#name = name;
    this.#merge = merge;
    this.#hold = hold;
    this.#retained = new RetainedRows(hold);
  }

  add({ column, times, columns }: ReducerInput, from: number, to: number): void {
    const labels = columns[this.#merge.input];
    for (let row = from; row < to; row++) {
      if (column.valid !== undefined && column.valid[row] !== 1) continue;
      const value = columnValue(column, row);
      if (value === null) continue;
      const time = times[row]!;
      const series = labels && this.#seriesOf(labels, row, time);
      if (series !== undefined && this.#isBetter(time, series.time)) series.time = time;
      if (this.#best !== undefined && time !== this.#best) {
        if (!this.#isBetter(time, this.#best)) continue;
        this.#retained.clear();
        this.#tied = [];
      }
      this.#best = time;
      const tied = { label: series?.label, value, row: { columns, row } };
      this.#retained.add(tied.row);
      this.#tied.push(tied);
    }
  }

  emit(stamp: bigint | undefined, out: PointWriter): undefined {
    const time = this.#best;
    const picked = time === undefined ? undefined : this.#pick(time);
    if (time !== undefined && picked !== undefined) {
      out.append(stamp ?? time, picked.value, picked.row);
    }
    this.#retained.clear();
    this.#hold(-this.#seriesBytes);
    this.#seriesBytes = 0;
    this.#series.clear();
    this.#byCode = [];
    this.#labels = undefined;
    this.#best = undefined;
    this.#tied = [];
  }

  #isBetter(time: bigint, other: bigint): boolean {
    return this.#name === 'last' ? time > other : time < other;
  }

  #seriesOf(labels: Column, row: number, time: bigint): Series | undefined {
    if (labels.type !== 'string' || labels.valid?.[row] === 0) return undefined;
    if (labels.texts !== this.#labels) {
      this.#labels = labels.texts;
      this.#byCode = [];
    }
    const code = labels.codes[row]!;
    const cached = this.#byCode[code];
    if (cached !== undefined) return cached;
    const label = textAt(labels.texts, code);
    let series = this.#series.get(label);
    if (series === undefined) {
      series = { label, time };
      this.#series.set(label, series);
      const bytes = SERIES_BYTES + 2 * label.length;
      this.#seriesBytes += bytes;
      this.#hold(bytes);
    }
    this.#byCode[code] = series;
    return series;
  }

  /** For each source, the row that its merge gives; rows of subqueries are not merged by series. */
  #pick(time: bigint): Tied | undefined {
    const bySource = new Map<number, Map<string, Tied>>();
    const candidates: Tied[] = [];
    for (const tied of this.#tied) {
      if (tied.label === undefined) {
        candidates.push(tied);
        continue;
      }
      const source = sourceOfLabel(tied.label);
      const ofSource = bySource.get(source) ?? new Map<string, Tied>();
      bySource.set(source, ofSource.set(tied.label, tied));
    }
    for (const [source, tied] of bySource) {
      const only = tied.size === 1 ? tied.values().next().value : undefined;
      candidates.push(only ?? this.#pickOfSource(source, tied, time));
    }
    const [first, ...others] = candidates;
    if (first === undefined) return undefined;
    const name = this.#name;
    return others.reduce((a, b) => (isPreferred(b.value, a.value, name) ? b : a), first);
  }

  #pickOfSource(source: number, tied: ReadonlyMap<string, Tied>, time: bigint): Tied {
    const { start, end } = this.#merge.shardOf(source, time);
    const heads: string[] = [];
    for (const { label, time: best } of this.#series.values()) {
      if (best >= start && best < end && sourceOfLabel(label) === source) heads.push(label);
    }
    heads.sort((a, b) => compareBytes(keyOfLabel(a), keyOfLabel(b)));
    const placed = heads.flatMap((label, place): Placed | readonly Placed[] => {
      const found = tied.get(label);
      return found === undefined ? [] : { ...found, place };
    });
    return pickTied(placed as [Placed, ...Placed[]], heads.length, this.#name, (a, b) =>
      this.#compare(a.row, b.row),
    );
  }

  /** If one has no text, later columns are not compared. */
  #compare(a: RowRef, b: RowRef): number {
    for (const input of this.#merge.compared) {
      const [left, right] = [textOf(a, input), textOf(b, input)];
      if (left === undefined || right === undefined) return 0;
      const order = compareBytes(left, right);
      if (order !== 0) return this.#name === 'last' ? -order : order;
    }
    return 0;
  }
}

function textOf({ columns, row }: RowRef, input: number): string | undefined {
  const column = columns[input];
  if (column?.type !== 'string' || column.valid?.[row] === 0) return undefined;
  return textAt(column.texts, column.codes[row]!);
}
