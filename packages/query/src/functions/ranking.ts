// top and bottom: the n largest or smallest points of the window, at most one per combination of
// tags if there are tags.
import type { FieldValue } from '@tidemark/core';
import { columnValue } from '@tidemark/core';

import type { PointWriter, RowRef } from '../batch/point-writer.ts';
import type { Accumulator, AccumulatorContext, ReducerInput } from './reducers.ts';
import { emitPoints, RetainedRows } from './retained-rows.ts';
import type { SelectedPoint } from './retained-rows.ts';
import { sortInSteps, stepsIfMany } from './steps.ts';
import { ValueTable } from './value-table.ts';
import type { Calculation } from './steps.ts';

type Candidate = SelectedPoint & {
  /** Numbers the candidates: the first of equal ones stays. */
  readonly sequence: number;
  /** Number of its combination of tags; 0 if there are no tags. */
  readonly combination: number;
};

export type RankingSpec = {
  readonly kind: 'top' | 'bottom';
  readonly size: number;
  /** Inputs whose combinations are distinguished; indexes into the plan's inputs. */
  readonly distinctInputs: readonly number[];
};

/**
 * Points are emitted in the time order of the query with their own times; ties prefer the earlier
 * point. No more than n are kept. With tags, a kept point is the best one of its combination:
 * points that were dropped, and all earlier ones of their combinations, are worse than every kept
 * point, and kept points only become better.
 */
export class RankingAccumulator implements Accumulator {
  readonly #spec: RankingSpec;
  readonly #descending: boolean;
  readonly #retained: RetainedRows;
  /** A heap: no candidate is better than its children, and the worst one is the first. */
  #heap: Candidate[] = [];
  /** Combinations of tags with a candidate, and its position in the heap. */
  readonly #combinations: ValueTable;
  #heapIndexes: number[] = [];
  #sequence = 0;

  constructor(spec: RankingSpec, { descending, hold }: AccumulatorContext) {
    this.#spec = spec;
    this.#descending = descending;
    this.#retained = new RetainedRows(hold);
    this.#combinations = new ValueTable('string', hold);
  }

  add({ times, column, columns }: ReducerInput, from: number, to: number): void {
    const hasCombinations = this.#spec.distinctInputs.length > 0;
    for (let i = from; i < to; i++) {
      const value = columnValue(column, i);
      if (value === null) continue;
      const sequence = this.#sequence++;
      if (this.#isHopeless(value)) continue;
      const row = { columns, row: i };
      const candidate = { time: times[i]!, value, row, sequence, combination: 0 };
      if (hasCombinations) this.#keepPerCombination(candidate);
      else this.#keep(candidate);
    }
  }

  /**
   * Whether the heap is full and a value is worse than all in it: true for most rows of a long
   * window.
   */
  #isHopeless(value: FieldValue): boolean {
    const { kind, size } = this.#spec;
    const worst = this.#heap[0];
    if (worst === undefined || this.#heap.length < size) return false;
    return kind === 'top' ? value < worst.value : value > worst.value;
  }

  emit(_stamp: bigint | undefined, out: PointWriter): Calculation | undefined {
    return stepsIfMany(this.#heap.length, this.#emitInSteps(out));
  }

  *#emitInSteps(out: PointWriter): Calculation {
    const candidates = this.#heap;
    this.#heap = [];
    this.#heapIndexes = [];
    this.#combinations.clear();
    const sorted = yield* sortInSteps(candidates, (a, b) => this.#compareForAnswer(a, b));
    yield* emitPoints(sorted, out);
    this.#retained.clear();
    this.#sequence = 0;
  }

  /** By time; at one time the better one first. */
  #compareForAnswer(a: Candidate, b: Candidate): number {
    if (a.time !== b.time) return a.time < b.time !== this.#descending ? -1 : 1;
    return this.#isBetter(a, b) ? -1 : 1;
  }

  /** Whether `a` ranks before `b`. */
  #isBetter(a: Candidate, b: Candidate): boolean {
    if (a.value !== b.value) {
      return this.#spec.kind === 'top' ? a.value > b.value : a.value < b.value;
    }
    return a.time === b.time ? a.sequence < b.sequence : a.time < b.time;
  }

  #keepPerCombination(candidate: Candidate): void {
    const combination = combinationOf(candidate.row, this.#spec.distinctInputs);
    const hash = this.#combinations.hashOf(combination);
    const existing = this.#combinations.find(combination, hash);
    if (existing !== undefined) {
      const place = this.#heapIndexes[existing]!;
      const best = this.#heap[place]!;
      if (this.#isBetter(candidate, best))
        this.#replace(place, { ...candidate, combination: existing });
      return;
    }
    const worst = this.#heap.length < this.#spec.size ? undefined : this.#heap[0];
    if (worst !== undefined && !this.#isBetter(candidate, worst)) return;
    if (worst !== undefined) this.#combinations.remove(worst.combination);
    const number = this.#combinations.numberOfText(combination, hash);
    this.#keep({ ...candidate, combination: number });
  }

  #keep(candidate: Candidate): void {
    const heap = this.#heap;
    const [worst] = heap;
    if (heap.length < this.#spec.size) {
      this.#retained.add(candidate.row);
      this.#rise(candidate, heap.length);
    } else if (worst !== undefined && this.#isBetter(candidate, worst)) {
      this.#replace(0, candidate);
    }
  }

  /** Replaces a candidate by a better one. */
  #replace(place: number, candidate: Candidate): void {
    this.#retained.add(candidate.row);
    this.#retained.drop(this.#heap[place]!.row);
    this.#sink(candidate, place);
  }

  #put(candidate: Candidate, at: number): void {
    this.#heap[at] = candidate;
    this.#heapIndexes[candidate.combination] = at;
  }

  #rise(candidate: Candidate, from: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = this.#heap[parent]!;
      if (!this.#isBetter(above, candidate)) break;
      this.#put(above, at);
      at = parent;
    }
    this.#put(candidate, at);
  }

  #sink(candidate: Candidate, from: number): void {
    const heap = this.#heap;
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && this.#isBetter(heap[child]!, heap[child + 1]!)) child++;
      if (!this.#isBetter(candidate, heap[child]!)) break;
      this.#put(heap[child]!, at);
      at = child;
    }
    this.#put(candidate, at);
  }
}

/** A text that is unique for the values; of a single one, mostly itself: it may be long. */
export function combinationOf({ columns, row }: RowRef, inputs: readonly number[]): string {
  const [only = 0] = inputs;
  if (inputs.length === 1) return escaped(columnValue(columns[only]!, row));
  let combination = '';
  for (const input of inputs) {
    const text = escaped(columnValue(columns[input]!, row));
    combination += `${text.length}:${text}`;
  }
  return combination;
}

/** The text of a value; no value has the same text as none. */
function escaped(value: FieldValue | null): string {
  if (value === null) return '-';
  const text = String(value);
  return text.startsWith('-') ? `-${text}` : text;
}
