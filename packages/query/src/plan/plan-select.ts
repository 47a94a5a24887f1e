// The second half of the analysis: a prepared SELECT is given the values of a statement, placed in
// the outer query and becomes a plan.
import type { TimeRange } from '@tidemark/core';
import { assert, compareBytes, MAX_TIME } from '@tidemark/core';
import { measurementsIn } from '@tidemark/influxql';
import type { Fill } from '@tidemark/influxql';

import type { BoundSelect } from '../analyse/bound.ts';
import type { Interval } from '../analyse/dimensions.ts';
import { InputSet } from '../analyse/input-set.ts';
import type { PreparedStatement } from '../analyse/prepare-select.ts';
import type { PreparedSelect } from '../analyse/prepared.ts';
import { intersect } from '../analyse/time-range.ts';
import { isEndFunction } from '../functions/merge-heads.ts';
import { buildCondition } from './build-condition.ts';
import { mostPrefetched, mostShifted, rangeBefore, widenedRange } from './prefetch.ts';
import type { RowInput } from '../analyse/columns.ts';
import type { SelectPlan, SourcePlan, SubqueryInput } from './select-plan.ts';

/** The surroundings of a subquery that its plan needs. */
type Surroundings = {
  readonly range: TimeRange;
  /** The range that the outermost query may read. */
  readonly readableRange: TimeRange;
  readonly dimensions: readonly string[];
  readonly descending: boolean;
};

export type PlanOptions = {
  readonly now: bigint;
  /** INTO writes only windows that have data. */
  readonly isInto: boolean;
};

/** Plans a statement that is not a subquery. */
export function planSelect(statement: PreparedStatement, options: PlanOptions): SelectPlan {
  return plan(statement, undefined, options);
}

function plan(
  { prepared, bound }: PreparedStatement,
  around: Surroundings | undefined,
  options: PlanOptions,
): SelectPlan {
  const { interval, built } = prepared;
  const { split } = bound;
  // A subquery has its own clock: without tz() of its own it counts in UTC.
  const { zone } = prepared;
  const inputSet = new InputSet(built.inputs);
  const condition = buildCondition(split.condition, prepared.sources, inputSet);
  const inputs = inputSet.all;
  const descending = prepared.descending ?? around?.descending ?? false;
  const dimensions = sortedTags(prepared.tagDimensions, around?.dimensions);
  const seriesInput = isMergedByKey(prepared, dimensions)
    ? inputSet.add({ kind: 'series', name: '' })
    : undefined;
  const asked = around === undefined ? split.range : intersect(split.range, around.range);
  const range = plannedRange(asked, interval, options.now);
  const readableRange = around?.readableRange;
  const inner = (): Surroundings => ({
    // Windows are filled from the start of this range, though points may be read from later on.
    range: widenedRange({ range, interval, descending }, mostPrefetched(built.calls)),
    readableRange:
      readableRange ?? rangeBefore({ range, interval, descending }, mostShifted(built.calls)),
    dimensions: sortedTags(dimensions, askedTags(inputs)),
    descending,
  });
  return {
    sources: planSources({ prepared, bound }, inner, inputs, options),
    inputs,
    seriesInput,
    selectedInputCount: built.inputs.length,
    condition,
    calls: built.calls,
    auxiliaryInputs: built.auxiliaryInputs,
    outputs: built.outputs,
    timeColumnName: prepared.timeColumnName,
    dimensions,
    range,
    readableRange,
    interval,
    zone,
    fill: effectiveFill(prepared.fill, around !== undefined || options.isInto),
    descending,
    ...bound.limits,
  };
}

/**
 * Whether the merge of several series decides which rows `first` and `last` choose: not in windows,
 * nor in a group of one series.
 */
function isMergedByKey(
  { built, interval, sources }: PreparedSelect,
  dimensions: readonly string[],
): boolean {
  if (interval !== undefined) return false;
  if (!built.calls.some(({ reducer }) => isEndFunction(reducer?.kind))) return false;
  return measurementsIn(sources).some(({ schema }) => !hasSeriesPerGroup(schema.tags, dimensions));
}

/** Whether the tags of a group determine its series. */
export function hasSeriesPerGroup(
  tagKeys: ReadonlySet<string>,
  dimensions: readonly string[],
): boolean {
  return tagKeys.size <= dimensions.length && [...tagKeys].every((key) => dimensions.includes(key));
}

/** The part of the requested range that is read: windows end now. */
export function plannedRange(
  asked: TimeRange,
  interval: Interval | undefined,
  now: bigint,
): TimeRange {
  return interval !== undefined && asked.end === MAX_TIME ? { ...asked, end: now } : asked;
}

/** Tags that subqueries are grouped by although they do not select them. */
function askedTags(inputs: readonly RowInput[]): readonly string[] {
  return inputs.flatMap((input) =>
    input.kind === 'tag' && input.groupTag === 'asked-for' ? [input.name] : [],
  );
}

/** Windows without data are not rows for the readers of a result: outer queries and INTO. */
function effectiveFill(fill: Fill | undefined, isRead: boolean): Fill {
  const written = fill ?? { kind: 'null' };
  return isRead && written.kind === 'null' ? { kind: 'none' } : written;
}

/** Tags of both lists, without duplicates. */
function sortedTags(sorted: readonly string[], more: readonly string[] = []): readonly string[] {
  return more.length === 0 ? sorted : [...new Set([...sorted, ...more])].sort(compareBytes);
}

function planSources(
  { prepared, bound }: PreparedStatement,
  around: () => Surroundings,
  inputs: readonly RowInput[],
  options: PlanOptions,
): readonly SourcePlan[] {
  const subqueries = bound.subqueries.values();
  return prepared.sources.map((source): SourcePlan => {
    if (source.kind === 'measurement') {
      const { measurement, tags, shards } = source.schema;
      return { kind: 'measurement', measurement, tagKeys: tags, shards };
    }
    const own = { prepared: source.select, bound: nextOf(subqueries) };
    const inner = plan(own, around(), { ...options, isInto: false });
    return {
      kind: 'subquery',
      plan: inner,
      inputs: inputs.map((input) => subqueryInput(input, source.select, inner)),
    };
  });
}

function nextOf(subqueries: Iterator<BoundSelect>): BoundSelect {
  const next = subqueries.next();
  assert(next.done !== true, 'a statement is bound with all its subqueries');
  return next.value;
}

function subqueryInput(
  input: RowInput,
  prepared: PreparedSelect,
  inner: SelectPlan,
): SubqueryInput {
  if (input.kind === 'series') return { kind: 'missing' };
  const index = prepared.columns.findIndex((column) => column.name === input.name);
  if (index >= 0) return { kind: 'column', index };
  const isText = input.kind === 'tag' || input.type === 'string';
  if (!isText) return { kind: 'missing' };
  const tags = input.groupTag === undefined ? prepared.tagDimensions : inner.dimensions;
  if (tags.includes(input.name)) {
    return { kind: 'dimension', index: inner.dimensions.indexOf(input.name) };
  }
  return { kind: input.groupTag === undefined ? 'missing' : 'empty' };
}
