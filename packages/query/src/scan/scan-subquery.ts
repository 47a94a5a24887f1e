// Rows of a subquery as the outer query reads them: regrouped by the outer dimensions and filtered.
import { subqueriesIn } from '@tidemark/influxql';
import type { Column } from '@tidemark/core';
import { assert, rowsBytes } from '@tidemark/core';

import {
  constantColumn,
  convertColumn,
  nullColumn,
  takeInt64,
  takeRows,
} from '../batch/column-ops.ts';
import type { GroupKey, RowBatch } from '../batch/row-batch.ts';
import type { SelectPlan, SubqueryPlan } from '../plan/select-plan.ts';
import { hasPointTimes } from '../plan/calls-plan.ts';
import { compareGroups } from '../merge/group-order.ts';
import type { MergeOptions, SortedRows } from '../merge/merge-sorted-rows.ts';
import { mergeSortedRows } from '../merge/merge-sorted-rows.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import { isSameGroup } from './group-ends.ts';
import type { GroupEnds } from './group-ends.ts';
import { conditionMask, inputTypes, maskToRows } from './scan-measurement.ts';
import { Windows } from '../plan/windows.ts';
import { isPause } from '../operator.ts';
import type { Operator, Steps } from '../operator.ts';

/** Rows of a group: the sorted rows of each group of the subquery, in its order. */
type CollectedGroup = { readonly key: GroupKey; readonly parts: SortedRows[][]; bytes: number };

export type SubqueryRows = {
  /** Runs the plan of the subquery. */
  readonly inner: (ends?: GroupEnds) => Operator<RowBatch>;
  readonly ends: GroupEnds | undefined;
};

/**
 * Reads a subquery. Within an outer group rows are merged by time or window; some subqueries return
 * one inner group after another (see `keepsGroupsApart`), and the groups of some are those of the
 * outer query: their rows are passed on as they come.
 */
export function* scanSubquery(
  source: SubqueryPlan,
  plan: SelectPlan,
  { inner, ends }: SubqueryRows,
  execution: ExecutionContext,
): Operator<RowBatch> {
  const types = inputTypes(plan.inputs);
  const picks = plan.dimensions.map((name) => source.plan.dimensions.indexOf(name));
  const isStreaming = picks.every((place, i) => place === i);
  const groups = new Map<string, CollectedGroup>();
  const keepsInnerOrder = keepsGroupsApart(plan, source.plan);
  const windows = isReducedInWindows(plan) ? undefined : windowsOfPoints(source.plan);
  const merge = { types, descending: plan.descending, windows };
  const finish = ({ key, parts, bytes }: CollectedGroup): Operator<RowBatch> => {
    execution.release(bytes);
    // Inner groups are in ascending order among equal times, in descending queries too.
    if (plan.descending) parts.reverse();
    const all = parts.flat();
    return keepsInnerOrder ? inGroup(key, all) : mergedInGroup(key, all, merge);
  };
  let current: string | undefined;
  let innerGroup: GroupKey | undefined;
  const isSameGrouping = isStreaming && picks.length === source.plan.dimensions.length;
  const goesOn = isSameGrouping && isInOrderOfTime(source.plan, plan.descending);
  let group: GroupKey | undefined;
  for (const batch of inner(goesOn ? ends : undefined)) {
    yield isPause(batch) ? batch : undefined;
    if (isPause(batch)) continue;
    const rows = yield* outerRows(batch, { source, plan });
    if (rows === undefined) continue;
    const tags = picks.map((place) => batch.group.tags[place] ?? '');
    if (goesOn) {
      const { name } = batch.group;
      if (group?.name !== name || !isSameGroup(group.tags, tags)) group = { name, tags };
      yield { group, ...rows };
      continue;
    }
    const id = JSON.stringify([batch.group.name, ...tags]);
    if (isStreaming && current !== undefined && id !== current) {
      for (const done of groups.values()) yield* finish(done);
      groups.clear();
    }
    current = id;
    const bytes = rowsBytes(rows.times, rows.columns);
    execution.hold(bytes);
    const collected = groups.get(id);
    if (collected === undefined) {
      groups.set(id, { key: { name: batch.group.name, tags }, parts: [[rows]], bytes });
    } else {
      if (batch.group === innerGroup) collected.parts.at(-1)?.push(rows);
      else collected.parts.push([rows]);
      collected.bytes += bytes;
    }
    innerGroup = batch.group;
  }
  const ordered = [...groups.values()].sort(
    (a, b) => compareGroups(a.key, b.key) * (plan.descending ? -1 : 1),
  );
  for (const collected of ordered) yield* finish(collected);
}

function* inGroup(group: GroupKey, parts: readonly SortedRows[]): Operator<RowBatch> {
  for (const rows of parts) yield { group, ...rows };
}

/** Merges by the windows of the rows, if these determine their order, or by time. */
function* mergedInGroup(
  group: GroupKey,
  parts: readonly SortedRows[],
  { windows, ...merge }: MergeOptions & { readonly windows: Windows | undefined },
): Operator<RowBatch> {
  if (windows !== undefined) yield { group, ...(yield* mergeByWindow(parts, windows, merge)) };
  else if (parts.length > 0) yield { group, ...(yield* mergeSortedRows(parts, merge)) };
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
  return {
    times: takeInt64(batch.times, keep),
    columns: columns.map((column) => takeRows(column, keep)),
  };
}
