// top and bottom: the n largest or smallest points of the window, one per combination of tags when
// asked.
import type { FieldValue } from '@tidemark/core';
import { columnValue } from '@tidemark/core';

import type { PointWriter, RowRef } from '../batch/point-writer.ts';
import type { Accumulator, AccumulatorContext, ReducerInput } from './reducers.ts';
import { RetainedRows } from './retained-rows.ts';
import { sortInSteps, stepsIfMany, STEP_ITEMS } from './steps.ts';
import { ValueTable } from './value-table.ts';
import type { Calculation } from './steps.ts';

type Candidate = {
  readonly time: bigint;
  readonly value: FieldValue;
  readonly row: RowRef;
  /** Counts the candidates: of equal ones the first stays. */
  readonly sequence: number;
};

type RankingSpec = {
  readonly kind: 'top' | 'bottom';
  readonly size: number;
  readonly distinctInputs: readonly number[];
};

/**
 * Points come out in the time order of the query with their own times; ties prefer the earlier
 * point.
 */
export class RankingAccumulator implements Accumulator {
  readonly #spec: RankingSpec;
  readonly #descending: boolean;
  readonly #retained: RetainedRows;
  /** A heap: no candidate is better than those below it, and the worst one is the first. */
  #heap: Candidate[] = [];
  /** Combinations of tags by number, and the best candidate of each. */
  readonly #combinations: ValueTable;
  #bestOf: Candidate[] = [];
  #sequence = 0;

  constructor(spec: RankingSpec, { descending, hold }: AccumulatorContext) {
    this.#spec = spec;
    this.#descending = descending;
    this.#retained = new RetainedRows(hold);
    this.#combinations = new ValueTable('string', hold);
  }

  add({ times, column, columns }: ReducerInput, from: number, to: number): void {
    for (let i = from; i < to; i++) {
      const value = columnValue(column, i);
      if (value === null) continue;
      const sequence = this.#sequence++;
      if (this.#isHopeless(value)) continue;
      const row = { columns, row: i };
      const candidate: Candidate = { time: times[i]!, value, row, sequence };
      if (this.#spec.distinctInputs.length === 0) this.#keep(candidate);
      else this.#keepPerCombination(candidate);
    }
  }

  /**
   * Whether a value is worse than all that are kept, of which there are enough: most rows of a long
   * window.
   */
  #isHopeless(value: FieldValue): boolean {
    const { kind, size, distinctInputs } = this.#spec;
    const worst = this.#heap[0];
    if (worst === undefined || this.#heap.length < size || distinctInputs.length > 0) return false;
    return kind === 'top' ? value < worst.value : value > worst.value;
  }

  emit(_stamp: bigint | undefined, out: PointWriter): Calculation | undefined {
    return stepsIfMany(this.#heap.length + this.#bestOf.length, this.#emitInSteps(out));
  }

  *#emitInSteps(out: PointWriter): Calculation {
    const candidates = this.#bestOf;
    this.#bestOf = [];
    this.#combinations.clear();
    let count = 0;
    for (const candidate of candidates) {
      this.#retained.drop(candidate.row);
      this.#keep(candidate);
      if (++count % STEP_ITEMS === 0) yield;
    }
    const kept = yield* sortInSteps(this.#heap, (a, b) => this.#compareForAnswer(a, b));
    for (const { time, value, row } of kept) {
      out.append(time, value, row);
      if (++count % STEP_ITEMS === 0) yield;
    }
    this.#heap = [];
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

  #keep(candidate: Candidate): void {
    const heap = this.#heap;
    const [worst] = heap;
    if (heap.length < this.#spec.size) {
      heap.push(candidate);
      this.#rise(heap.length - 1);
    } else if (worst !== undefined && this.#isBetter(candidate, worst)) {
      this.#retained.drop(worst.row);
      heap[0] = candidate;
      this.#sink(0);
    } else {
      return;
    }
    this.#retained.add(candidate.row);
  }

  #rise(from: number): void {
    const heap = this.#heap;
    for (let at = from; at > 0;) {
      const parent = (at - 1) >> 1;
      if (!this.#isBetter(heap[parent]!, heap[at]!)) return;
      swap(heap, at, parent);
      at = parent;
    }
  }

  #sink(from: number): void {
    const heap = this.#heap;
    for (let at = from; ;) {
      let worst = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < heap.length && this.#isBetter(heap[worst]!, heap[child]!)) worst = child;
      }
      if (worst === at) return;
      swap(heap, at, worst);
      at = worst;
    }
  }

  #keepPerCombination(candidate: Candidate): void {
    const { columns, row } = candidate.row;
    const combination = this.#spec.distinctInputs
      .map((input) => JSON.stringify(columnValue(columns[input]!, row)))
      .join();
    const number = this.#combinations.numberOfText(combination);
    const known = this.#bestOf[number];
    if (known !== undefined) {
      if (!this.#isBetter(candidate, known)) return;
      this.#retained.drop(known.row);
    }
    this.#retained.add(candidate.row);
    this.#bestOf[number] = candidate;
  }
}

function swap(heap: Candidate[], a: number, b: number): void {
  const kept = heap[a]!;
  heap[a] = heap[b]!;
  heap[b] = kept;
}
