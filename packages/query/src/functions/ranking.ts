// top and bottom: the n largest or smallest points of the window, one per combination of tags when asked.
import type { FieldValue } from '@tidemark/core';
import { columnValue } from '@tidemark/core';

import type { LeafWriter, RowRef } from '../operators/leaf-writer.ts';
import type { Accumulator, ReducerInput } from './reducers.ts';

type Candidate = { readonly time: bigint; readonly value: FieldValue; readonly row: RowRef };

type RankingSpec = {
  readonly kind: 'top' | 'bottom';
  readonly size: number;
  readonly distinctInputs: readonly number[];
};

/** Points come out in time order with their own times; ties prefer the earlier point. */
export class RankingAccumulator implements Accumulator {
  readonly #spec: RankingSpec;
  #candidates: Candidate[] = [];
  #perCombination = new Map<string, Candidate>();

  constructor(spec: RankingSpec) {
    this.#spec = spec;
  }

  add({ times, column, columns }: ReducerInput, from: number, to: number): void {
    for (let i = from; i < to; i++) {
      const value = columnValue(column, i);
      if (value === null) continue;
      const candidate: Candidate = { time: times[i]!, value, row: { columns, row: i } };
      if (this.#spec.distinctInputs.length === 0) this.#keep(candidate);
      else this.#keepPerCombination(candidate);
    }
  }

  emit(_stamp: bigint | undefined, out: LeafWriter): void {
    for (const candidate of this.#perCombination.values()) this.#keep(candidate);
    const kept = this.#candidates.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
    for (const { time, value, row } of kept) out.append(time, value, row);
    this.#candidates = [];
    this.#perCombination = new Map();
  }

  /** Whether `a` ranks before `b`. */
  #isBetter(a: Candidate, b: Candidate): boolean {
    if (a.value !== b.value) {
      return this.#spec.kind === 'top' ? a.value > b.value : a.value < b.value;
    }
    return a.time < b.time;
  }

  /** `#candidates` is sorted, best first, and never longer than asked for. */
  #keep(candidate: Candidate): void {
    const kept = this.#candidates;
    let at = kept.length;
    while (at > 0 && this.#isBetter(candidate, kept[at - 1]!)) at--;
    if (at >= this.#spec.size) return;
    kept.splice(at, 0, candidate);
    if (kept.length > this.#spec.size) kept.pop();
  }

  #keepPerCombination(candidate: Candidate): void {
    const { columns, row } = candidate.row;
    const combination = this.#spec.distinctInputs
      .map((input) => JSON.stringify(columnValue(columns[input]!, row)))
      .join();
    const known = this.#perCombination.get(combination);
    if (known === undefined || this.#isBetter(candidate, known)) {
      this.#perCombination.set(combination, candidate);
    }
  }
}
