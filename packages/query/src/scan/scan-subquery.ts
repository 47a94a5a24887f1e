// Rows of a subquery as the outer query reads them: regrouped by the outer dimensions and filtered.
import { subqueriesIn } from '@tidemark/influxql';
import type { Column } from '@tidemark/core';
import { assert, rowsBytes } from '@tidemark/core';

import {
  chosenRows,
  constantColumn,
  convertColumn,
  maskToRows,
  nullColumn,
} from '../batch/column-ops.ts';
import { compareGroups } from '../batch/row-batch.ts';
import type { GroupKey, RowBatch } from '../batch/row-batch.ts';
import type { SelectPlan, SubqueryPlan } from '../plan/select-plan.ts';
import { hasPointTimes } from '../plan/calls-plan.ts';
import type { MergeOptions, SortedRows } from '../merge/merge-sorted-rows.ts';
import { mergeSortedRows } from '../merge/merge-sorted-rows.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import { groupOf } from './group-ends.ts';
import type { GroupEnds } from './group-ends.ts';
import { conditionMask, inputTypes } from './scan-measurement.ts';
import type { ScanOptions } from './scan-measurement.ts';
import { Windows } from '../plan/windows.ts';
import { flatMapBatches } from '../operator.ts';
import type { Operator, Steps } from '../operator.ts';

/** Rows of a group: the sorted rows of each group of the subquery, in its order. */
type CollectedGroup = { readonly key: GroupKey; readonly parts: SortedRows[][]; bytes: number };

export type SubqueryRows = {
  /** Runs the plan of the subquery. */
  readonly inner: (ends?: GroupEnds) => Operator<RowBatch>;
} & Pick<ScanOptions, 'ends' | 'anyOrder'>;

/**
 * Reads a subquery. Within an outer group rows are merged by time or window, unless they may come
 * in any order; some subqueries return one inner group after another (see `keepsGroupsApart`).
 * Where the groups of a subquery are those of the outer query, or parts of them one after another,
 * rows that need no merge are passed on as they come.
 */
export function* scanSubquery(
  source: SubqueryPlan,
  plan: SelectPlan,
  { inner, ends, anyOrder = false }: SubqueryRows,
  execution: ExecutionContext,
): Operator<RowBatch> {
  const { dimensions } = source.plan;
  const isPrefix = plan.dimensions.every((name, i) => dimensions[i] === name);
  const isSameGrouping = isPrefix && plan.dimensions.length === dimensions.length;
  const inOrder = isSameGrouping && isInOrderOfTime(source.plan, plan.descending);
  if (inOrder || (anyOrder && isPrefix)) {
    const groups = new PassedGroups(source, plan);
    yield* flatMapBatches(inner(inOrder ? ends : undefined), (batch) => groups.rows(batch));
    return;
  }
  const groups = new CollectedGroups({ source, plan, execution, anyOrder });
  yield* flatMapBatches(inner(), (batch) => groups.add(batch));
  yield* groups.finish();
}

/** Groups that begin with the tags of the outer ones: rows are passed on as they come. */
class PassedGroups {
  readonly #source: SubqueryPlan;
  readonly #plan: SelectPlan;
  #group: GroupKey | undefined;

  constructor(source: SubqueryPlan, plan: SelectPlan) {
    this.#source = source;
    this.#plan = plan;
  }

  *rows(batch: RowBatch): Operator<RowBatch> {
    yield;
    const rows = yield* outerRows(batch, { source: this.#source, plan: this.#plan });
    if (rows === undefined) return;
    const tags = batch.group.tags.slice(0, this.#plan.dimensions.length);
    this.#group = groupOf(this.#group, batch.group.name, tags);
    yield { group: this.#group, ...rows };
  }
}

type Collecting = {
  readonly source: SubqueryPlan;
  readonly plan: SelectPlan;
  readonly execution: ExecutionContext;
  readonly anyOrder: boolean;
};

/** Groups that are merged when their last rows have come. */
class CollectedGroups {
  readonly #source: SubqueryPlan;
  readonly #plan: SelectPlan;
  readonly #execution: ExecutionContext;
  /** The dimensions among those of the subquery. */
  readonly #picks: readonly number[];
  /** The groups of the subquery are parts of these: each is complete when the next one begins. */
  readonly #isStreaming: boolean;
  readonly #keepsInnerOrder: boolean;
  readonly #merge: MergeOptions & { readonly windows: Windows | undefined };
  readonly #groups = new Map<string, CollectedGroup>();
  #current: string | undefined;
  #innerGroup: GroupKey | undefined;

  constructor({ source, plan, execution, anyOrder }: Collecting) {
    this.#source = source;
    this.#plan = plan;
    this.#execution = execution;
    this.#picks = plan.dimensions.map((name) => source.plan.dimensions.indexOf(name));
    this.#isStreaming = this.#picks.every((place, i) => place === i);
    this.#keepsInnerOrder = anyOrder || keepsGroupsApart(plan, source.plan);
    this.#merge = {
      types: inputTypes(plan.inputs),
      descending: plan.descending,
      windows: isReducedInWindows(plan) ? undefined : windowsOfPoints(source.plan),
    };
  }

  /** Adds rows; yields the groups that are complete then. */
  *add(batch: RowBatch): Operator<RowBatch> {
    yield;
    const rows = yield* outerRows(batch, { source: this.#source, plan: this.#plan });
    if (rows === undefined) return;
    const { name } = batch.group;
    const tags = this.#picks.map((place) => batch.group.tags[place] ?? '');
    const id = JSON.stringify([name, ...tags]);
    if (this.#isStreaming && this.#current !== undefined && id !== this.#current) {
      for (const complete of this.#groups.values()) yield* this.#rowsOf(complete);
      this.#groups.clear();
    }
    this.#current = id;
    const bytes = rowsBytes(rows.times, rows.columns);
    this.#execution.hold(bytes);
    const collected = this.#groups.get(id);
    if (collected === undefined) {
      this.#groups.set(id, { key: { name, tags }, parts: [[rows]], bytes });
    } else {
      if (batch.group === this.#innerGroup) collected.parts.at(-1)?.push(rows);
      else collected.parts.push([rows]);
      collected.bytes += bytes;
    }
    this.#innerGroup = batch.group;
  }

  *finish(): Operator<RowBatch> {
    const ordered = [...this.#groups.values()].sort(
      (a, b) => compareGroups(a.key, b.key) * (this.#plan.descending ? -1 : 1),
    );
    for (const complete of ordered) yield* this.#rowsOf(complete);
  }

  *#rowsOf({ key: group, parts, bytes }: CollectedGroup): Operator<RowBatch> {
    this.#execution.release(bytes);
    const { windows, ...merge } = this.#merge;
    // Inner groups are in ascending order among equal times, in descending queries too.
    if (merge.descending) parts.reverse();
    const all = parts.flat();
    if (this.#keepsInnerOrder) for (const rows of all) yield { group, ...rows };
    else if (windows !== undefined) yield { group, ...(yield* mergeByWindow(all, windows, merge)) };
    else if (all.length > 0) yield { group, ...(yield* mergeSortedRows(all, merge)) };
  }
}

/** Whether the rows of each group come in the order of time: a query without functions of rows. */
function isInOrderOfTime({ calls, sources, descending }: SelectPlan, wanted: boolean): boolean {
  if (calls.length > 0 || descending !== wanted) return false;
  return subqueriesIn(sources).every(({ plan }) => isInOrderOfTime(plan, wanted));
}

/**
 * Whether a raw query sees one inner group after another. Without windows the one result of a group
 * is in the group's place; filled windows are a series of their own.
 */
function keepsGroupsApart(plan: SelectPlan, inner: SelectPlan): boolean {
  if (plan.calls.some((call) => call.reducer !== undefined)) return false;
  // A raw query keeps the order of its rows.
  if (inner.calls.length === 0) {
    return subqueriesIn(inner.sources).some((source) => keepsGroupsApart(inner, source.plan));
  }
  if (inner.calls.some((call) => call.reducer === undefined)) return false;
  if (inner.interval === undefined) return true;
  return inner.fill.kind !== 'none' && !inner.calls.every(hasPointTimes);
}

/** Windows of the query itself need the points in the order of time. */
function isReducedInWindows({ interval, calls }: SelectPlan): boolean {
  return interval !== undefined && calls.some((call) => call.reducer !== undefined);
}

/**
 * The windows that determine the order of rows with the times of their points; `undefined` if time
 * is the order.
 */
function windowsOfPoints(inner: SelectPlan): Windows | undefined {
  if (inner.interval === undefined || !inner.calls.some(hasPointTimes)) return undefined;
  return new Windows(inner.interval, inner.zone);
}

/** Merges by the windows of the rows; within a window, one inner group follows another. */
function* mergeByWindow(
  parts: readonly SortedRows[],
  windows: Windows,
  merge: MergeOptions,
): Steps<SortedRows> {
  const byWindow = parts.map(({ times, columns }): SortedRows => ({
    times: times.map((time) => windows.of(time).start),
    columns: [...columns, { type: 'integer', values: times, valid: undefined }],
  }));
  const { columns } = yield* mergeSortedRows(byWindow, {
    ...merge,
    types: [...merge.types, 'integer'],
  });
  const times = columns.at(-1);
  assert(times?.type === 'integer', 'the last column holds the times');
  return { times: times.values, columns: columns.slice(0, -1) };
}

/** The columns of the outer plan's inputs, for the rows that meet its condition. */
function* outerRows(
  batch: RowBatch,
  { source, plan }: { readonly source: SubqueryPlan; readonly plan: SelectPlan },
): Steps<SortedRows | undefined> {
  const rowCount = batch.times.length;
  const columns = source.inputs.map((pick, i): Column => {
    const input = plan.inputs[i]!;
    const type = input.kind === 'field' ? input.type : 'string';
    switch (pick.kind) {
      case 'column':
        return convertColumn(batch.columns[pick.index] ?? nullColumn(type, rowCount), type);
      case 'dimension': {
        const value = batch.group.tags[pick.index] ?? '';
        return constantColumn(value, 'string', rowCount);
      }
      case 'missing':
        return nullColumn(type, rowCount);
      case 'empty':
        return constantColumn('', 'string', rowCount);
    }
  });
  const { whole } = plan.condition;
  if (whole === undefined) return { times: batch.times, columns };
  // Every row that meets the condition counts, even without a selected value.
  const keep = maskToRows(yield* conditionMask(whole, columns, { plan, rowCount }));
  if (keep.length === 0) return undefined;
  return chosenRows(batch.times, columns, keep);
}
