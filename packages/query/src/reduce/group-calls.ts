// All calls of one group: rows or finished aggregates in, rows over the calls out.
import type { FieldType, TimeRange } from '@tidemark/core';
import { MIN_TIME } from '@tidemark/core';

import { chosenRows } from '../batch/column-ops.ts';
import type { SeriesMerge } from '../functions/first-last.ts';
import type { Accumulator } from '../functions/reducers.ts';
import { createAccumulator, reducerRow } from '../functions/reducers.ts';
import { createTransformation } from '../functions/transformation-table.ts';
import type { Transformation } from '../functions/transformation.ts';
import type { AggregateCall } from '../analyse/columns.ts';
import type { AggregatedGroup } from '../scan/aggregate-measurement.ts';
import { validRows } from '../scan/aggregate-measurement.ts';
import { Filler } from '../fill/fill.ts';
import { CallQueue } from '../transform/call-queue.ts';
import type { CallSteps } from '../transform/call-queue.ts';
import { PointWriter } from '../batch/point-writer.ts';
import type { SortedRows } from '../merge/merge-sorted-rows.ts';
import { Reduction } from './reduce.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import type { AlignedRows } from '../batch/point-batch.ts';
import { CallAligner } from '../merge/align-calls.ts';
import type { CallsPlan } from '../plan/calls-plan.ts';
import { hasPointTimes, seriesMerge } from '../plan/calls-plan.ts';
import type { CallRows } from '../plan/physical-plan.ts';
import { mostPrefetched } from '../plan/prefetch.ts';
import type { Steps } from '../operator.ts';

/** Runs the calls of one group. */
export class GroupCalls {
  readonly #calls: CallsPlan;
  readonly #queues: readonly CallQueue[];
  /** The calls that take rows. */
  readonly #ofRows: readonly RowCall[];
  readonly #aligner: CallAligner;
  readonly #mostPrefetched: number;

  constructor(calls: CallsPlan, rows: CallRows | undefined, execution: ExecutionContext) {
    this.#calls = calls;
    const { plan } = calls;
    this.#queues = plan.calls.map((call) => new CallQueue(stepsOf(call, calls, execution)));
    const ofRows = rows?.select.calls ?? [];
    this.#mostPrefetched = mostPrefetched(ofRows);
    const merge = rows && seriesMerge(rows.select);
    this.#ofRows = ofRows.map((call, i) => ({
      call,
      queue: this.#queues[rows!.calls[i]!]!,
      reduction: reductionOf(call, { calls, merge, execution, anyOrder: rows!.anyOrder }),
    }));
    this.#aligner = new CallAligner(this.#queues, calls.types, plan.descending);
  }

  /** Takes the next rows of the group, in the time order of the query. Pauses between calls. */
  *pushRows(sorted: SortedRows): Steps<void> {
    const { plan } = this.#calls;
    for (const { call, queue, reduction } of this.#ofRows) {
      yield;
      if (call.input === undefined) continue;
      const isWhole = call.prefetchWindows === this.#mostPrefetched;
      const rows = isWhole
        ? sorted
        : withinRange(sorted, this.#calls.rowRangeOf(call), plan.descending);
      if (rows.times.length === 0) continue;
      if (reduction === undefined) {
        const values = rows.columns[call.input]!;
        queue.push({ times: rows.times, columns: [values] });
        continue;
      }
      const reduced = yield* reduction.push(rows);
      if (reduced !== undefined) queue.push(reduced);
    }
  }

  /** Takes windows that the source has reduced. */
  pushAggregates({ windowStarts, calls }: AggregatedGroup): void {
    const { keepsPointTime, wholeStamp, plan } = this.#calls;
    const rowCount = windowStarts.length;
    const stamps =
      plan.interval === undefined ? new BigInt64Array(rowCount).fill(wholeStamp) : windowStarts;
    for (const [i, windows] of calls.entries()) {
      if (windows === undefined || plan.calls[i]!.input === undefined) continue;
      if ('counts' in windows) {
        const { counts, values, times: own, columns = [] } = windows;
        const hasOwn = own !== undefined && (keepsPointTime || hasPointTimes(plan.calls[i]!));
        const times = hasOwn ? own : repeated(stamps, counts);
        if (times.length > 0) this.#queues[i]!.push({ times, columns: [values, ...columns] });
        continue;
      }
      const { values, pointTimes } = windows;
      const times = keepsPointTime && pointTimes !== undefined ? pointTimes : stamps;
      const rows = validRows(values, rowCount);
      this.#queues[i]!.push(
        rows === undefined ? { times, columns: [values] } : chosenRows(times, [values], rows),
      );
    }
  }

  /** Called after the last rows of the group. */
  *finish(): Steps<void> {
    for (const { queue, reduction } of this.#ofRows) {
      yield;
      const last = reduction === undefined ? undefined : yield* reduction.finish();
      if (last !== undefined) queue.push(last);
    }
    for (const queue of this.#queues) queue.close();
  }

  /** Whether every call has reached its limit, so that further rows change nothing. */
  get isSatisfied(): boolean {
    return this.#queues.every((queue) => queue.isEnded);
  }

  /** The rows over the calls that are complete; `undefined` if there are none now. */
  next(): Steps<AlignedRows | undefined> {
    return this.#aligner.next();
  }
}

/** Each stamp as often as its count says. */
function repeated(stamps: BigInt64Array, counts: Uint32Array): BigInt64Array {
  let total = 0;
  for (let i = 0; i < counts.length; i++) total += counts[i]!;
  const times = new BigInt64Array(total);
  let at = 0;
  for (let i = 0; i < counts.length; i++) times.fill(stamps[i]!, at, (at += counts[i]!));
  return times;
}

type RowCall = {
  readonly call: AggregateCall;
  readonly queue: CallQueue;
  /** Absent for a function of raw points. */
  readonly reduction: Reduction | undefined;
};

type ReductionOptions = {
  readonly calls: CallsPlan;
  readonly merge: SeriesMerge | undefined;
  readonly execution: ExecutionContext;
  readonly anyOrder: boolean;
};

function reductionOf(
  call: AggregateCall,
  { calls, merge, execution, anyOrder }: ReductionOptions,
): Reduction | undefined {
  const { reducer, input, inputType } = call;
  if (reducer === undefined || input === undefined) return undefined;
  const hold = (bytes: number): void => execution.hold(bytes);
  const accumulator = (): Accumulator =>
    createAccumulator(reducer, {
      inputType,
      descending: calls.plan.descending,
      random: execution.query.random,
      needsRow: calls.keepsPointTime || hasPointTimes(call) || calls.auxiliary.length > 0,
      merge,
      hold,
    });
  return new Reduction(
    {
      windows: calls.windows,
      wholeStamp: calls.wholeStamp,
      keepsPointTime: calls.keepsPointTime || hasPointTimes(call),
      descending: calls.plan.descending,
      anyOrder,
      input,
      hold,
    },
    accumulator,
    new PointWriter(typeOfReduced(call), calls.auxiliary),
  );
}

/** Type after the reduction and before the transformations. */
function typeOfReduced({ reducer, inputType }: AggregateCall): FieldType {
  return reducer === undefined ? inputType : (reducerRow(reducer).type ?? inputType);
}

function stepsOf(call: AggregateCall, calls: CallsPlan, execution: ExecutionContext): CallSteps {
  return {
    filler: fillerOf(call, calls, execution),
    transformations: transformationsOf(call, calls, execution),
    offset: calls.plan.offset,
    limit: calls.plan.limit,
  };
}

function fillerOf(
  call: AggregateCall,
  calls: CallsPlan,
  execution: ExecutionContext,
): Filler | undefined {
  const { plan, windows } = calls;
  const { reducer } = call;
  if (windows === undefined || reducer === undefined || plan.fill.kind === 'none') return undefined;
  const ofEmpty = reducerRow(reducer).fill;
  if (ofEmpty === 'never') return undefined;
  const range = calls.filledRangeOf(call);
  return new Filler({
    fill: plan.fill,
    isCount: ofEmpty === 'zero',
    windows,
    firstStart: range.start === MIN_TIME ? MIN_TIME : windows.of(range.start).start,
    lastStart: windows.of(range.end).start,
    descending: plan.descending,
    types: [typeOfReduced(call), ...calls.auxiliary.map((column) => column.type)],
    onFilled: (count) => execution.countFilled(count),
  });
}

function transformationsOf(
  call: AggregateCall,
  calls: CallsPlan,
  execution: ExecutionContext,
): readonly Transformation[] {
  const { plan, windows } = calls;
  let type = typeOfReduced(call);
  return call.transformations.map((spec) => {
    const complete =
      spec.kind === 'integral'
        ? {
            ...spec,
            windowOf: windows === undefined ? undefined : (time: bigint) => windows.of(time),
            // Of the reference server's two implementations, one knows no range.
            wholeStamp: type === 'float' ? 0n : calls.nearestStamp,
          }
        : spec;
    const transformation = createTransformation(complete, {
      inputType: type,
      descending: plan.descending,
      hold: (bytes) => execution.hold(bytes),
    });
    type = transformation.type;
    return transformation;
  });
}

/** The part of the rows that lies in a range. Most calls read all rows. */
function withinRange(sorted: SortedRows, range: TimeRange, descending: boolean): SortedRows {
  const { times } = sorted;
  const first = times[0];
  const last = times.at(-1);
  if (first === undefined || last === undefined) return sorted;
  const low = descending ? last : first;
  const high = descending ? first : last;
  if (low >= range.start && high <= range.end) return sorted;
  const rows: number[] = [];
  for (let i = 0; i < times.length; i++) {
    if (times[i]! >= range.start && times[i]! <= range.end) rows.push(i);
  }
  const keep = Uint32Array.from(rows);
  return chosenRows(times, sorted.columns, keep);
}
