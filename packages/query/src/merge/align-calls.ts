// Puts the points of several calls side by side: one row per time, null where a call has no point.
import type { FieldType } from '@tidemark/core';

import { ColumnBuilder, TimeBuilder } from '../batch/column-builder.ts';
import { BATCH_CELLS, BATCH_ROWS, SLICE_ROWS } from '../limits.ts';
import type { AlignedRows, PointBatch } from '../batch/point-batch.ts';
import { sliceRows } from '../batch/row-batch.ts';
import type { CallQueue } from '../transform/call-queue.ts';
import type { Steps } from '../operator.ts';

/** Reads rows from the queues of a group as soon as they are complete. */
export class CallAligner {
  readonly #queues: readonly CallQueue[];
  readonly #types: readonly FieldType[];
  readonly #descending: boolean;

  constructor(queues: readonly CallQueue[], types: readonly FieldType[], descending: boolean) {
    this.#queues = queues;
    this.#types = types;
    this.#descending = descending;
  }

  /** The next rows, or undefined when more points are needed, or all are read. */
  *next(): Steps<AlignedRows | undefined> {
    for (const queue of this.#queues) yield* queue.load();
    const [only] = this.#queues;
    if (this.#queues.length === 1 && only !== undefined) return takeBatch(only);
    return this.#takeAligned() ?? (yield* this.#takeMerged());
  }

  /** Whole batches at once, when all calls have points at the same times. */
  #takeAligned(): AlignedRows | undefined {
    const heads: PointBatch[] = [];
    for (const queue of this.#queues) {
      const { head } = queue;
      if (head === undefined || queue.row !== 0) return undefined;
      const [first] = heads;
      if (first !== undefined && !haveSameTimes(first.times, head.times)) return undefined;
      heads.push(head);
    }
    const [first] = heads;
    if (first === undefined) return undefined;
    const columns = heads.map((head) => head.columns[0]!);
    for (const queue of this.#queues) queue.advance(first.times.length);
    return { times: first.times, columns };
  }

  *#takeMerged(): Steps<AlignedRows | undefined> {
    const times = new TimeBuilder();
    const builders = this.#queues.map((_, i) => new ColumnBuilder(this.#types[i]!));
    const most = Math.min(BATCH_ROWS, Math.ceil(BATCH_CELLS / this.#queues.length));
    while (times.length < most) {
      const time = this.#nextTime();
      if (time === undefined) break;
      times.append(time);
      for (let i = 0; i < this.#queues.length; i++) {
        const queue = this.#queues[i]!;
        const { head } = queue;
        if (head !== undefined && head.times[queue.row] === time) {
          builders[i]!.appendRow(head.columns[0]!, queue.row);
          queue.advance(1);
          if (queue.head === undefined) yield* queue.load();
        } else {
          builders[i]!.append(null);
        }
      }
    }
    if (times.length === 0) return undefined;
    return { times: times.take(), columns: builders.map((builder) => builder.take()) };
  }

  /**
   * The next time of all calls; `undefined` as long as one of them may still have an earlier one.
   */
  #nextTime(): bigint | undefined {
    let next: bigint | undefined;
    for (const queue of this.#queues) {
      const { head } = queue;
      if (head === undefined) {
        if (queue.isEnded) continue;
        return undefined;
      }
      const time = head.times[queue.row]!;
      if (next === undefined || (this.#descending ? time > next : time < next)) next = time;
    }
    return next;
  }
}

function takeBatch(queue: CallQueue): AlignedRows | undefined {
  const { head } = queue;
  if (head === undefined) return undefined;
  const start = queue.row;
  const end = Math.min(head.times.length, start + SLICE_ROWS);
  queue.advance(end - start);
  return sliceRows(head, start, end);
}

function haveSameTimes(a: BigInt64Array, b: BigInt64Array): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  const x = new Int32Array(a.buffer, a.byteOffset, a.length * 2);
  const y = new Int32Array(b.buffer, b.byteOffset, b.length * 2);
  for (let i = 0; i < x.length; i++) if (x[i] !== y[i]) return false;
  return true;
}
