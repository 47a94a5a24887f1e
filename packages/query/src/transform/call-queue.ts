// One call of one group after its reduction: fill, then transformations, then a queue that the rows
// are read from.
import type { PointBatch } from '../batch/point-batch.ts';
import { sliceRows } from '../batch/row-batch.ts';
import { RowWindow } from '../batch/row-window.ts';
import type { Filler } from '../fill/fill.ts';
import type { Transformation } from '../functions/transformation.ts';
import type { Steps } from '../operator.ts';

/** The steps from the reduced points of a call to its rows. Absent steps are skipped. */
export type CallSteps = {
  readonly filler: Filler | undefined;
  readonly transformations: readonly Transformation[];
  /** OFFSET and LIMIT count the points of each call, before calls are joined. */
  readonly offset: number;
  /** 0 is unlimited. */
  readonly limit: number;
};

/** Points of a call as a queue. All steps after the reduction run when points are requested. */
export class CallQueue {
  readonly #steps: CallSteps;
  /** Their next points; `undefined` is a pause during a long calculation. */
  readonly #pending: Iterator<PointBatch | undefined>[] = [];
  #head: PointBatch | undefined;
  #row = 0;
  #isClosed = false;
  readonly #window: RowWindow;
  #isExhausted = false;

  constructor(steps: CallSteps) {
    this.#steps = steps;
    this.#window = new RowWindow(steps);
  }

  /** Adds reduced points. */
  push(batch: PointBatch): void {
    if (!this.#isExhausted) this.#pending.push(this.#run(batch));
  }

  /** No further points will be added. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (!this.#isExhausted) this.#pending.push(this.#end());
  }

  /**
   * The batch that the next point is in; undefined when there is none, or none was loaded yet.
   * Without one, `isEnded` tells whether one may still come.
   */
  get head(): PointBatch | undefined {
    return this.#head;
  }

  /**
   * Calculates until there is a head, as far as points were pushed. Pauses during long calculations
   * and after batches of which nothing is left: OFFSET may leave out a million windows.
   */
  *load(): Steps {
    while (this.#head === undefined) {
      const [first] = this.#pending;
      if (first === undefined) return;
      const next = first.next();
      if (next.done === true) {
        this.#pending.shift();
        continue;
      }
      if (next.value !== undefined) this.#accept(next.value);
      if (this.#head === undefined) yield;
    }
  }

  /** Cuts a batch to the part that OFFSET and LIMIT leave. Nothing is computed after the limit. */
  #accept(batch: PointBatch): void {
    const [from, to] = this.#window.take(batch.times.length);
    if (this.#window.isOver) {
      this.#pending.length = 0;
      this.#isExhausted = true;
    }
    if (to === from) return;
    this.#head = sliceRows(batch, from, to);
    this.#row = 0;
  }

  get isEnded(): boolean {
    const isComplete = this.#isClosed || this.#isExhausted;
    return isComplete && this.#head === undefined && this.#pending.length === 0;
  }

  /** Row of the next point in `head`. */
  get row(): number {
    return this.#row;
  }

  /** Moves on by some points of the current batch. */
  advance(count: number): void {
    if (this.#head === undefined) return;
    this.#row += count;
    if (this.#row >= this.#head.times.length) this.#head = undefined;
  }

  *#run(batch: PointBatch): Iterator<PointBatch> {
    const { filler, transformations } = this.#steps;
    const [first] = transformations;
    for (const filled of filler === undefined ? [batch] : filler.push(batch)) {
      if (first?.pushInParts === undefined) {
        yield this.#transform(filled, 0);
        continue;
      }
      const points = { times: filled.times, values: filled.columns[0]! };
      for (const { times, values } of first.pushInParts(points)) {
        yield this.#transform({ times, columns: [values] }, 1);
      }
    }
  }

  *#end(): Iterator<PointBatch | undefined> {
    const { filler, transformations } = this.#steps;
    if (filler !== undefined) {
      for (const filled of filler.finish()) yield this.#transform(filled, 0);
    }
    for (const [i, transformation] of transformations.entries()) {
      if (transformation.finish === undefined) continue;
      const { times, values } = yield* transformation.finish();
      if (times.length > 0) yield this.#transform({ times, columns: [values] }, i + 1);
    }
  }

  #transform(batch: PointBatch, from: number): PointBatch {
    const { transformations } = this.#steps;
    let current = batch;
    for (let i = from; i < transformations.length; i++) {
      const values = current.columns[0]!;
      const result = transformations[i]!.push({ times: current.times, values });
      current = { times: result.times, columns: [result.values] };
    }
    return current;
  }
}
