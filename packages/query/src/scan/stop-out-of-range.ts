// Stops reading a subquery at a value outside the time range. A window of a subquery may begin
// before the range of the outer query. A reduction over everything ends at the first such value,
// and so does everything after it, even in later groups (recorded). Every input that is reduced has
// its own end: one per source, if only functions read it that combine the results of sources.
import type { Column } from '@tidemark/core';
import { columnLength } from '@tidemark/core';

import type { RowBatch } from '../batch/row-batch.ts';
import { reducerRow } from '../functions/reducers.ts';
import type { SelectPlan } from '../plan/select-plan.ts';

/**
 * The inputs of a plan that end separately in each source, those that end once, and those that do
 * not end.
 */
export type EndingInputs = {
  readonly ofSources: readonly number[];
  readonly ofAll: readonly number[];
  readonly endless: readonly number[];
};

export function endingInputs({ calls }: SelectPlan): EndingInputs {
  const [ofAll, endless, read] = [new Set<number>(), new Set<number>(), new Set<number>()];
  for (const { input, reducer } of calls) {
    if (input === undefined) continue;
    read.add(input);
    if (reducer === undefined) endless.add(input);
    else if (reducerRow(reducer).endsBySource !== true) ofAll.add(input);
  }
  return {
    ofSources: [...read].filter((input) => !ofAll.has(input) && !endless.has(input)),
    ofAll: [...ofAll].filter((input) => !endless.has(input)),
    endless: [...endless],
  };
}

/** Removes the values after the end; one per execution of a plan, batches in order. */
export class StopOutOfRange {
  readonly #range: SelectPlan['range'];
  /** Inputs that are still read. */
  readonly #open: Set<number>;
  readonly #ended = new Set<number>();

  constructor({ range }: SelectPlan, inputs: readonly number[]) {
    this.#range = range;
    this.#open = new Set(inputs);
  }

  /** Whether no later rows can count. */
  get isOver(): boolean {
    return this.#open.size === 0 && this.#ended.size > 0;
  }

  /** The batch, without the values after the end of their input. */
  apply(batch: RowBatch): RowBatch {
    const ends = new Map<number, number>();
    for (const input of this.#ended) ends.set(input, 0);
    for (const input of this.#open) {
      const end = this.#firstOutside(batch, input);
      if (end === undefined) continue;
      ends.set(input, end);
      this.#open.delete(input);
      this.#ended.add(input);
    }
    if (ends.size === 0) return batch;
    const columns = batch.columns.map((column, i) => {
      const end = ends.get(i);
      return end === undefined ? column : withoutRowsFrom(column, end);
    });
    return { ...batch, columns };
  }

  #firstOutside({ times, columns }: RowBatch, input: number): number | undefined {
    const { start, end } = this.#range;
    const valid = columns[input]?.valid;
    for (let row = 0; row < times.length; row++) {
      const time = times[row]!;
      if ((time < start || time > end) && valid?.[row] !== 0) return row;
    }
    return undefined;
  }
}

function withoutRowsFrom(column: Column, end: number): Column {
  const valid = column.valid?.slice() ?? new Uint8Array(columnLength(column)).fill(1);
  valid.fill(0, end);
  return { ...column, valid };
}
