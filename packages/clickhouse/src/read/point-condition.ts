// SQL conditions that select rows of a points table.
import { AssertionFailed, FIELD_TYPES } from '@tidemark/core';
import type { TimeRange } from '@tidemark/core';
import type { Predicate } from '@tidemark/query';

import type { Cluster } from '../cluster/cluster.ts';
import { columnIdOf } from '../ids.ts';
import type { Registry } from '../shared/registry.ts';
import { comparison } from '../sql/comparisons.ts';
import { filterCondition, matches } from '../sql/conditions.ts';
import { sqlIn } from '../sql/literals.ts';
import { pointsTable } from '../sql/tables.ts';
import { timeCondition } from '../sql/time-condition.ts';
import { livePoints, liveSeries } from './live.ts';
import { inGroups } from './parts.ts';
import type { PolicyPart } from './parts.ts';

/** Points of one measurement in one retention policy. */
export type PointScope = {
  readonly cluster: Cluster;
  readonly registry: Registry;
  readonly part: PolicyPart;
  readonly measurement: string;
  readonly where: Predicate | undefined;
};

type Wanted = {
  /** The stored columns to read. */
  readonly columns: readonly { readonly id: bigint; readonly field: string }[];
  readonly timeRange: TimeRange;
  /** A condition on `series`; by default it is derived from the tags. */
  readonly series?: string | undefined;
};

/**
 * The condition over a points table. A condition on the only field that is read is applied to its
 * rows; other field conditions select pairs of series and time.
 */
export function pointCondition(scope: PointScope, wanted: Wanted): string {
  const { columns, timeRange } = wanted;
  const { tags, values } = splitCondition(scope.where);
  const series = wanted.series ?? (tags === undefined ? undefined : seriesIn(scope, tags));
  const live = livePoints(scope, timeRange);
  const range = [inGroups(scope.part), timeCondition(timeRange), ...live];
  if (series !== undefined) range.push(series);
  const own = [columnsIn(columns), ...range];
  if (values === undefined) return own.join(' AND ');
  const fields = conditionFields(values);
  if (columns.every(({ field }) => fields.length === 1 && fields[0] === field))
    return [...own, valueCondition(scope, values, (leaf) => leaf)].join(' AND ');
  const held = fields.flatMap((field) => storedTypes(scope, field));
  // The condition may hold without such a value, so every row that is read is a candidate.
  const needsNone = held.length === 0 || !needsValue(values);
  const asked = needsNone ? [...held, ...columns] : held;
  const rows = `SELECT series, time FROM ${tableOf(scope)} FINAL
     WHERE ${[columnsIn(asked), ...range].join(' AND ')}
     GROUP BY series, time HAVING ${valueCondition(scope, values, (leaf) => `max(${leaf})`)}`;
  return [...own, `(series, time) IN (${rows})`].join(' AND ');
}

export function tableOf({ cluster, part }: Pick<PointScope, 'cluster' | 'part'>): string {
  return cluster.table(pointsTable(part.policyId));
}

/** The condition over the series table: the part of the predicate that tags decide. */
export function tagCondition({ measurement, where }: PointScope): string {
  const { tags } = splitCondition(where);
  return filterCondition({ measurements: [measurement], where: tags });
}

function columnsIn(columns: readonly { readonly id: bigint }[]): string {
  return sqlIn(
    'column',
    columns.map(({ id }) => String(id)),
  );
}

function seriesIn(scope: PointScope, tags: Predicate): string {
  const { measurement } = scope;
  return `series IN (SELECT series FROM ${liveSeries(scope)}
     AND ${filterCondition({ measurements: [measurement], where: tags })})`;
}

type Split = { readonly tags: Predicate | undefined; readonly values: Predicate | undefined };

/** Splits a predicate into the part that reads only tags and the rest; both must hold. */
function splitCondition(where: Predicate | undefined): Split {
  if (where === undefined) return { tags: undefined, values: undefined };
  if (conditionFields(where).length === 0) return { tags: where, values: undefined };
  if (where.kind !== 'and') return { tags: undefined, values: where };
  const left = splitCondition(where.left);
  const right = splitCondition(where.right);
  return { tags: both(left.tags, right.tags), values: both(left.values, right.values) };
}

function both(left: Predicate | undefined, right: Predicate | undefined): Predicate | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return { kind: 'and', left, right };
}

/** The names of the fields in a condition. */
function conditionFields(predicate: Predicate): readonly string[] {
  switch (predicate.kind) {
    case 'and':
    case 'or':
      return [
        ...new Set([...conditionFields(predicate.left), ...conditionFields(predicate.right)]),
      ];
    case 'field':
    case 'field-regex':
      return [predicate.field];
    default:
      return [];
  }
}

/** Whether a condition is false if none of its fields has a value. */
function needsValue(predicate: Predicate): boolean {
  switch (predicate.kind) {
    case 'and':
      return needsValue(predicate.left) || needsValue(predicate.right);
    case 'or':
      return needsValue(predicate.left) && needsValue(predicate.right);
    case 'constant':
      return !predicate.value;
    case 'field':
    case 'field-regex':
      return true;
    default:
      return false;
  }
}

/** `ofLeaf` aggregates a comparison over all rows of a series at one time. */
function valueCondition(
  scope: PointScope,
  predicate: Predicate,
  ofLeaf: (leaf: string) => string,
): string {
  switch (predicate.kind) {
    case 'and':
    case 'or': {
      const left = valueCondition(scope, predicate.left, ofLeaf);
      const right = valueCondition(scope, predicate.right, ofLeaf);
      return `(${left} ${predicate.kind === 'and' ? 'AND' : 'OR'} ${right})`;
    }
    case 'constant':
      return predicate.value ? '1' : '0';
    case 'tag':
    case 'tag-regex':
      return seriesIn(scope, predicate);
    case 'calculated':
      throw new AssertionFailed('the source does not calculate conditions');
    default: {
      const leaves = storedTypes(scope, predicate.field).map(({ id, type }) => {
        if (predicate.kind === 'field')
          return `(column = ${id} AND ${comparison(type, predicate.operator, predicate.value)})`;
        if (type !== 'string') return '0';
        return `(column = ${id} AND ${matches('s', predicate.operator, predicate.pattern)})`;
      });
      return leaves.length === 0 ? '0' : ofLeaf(`(${leaves.join(' OR ')})`);
    }
  }
}

/** The columns of a field in the part, one per type. */
function storedTypes({ registry, part, measurement }: PointScope, field: string) {
  const types = registry.typesOf(part.groups, measurement, field);
  return FIELD_TYPES.filter((type) => types.has(type)).map((type) => ({
    id: columnIdOf(measurement, field, type),
    field,
    type,
  }));
}
