// The first half of the analysis of a SELECT: names are resolved against catalog and schema,
// wildcards and regular expressions are expanded, and static checks run. Subqueries are prepared
// recursively, inside out; everything that depends on the outer query (dimensions, time range,
// interval) is left to `plan-select.ts`.
import { assert, compareBytes } from '@tidemark/core';
import { isSubquery, isTime, subqueriesIn, walk } from '@tidemark/influxql';
import type { Expression, SelectStatement } from '@tidemark/influxql';

import { invalid } from '../compat-messages.ts';
import type { QueryContext } from '../context.ts';
import { checkLimit } from '../limits.ts';
import type { AggregateCall, ValueExpression } from './columns.ts';
import { buildColumns, resolveReference } from './build-columns.ts';
import { checkSelect } from './check-select.ts';
import type { BoundSelect } from './bound.ts';
import { rowLimits } from './bound.ts';
import type { Dimensions, Interval, TagDimension } from './dimensions.ts';
import { dimensionTest, readDimensions } from './dimensions.ts';
import { expandFields } from './expand-fields.ts';
import { declaredType } from './expression-types.ts';
import type { PreparedColumn, PreparedSelect, PreparedSource } from './prepared.ts';
import { resolveName, sourceTags } from './prepared.ts';
import { reportDoubtful } from './report-doubtful.ts';
import { reportTypes } from './report-types.ts';
import { reportMeasurement, reportNames } from './report-unknown.ts';
import { resolveMeasurement } from './resolve-source.ts';
import { loadNames } from './source-names.ts';
import type { NamesBySource } from './source-names.ts';
import type { ConditionSplit } from './time-range.ts';
import { splitCondition } from './time-range.ts';
import type { Zone } from './zone.ts';
import { openZone } from './zone.ts';
import type { Steps } from '../operator.ts';

/** Static findings of a statement and its subqueries, before any look-up. */
type CheckedSelect = {
  readonly statement: SelectStatement;
  readonly dimensions: Dimensions;
  readonly bound: BoundSelect;
  readonly zone: Zone | undefined;
  /** In the order of FROM. */
  readonly subqueries: readonly CheckedSelect[];
};

/** A statement in its two halves. */
export type PreparedStatement = {
  readonly prepared: PreparedSelect;
  readonly bound: BoundSelect;
};

/**
 * Checks, resolves and expands. Throws `InvalidRequest` or `NotFound` with the recorded texts. The
 * names of the sources are loaded where they are not given.
 */
export function* prepareSelect(
  statement: SelectStatement,
  context: QueryContext,
  loaded?: NamesBySource,
): Steps<PreparedStatement> {
  resolveNames(statement, context, 0);
  const checked = checkStatic(statement, context, { inheritsInterval: false });
  const names = loaded ?? (yield* loadNames(statement, context));
  const { bound } = checked;
  const { range } = bound.split;
  const prepared = prepare(checked, { context, names, range, interval: undefined });
  return { prepared, bound };
}

/** Databases and retention policies are looked up before anything else, as recorded. */
export function resolveNames(
  statement: SelectStatement,
  context: QueryContext,
  depth: number,
): void {
  const { maxSubqueryDepth, maxSelectSources } = context.limits;
  checkLimit('max-subquery-depth', depth, maxSubqueryDepth);
  checkLimit('max-select-sources', statement.sources.length, maxSelectSources);
  for (const source of statement.sources) {
    if (isSubquery(source)) resolveNames(source.statement, context, depth + 1);
    else resolveMeasurement(source, context);
  }
}

function checkStatic(
  statement: SelectStatement,
  context: QueryContext,
  parent: { readonly inheritsInterval: boolean; readonly descending?: boolean },
): CheckedSelect {
  const zone = openZone(statement.timeZone);
  const dimensions = readDimensions(statement.dimensions, context.now);
  const { now, onWarning } = context;
  const split = splitCondition(statement.condition, { now, zone, onWarning });
  checkSelect(statement, dimensions.interval, parent.inheritsInterval);
  const subqueries: CheckedSelect[] = [];
  const descending = statement.orderBy?.descending ?? parent.descending ?? false;
  for (const source of subqueriesIn(statement.sources)) {
    const order = source.statement.orderBy;
    if (order !== undefined && order.descending !== descending) {
      throw invalid('subqueries must be ordered in the same direction as the query itself', {
        code: 'IQL_ORDER',
        span: source.span,
        hint: 'give both the same ORDER BY time, or leave it out of the subquery',
      });
    }
    const inheritsInterval = parent.inheritsInterval || dimensions.interval !== undefined;
    subqueries.push(checkStatic(source.statement, context, { inheritsInterval, descending }));
  }
  const inner = subqueries.map(({ bound }) => bound);
  const bound = { split, limits: rowLimits(statement), subqueries: inner };
  return { statement, dimensions, bound, zone, subqueries };
}

/** The surroundings of a subquery that its analysis needs. */
type Around = {
  readonly context: QueryContext;
  readonly names: NamesBySource;
  /** The range of the outermost query decides which fields exist, as recorded. */
  readonly range: ConditionSplit['range'];
  readonly interval: Interval | undefined;
};

function prepare(checked: CheckedSelect, around: Around): PreparedSelect {
  const { statement, dimensions, zone } = checked;
  const { context, names, range } = around;
  const interval = dimensions.interval ?? around.interval;
  const sources: PreparedSource[] = [];
  const subqueries = checked.subqueries.values();
  for (const source of statement.sources) {
    if (isSubquery(source)) {
      const { value: inner } = subqueries.next();
      assert(inner !== undefined, 'every subquery has been checked');
      sources.push({ kind: 'subquery', select: prepare(inner, { ...around, interval }) });
      continue;
    }
    const found = names.get(source);
    if (found === undefined) continue;
    for (const measurement of found.measurements) {
      const schema = measurement.schema(found.set.retentionPolicy, range);
      if (schema !== undefined) sources.push({ kind: 'measurement', schema, names: measurement });
    }
    reportMeasurement(found, source.span, context);
  }
  reportNames(statement, sources, context);
  reportDoubtful(statement, sources, context);
  reportTypes(statement, sources, context);
  const { condition } = statement;
  findAbsentFields(condition, sources);
  checkCondition(condition, sources, context);
  const tagDimensions = expandTagDimensions(dimensions.tags, sources, context);
  const fields = expandFields(statement, sources, {
    tagDimensions,
    hasPatternDimension: dimensions.tags.some(({ kind }) => kind !== 'tag'),
    limits: context.limits,
  });
  const built = buildColumns({ statement, fields, sources, interval });
  const time = statement.fields.find((field) => isTime(field.expression));
  return {
    descending: statement.orderBy?.descending,
    fill: statement.fill,
    interval,
    zone,
    sources,
    tagDimensions,
    timeColumnName: time?.alias ?? 'time',
    built,
    columns: built.outputs.map(({ name, expression, isTag, isIntoTag }, i): PreparedColumn => {
      const call = callOf(expression, built.calls);
      const isNoField = isTagAsField(fields[i]?.expression, sources);
      const ofValues = isNoField ? 'string' : declaredType(expression);
      const type = isUnknownCall(call) ? undefined : ofValues;
      // A tag selected by a call is still a tag to wildcards.
      const isTagValue = call?.hasFixedType === false && readsTag(fields[i]?.expression, sources);
      const [unknown, known] = isIntoTag
        ? (['none', 'name'] as const)
        : (['wildcard', 'all'] as const);
      return {
        name,
        type: type ?? 'float',
        valueType: expression.type ?? type ?? 'float',
        isTag: isTag || isTagValue || isNoField,
        visibility: type === undefined ? unknown : known,
      };
    }),
  };
}

/** Whether a tag is read as a field: it has no values, and is a tag to outer queries. */
function isTagAsField(
  expression: Expression | undefined,
  sources: readonly PreparedSource[],
): boolean {
  return (
    expression?.kind === 'reference' &&
    expression.cast === 'field' &&
    resolveReference(expression, sources).kind === 'unknown' &&
    resolveName(expression.name, sources).kind === 'tag'
  );
}

/** The call that a column consists of. */
function callOf(
  expression: ValueExpression,
  calls: readonly AggregateCall[],
): AggregateCall | undefined {
  return expression.kind === 'column' ? calls[expression.index] : undefined;
}

/** A call on an unknown field whose result has a type. */
function isUnknownCall(call: AggregateCall | undefined): boolean {
  return call !== undefined && call.input === undefined && !call.hasFixedType;
}

/** Whether a call reads a column that is a tag of a subquery. */
function readsTag(expression: Expression | undefined, sources: readonly PreparedSource[]): boolean {
  switch (expression?.kind) {
    case 'call':
      return readsTag(expression.arguments[0], sources);
    case 'reference': {
      const resolved = resolveReference(expression, sources);
      return resolved.kind === 'field' && resolved.isTagColumn === true;
    }
    default:
      return false;
  }
}

/** Every field in a condition is compared in every row; tags are compared once per value. */
function checkCondition(
  condition: Expression | undefined,
  sources: readonly PreparedSource[],
  { limits }: QueryContext,
): void {
  const limit = limits.maxConditionFields;
  if (condition === undefined || limit === 0) return;
  let count = 0;
  const kinds = new Map<string, boolean>();
  walk(condition, (node) => {
    if (node.kind !== 'reference') return;
    let isField = kinds.get(node.name);
    if (isField === undefined) {
      isField = resolveName(node.name, sources).kind === 'field';
      kinds.set(node.name, isField);
    }
    if (isField) count++;
  });
  checkLimit('max-condition-fields', count, limit);
}

/**
 * A name in the condition that is no field in the time range may be a field at another time: it is
 * null then, and no tag. Replaces the sources by those with such fields.
 */
function findAbsentFields(condition: Expression | undefined, sources: PreparedSource[]): void {
  if (condition === undefined) return;
  const unknown = new Set<string>();
  walk(condition, (node) => {
    if (node.kind !== 'reference' || node.cast === 'tag' || isTime(node)) return;
    if (resolveName(node.name, sources).kind === 'unknown') unknown.add(node.name);
  });
  if (unknown.size === 0) return;
  for (const [i, source] of sources.entries()) {
    if (isSubquery(source)) continue;
    const all = source.names.everyField(source.schema.measurement.retentionPolicy);
    const absent = [...all].filter(([name]) => unknown.has(name));
    if (absent.length === 0) continue;
    sources[i] = { ...source, schema: { ...source.schema, absentFields: new Map(absent) } };
  }
}

function expandTagDimensions(
  written: readonly TagDimension[],
  sources: readonly PreparedSource[],
  { limits }: QueryContext,
): readonly string[] {
  const names = new Set<string>();
  for (const dimension of written) {
    if (dimension.kind === 'tag') names.add(dimension.name);
    else {
      const matches = dimensionTest(dimension);
      for (const name of sources.flatMap(sourceTags)) if (matches(name)) names.add(name);
    }
  }
  checkLimit('max-select-dimensions', names.size, limits.maxSelectDimensions);
  return [...names].sort(compareBytes);
}
