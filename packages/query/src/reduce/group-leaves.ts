// All leaves of one group: rows or ready aggregates in, rows over the leaves out.
import type { FieldType, TimeRange } from '@tidemark/core';
import { MIN_TIME } from '@tidemark/core';

import { takeInt64, takeRows } from '../batch/column-ops.ts';
import { createAccumulator } from '../functions/reducers.ts';
import { createTransformation } from '../functions/create-transformation.ts';
import type { Transformation } from '../functions/transformation.ts';
import type { Leaf } from '../analyse/columns.ts';
import type { SelectPlan } from '../plan/select-plan.ts';
import type { AggregatedGroup } from '../scan/aggregate-measurement.ts';
import { validRows } from '../scan/aggregate-measurement.ts';
import { Filler } from '../fill/fill.ts';
import { LeafQueue } from '../transform/leaf-pipeline.ts';
import type { LeafSteps } from '../transform/leaf-pipeline.ts';
import { LeafWriter } from './leaf-writer.ts';
import type { Run } from '../merge/merge-runs.ts';
import { Reduction } from './reduce.ts';
import type { RunContext } from '../execute/run-context.ts';
import type { ZippedRows } from '../merge/zip-leaves.ts';
import { LeafZipper } from '../merge/zip-leaves.ts';
import { mostPrefetched, rangeBefore } from '../plan/prefetch.ts';
import { Windows } from './windows.ts';
import type { Steps } from '../operator.ts';

const POINT_TIME_ALWAYS: ReadonlySet<string> = new Set(['top', 'bottom', 'sample']);
const SELECTORS: ReadonlySet<string> = new Set(['min', 'max', 'first', 'last', 'percentile']);
const NEVER_FILLED: ReadonlySet<string> = new Set(['top', 'bottom', 'sample', 'distinct']);

/** Whether the points of a leaf keep their own times in windows too. */
export function hasPointTimes(leaf: Leaf): boolean {
  return leaf.reducer !== undefined && POINT_TIME_ALWAYS.has(leaf.reducer.kind);
}

/** The decisions about a plan's leaves that are the same for every group. */
export class LeavesPlan {
  readonly plan: SelectPlan;
  readonly windows: Windows | undefined;
  /** Stamp of results that belong to no point and no window. */
  readonly wholeStamp: bigint;
  /** A lone selector without windows answers with the time of its point. */
  readonly keepsPointTime: boolean;
  readonly types: readonly FieldType[];
  readonly auxiliary: readonly { readonly input: number; readonly type: FieldType }[];

  constructor(plan: SelectPlan) {
    this.plan = plan;
    this.windows = plan.interval === undefined ? undefined : new Windows(plan.interval, plan.zone);
    this.wholeStamp = plan.range.start === MIN_TIME ? 0n : plan.range.start;
    const [only] = plan.leaves;
    this.keepsPointTime =
      plan.interval === undefined &&
      plan.leaves.length === 1 &&
      only?.reducer !== undefined &&
      SELECTORS.has(only.reducer.kind);
    this.auxiliary = plan.auxiliaryInputs.map((input) => {
      const wanted = plan.inputs[input]!;
      return { input, type: wanted.kind === 'tag' ? ('string' as const) : wanted.type };
    });
    this.types = [...plan.leaves.map((leaf) => leaf.type), ...this.auxiliary.map((a) => a.type)];
  }

  /** The range of a leaf: transformations of windows look back beyond the query's own. */
  rangeOf(leaf: Leaf): TimeRange {
    return rangeBefore(this.plan, leaf.prefetchWindows);
  }

  /** The range that covers all leaves. */
  get range(): TimeRange {
    return rangeBefore(this.plan, mostPrefetched(this.plan.leaves));
  }
}

/** Runs the leaves of one group. */
export class GroupLeaves {
  readonly #leaves: LeavesPlan;
  readonly #queues: readonly LeafQueue[];
  readonly #reductions: readonly (Reduction | undefined)[];
  readonly #zipper: LeafZipper;
  readonly #mostPrefetched: number;

  constructor(leaves: LeavesPlan, run: RunContext) {
    this.#leaves = leaves;
    const { plan } = leaves;
    this.#mostPrefetched = mostPrefetched(plan.leaves);
    this.#queues = plan.leaves.map((leaf) => new LeafQueue(stepsOf(leaf, leaves, run)));
    this.#reductions = plan.leaves.map((leaf) => reductionOf(leaf, leaves, run));
    this.#zipper = new LeafZipper(this.#queues, leaves.types, plan.descending);
  }

  /** Takes the next rows of the group, in the time order of the query. Gives way between leaves. */
  *pushRows(run: Run): Steps<void> {
    const { plan } = this.#leaves;
    for (const [i, leaf] of plan.leaves.entries()) {
      yield;
      if (leaf.input === undefined) continue;
      const isWhole = leaf.prefetchWindows === this.#mostPrefetched;
      const range = this.#leaves.rangeOf(leaf);
      const rows = isWhole ? run : withinRange(run, range, plan.descending);
      if (rows.times.length === 0) continue;
      const reduction = this.#reductions[i];
      if (reduction === undefined) {
        const values = rows.columns[leaf.input]!;
        this.#queues[i]!.push({ times: rows.times, columns: [values] });
        continue;
      }
      const reduced = yield* reduction.push(rows);
      if (reduced !== undefined) this.#queues[i]!.push(reduced);
    }
  }

  /** Takes windows that the source has reduced. */
  pushAggregates({ windowStarts, leaves }: AggregatedGroup): void {
    const { keepsPointTime, wholeStamp, plan } = this.#leaves;
    const rowCount = windowStarts.length;
    const stamps =
      plan.interval === undefined ? new BigInt64Array(rowCount).fill(wholeStamp) : windowStarts;
    for (const [i, { values, pointTimes }] of leaves.entries()) {
      if (plan.leaves[i]!.input === undefined) continue;
      const times = keepsPointTime && pointTimes !== undefined ? pointTimes : stamps;
      const rows = validRows(values, rowCount);
      this.#queues[i]!.push(
        rows === undefined
          ? { times, columns: [values] }
          : { times: takeInt64(times, rows), columns: [takeRows(values, rows)] },
      );
    }
  }

  /** The group has no further rows. */
  *finish(): Steps<void> {
    for (const [i, reduction] of this.#reductions.entries()) {
      yield;
      const last = reduction === undefined ? undefined : yield* reduction.finish();
      if (last !== undefined) this.#queues[i]!.push(last);
      this.#queues[i]!.close();
    }
  }

  /** Whether every leaf has reached its limit, so that further rows change nothing. */
  get isSatisfied(): boolean {
    return this.#queues.every((queue) => queue.isEnded);
  }

  /** Whether `next` stopped in the midst of a long calculation: asking again goes on with it. */
  get isBusy(): boolean {
    return this.#zipper.isBusy;
  }

  /** Rows over the leaves as far as they are known; undefined when there are none now. */
  next(): ZippedRows | undefined {
    return this.#zipper.next();
  }
}

function reductionOf(leaf: Leaf, leaves: LeavesPlan, run: RunContext): Reduction | undefined {
  const { reducer, input, inputType } = leaf;
  if (reducer === undefined || input === undefined) return undefined;
  return new Reduction(
    {
      windows: leaves.windows,
      wholeStamp: leaves.wholeStamp,
      keepsPointTime: leaves.keepsPointTime || hasPointTimes(leaf),
      descending: leaves.plan.descending,
      input,
      inputType,
    },
    createAccumulator(reducer, {
      inputType,
      descending: leaves.plan.descending,
      random: run.query.random,
      needsRow: leaves.keepsPointTime || hasPointTimes(leaf) || leaves.auxiliary.length > 0,
      hold: (bytes) => run.hold(bytes),
    }),
    new LeafWriter(reducedType(leaf), leaves.auxiliary),
  );
}

/** Type behind the reduction and before the transformations. */
function reducedType(leaf: Leaf): FieldType {
  switch (leaf.reducer?.kind) {
    case 'count':
    case 'count-distinct':
      return 'integer';
    case 'mean':
    case 'median':
    case 'stddev':
      return 'float';
    default:
      return leaf.inputType;
  }
}

function stepsOf(leaf: Leaf, leaves: LeavesPlan, run: RunContext): LeafSteps {
  return {
    filler: fillerOf(leaf, leaves, run),
    transformations: transformationsOf(leaf, leaves, run),
    offset: leaves.plan.offset,
    limit: leaves.plan.limit,
  };
}

function fillerOf(leaf: Leaf, leaves: LeavesPlan, run: RunContext): Filler | undefined {
  const { plan, windows } = leaves;
  const { reducer } = leaf;
  if (windows === undefined || reducer === undefined || plan.fill.kind === 'none') return undefined;
  if (NEVER_FILLED.has(reducer.kind)) return undefined;
  const range = leaves.rangeOf(leaf);
  return new Filler({
    fill: plan.fill,
    isCount: reducer.kind === 'count' || reducer.kind === 'count-distinct',
    windows,
    firstStart: range.start === MIN_TIME ? MIN_TIME : windows.of(range.start).start,
    lastStart: windows.of(range.end).start,
    descending: plan.descending,
    types: [reducedType(leaf), ...leaves.auxiliary.map((column) => column.type)],
    onFilled: (count) => run.countFilled(count),
  });
}

function transformationsOf(
  leaf: Leaf,
  leaves: LeavesPlan,
  run: RunContext,
): readonly Transformation[] {
  const { plan, windows } = leaves;
  let type = leaf.reducer === undefined ? leaf.inputType : reducedType(leaf);
  return leaf.transformations.map((spec) => {
    const complete =
      spec.kind === 'integral'
        ? {
            ...spec,
            hasWindows: windows !== undefined,
            windowOf: (time: bigint) =>
              windows === undefined
                ? { start: leaves.wholeStamp, end: plan.range.end }
                : windows.of(time),
          }
        : spec;
    const transformation = createTransformation(complete, {
      inputType: type,
      descending: plan.descending,
      hold: (bytes) => run.hold(bytes),
    });
    type = transformation.type;
    return transformation;
  });
}

/** The part of the rows that lies in a range. Most leaves read all there is. */
function withinRange(run: Run, range: TimeRange, descending: boolean): Run {
  const { times } = run;
  const first = times[0];
  const last = times.at(-1);
  if (first === undefined || last === undefined) return run;
  const low = descending ? last : first;
  const high = descending ? first : last;
  if (low >= range.start && high <= range.end) return run;
  const rows: number[] = [];
  for (let i = 0; i < times.length; i++) {
    if (times[i]! >= range.start && times[i]! <= range.end) rows.push(i);
  }
  const keep = Uint32Array.from(rows);
  return {
    times: takeInt64(times, keep),
    columns: run.columns.map((column) => takeRows(column, keep)),
  };
}
