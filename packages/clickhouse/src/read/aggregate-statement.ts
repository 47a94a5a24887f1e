// The statement that aggregates columns by window on each shard.
import { floorMod } from '@tidemark/core';
import type { MeasurementAggregates, WindowSpec } from '@tidemark/query';

import { sqlInt64, sqlText } from '../sql/literals.ts';
import { mergeSql, partsFor, partSql } from './aggregate-parts.ts';
import type { PartName } from './aggregate-parts.ts';
import { byTypes, columnsOf, valueSql } from './columns.ts';
import type { TypedColumns } from './columns.ts';
import { liveSeries } from './live.ts';
import { pointCondition, tableOf, tagCondition } from './point-condition.ts';
import type { PointScope } from './point-condition.ts';

/** Columns with the parts that are computed from them. */
export type ReducedColumns = TypedColumns & { readonly parts: readonly PartName[] };

/** The columns of a policy that a request aggregates. */
export function reducedOf(
  { registry, part, measurement }: PointScope,
  { aggregates }: MeasurementAggregates,
): readonly ReducedColumns[] {
  const fields = aggregates.map(({ field, type }) => ({ name: field, type }));
  const columns = columnsOf(registry, part, { measurement, fields });
  return byTypes(columns, aggregates).map((typed) => {
    const functions = typed.columns.flatMap(({ fieldIndex }) => aggregates[fieldIndex]!.functions);
    return { ...typed, parts: partsFor(typed.type, functions) };
  });
}

/**
 * How rows identify their group: not at all if there is only one, by series, or by a hash of its
 * tags.
 */
export type GroupNaming = 'one' | 'series' | 'tags';

export function namingOf({ groupBy }: MeasurementAggregates): GroupNaming {
  if (groupBy === 'all') return 'series';
  return groupBy.length === 0 ? 'one' : 'tags';
}

/** Whether rows identify their column. */
export function namesColumns({ columns }: ReducedColumns): boolean {
  return columns.length > 1;
}

/**
 * Each row of the answer has its group unless there is only one, its window and column if there are
 * several, the count and the parts.
 */
export function aggregateStatement(
  scope: PointScope,
  request: MeasurementAggregates,
  reduced: ReducedColumns,
): string {
  const { window, omitsPointTimes } = request;
  const { type, columns, parts } = reduced;
  const column = namesColumns(reduced) ? ['column'] : [];
  const naming = namingOf(request);
  const condition = pointCondition(scope, {
    columns: columns.map(({ column }) => column),
    timeRange: request.timeRange,
    // The join drops the other series.
    ...(naming === 'tags' ? { series: '1' } : {}),
  });
  const values = `SELECT ${[...column, 'series', 'time'].join(', ')}, ${valueSql(reduced)} AS v
     FROM ${tableOf(scope)} FINAL WHERE ${condition}`;
  const options = { type, withTimes: omitsPointTimes !== true };
  const hasFirstText = type === 'string' && parts.includes('first');
  // Without windows there are far fewer series than values, so series are aggregated before the
  // join.
  if (naming === 'tags' && window === undefined && !hasFirstText) {
    const own = ['count() AS n', ...parts.flatMap((part) => partSql(part, options))];
    const of = ['series', ...column].join(', ');
    const perSeries = `SELECT ${of}, ${own.map(named).join(', ')}
      FROM (${values}) GROUP BY ${of}`;
    const merged = ['sum(n)', ...parts.flatMap((part) => mergeSql(part, options)).map(ofNamed)];
    const keys = ['g', ...column].join(', ');
    return `SELECT ${keys}, ${merged.join(', ')}
      FROM ${withGroups(perSeries, scope, request)} GROUP BY ${keys}`;
  }
  const start = window === undefined ? [] : [`${windowSql(window, request.timeRange)} AS w`];
  const group = naming === 'one' ? [] : [naming === 'series' ? 'series AS g' : 'g'];
  const names = [...group, ...start].map((text) => text.split(' ').at(-1)!);
  const keys = [...names, ...column];
  let from = naming === 'tags' ? withGroups(values, scope, request) : `(${values})`;
  let select = [...group, ...start, ...column, 'count()'];
  if (hasFirstText && naming !== 'series') {
    // If several texts have one time, the largest counts.
    const of = [...group, ...column, 'time'];
    from = `(SELECT ${[...of, 'max(v) AS v', 'count() AS n'].join(', ')}
      FROM ${from} GROUP BY ${of.join(', ')})`;
    select = [...group, ...start, ...column, 'sum(n)'];
  }
  select.push(...parts.flatMap((part) => partSql(part, options)));
  // Without GROUP BY, SQL returns a row even for no values; HAVING drops it.
  const by = keys.length === 0 ? ' HAVING count() > 0' : ` GROUP BY ${keys.join(', ')}`;
  return `SELECT ${select.join(', ')} FROM ${from}${by}${limitSql(request, keys)}`;
}

/** Limits the windows of each group and column. */
function limitSql(
  { window, descending, limitWindows }: MeasurementAggregates,
  keys: readonly string[],
): string {
  if (limitWindows === undefined || window === undefined) return '';
  const others = keys.filter((key) => key !== 'w');
  const by = others.length === 0 ? '' : ` BY ${others.join(', ')}`;
  return ` ORDER BY w${descending ? ' DESC' : ''} LIMIT ${limitWindows}${by}`;
}

/** Names the parts `p1`, `p2` and so on; the first expression is the count `n`. */
function named(expression: string, index: number): string {
  return index === 0 ? expression : `${expression} AS p${index}`;
}

function ofNamed(merge: string, index: number): string {
  return `${merge}(p${index + 1})`;
}

/** Joins rows with the groups of their series. */
function withGroups(rows: string, scope: PointScope, request: MeasurementAggregates): string {
  return `(${rows}) AS r ALL INNER JOIN (${groupsSql(scope, request)}) AS s USING series`;
}

/** The statement that returns the tags of the groups. */
export function groupNamesStatement(scope: PointScope, request: MeasurementAggregates): string {
  const { groupBy } = request;
  const names = groupBy === 'all' ? [] : groupBy;
  return `SELECT ${[tagHash(names), ...names.map((name) => `any(${tagValue(name)})`)].join(', ')}
     FROM ${seriesRows(scope)} GROUP BY ${tagHash(names)}`;
}

function groupsSql(scope: PointScope, { groupBy }: MeasurementAggregates): string {
  const names = groupBy === 'all' ? [] : groupBy;
  return `SELECT series, any(${tagHash(names)}) AS g FROM ${seriesRows(scope)} GROUP BY series`;
}

function seriesRows(scope: PointScope): string {
  return `${liveSeries(scope)} AND ${tagCondition(scope)}`;
}

/** A hash of the tag values of a group, because joining and grouping by texts is slower. */
function tagHash(names: readonly string[]): string {
  return `sipHash64(${names.map(tagValue).join(', ')})`;
}

function tagValue(name: string): string {
  return `tag_values[indexOf(tag_keys, ${sqlText(name)})]`;
}

/** The start of the window of `time`, computed without overflow. */
function windowSql(
  { everyNanos, offsetNanos }: WindowSpec,
  { start }: MeasurementAggregates['timeRange'],
): string {
  const every = sqlInt64(everyNanos);
  const rest = `time % ${every}`;
  const mod = start >= 0n ? rest : `if(${rest} < 0, ${rest} + ${every}, ${rest})`;
  const offset = floorMod(offsetNanos, everyNanos);
  if (offset === 0n) return `time - ${mod}`;
  const before = sqlInt64(offset);
  return `time - if(${mod} < ${before}, ${mod} - ${before} + ${every}, ${mod} - ${before})`;
}
