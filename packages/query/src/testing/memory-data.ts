// Points of the source in memory, and the evaluation of conditions on them.
import type { FieldType, FieldValue, TimeRange, UnsignedValue } from '@tidemark/core';
import { columnFrom, columnValue, compareValues, fieldTypeOf, floorMod } from '@tidemark/core';

import { convertColumn } from '../batch/column-ops.ts';
import { calculatedMask, ofSeries } from '../project/calculated.ts';
import { textMatcher } from '../regex.ts';
import type { Predicate } from '../series-source.ts';

export type MemoryValue = FieldValue | UnsignedValue;

export type MemoryPoint = {
  readonly measurement: string;
  readonly tags: readonly (readonly [string, string])[];
  readonly fields: readonly (readonly [string, MemoryValue])[];
  readonly time: bigint;
};

export type Typed = { readonly type: FieldType; readonly value: FieldValue };
export type Row = { readonly time: bigint; readonly fields: Map<string, Typed> };
export type Series = {
  readonly key: string;
  readonly measurement: string;
  readonly tags: ReadonlyMap<string, string>;
  /** By time. */
  readonly rows: Map<bigint, Row>;
};
export type Policy = {
  readonly database: string;
  readonly name: string;
  readonly shardNanos: bigint;
  readonly series: Map<string, Series>;
};

export function shardStart(policy: Policy, time: bigint): bigint {
  return time - floorMod(time, policy.shardNanos);
}

export function shardOverlaps(policy: Policy, time: bigint, range: TimeRange | undefined): boolean {
  if (range === undefined) return true;
  const start = shardStart(policy, time);
  return start <= range.end && start + policy.shardNanos > range.start;
}

export function hasShardIn(policy: Policy, series: Series, range: TimeRange | undefined): boolean {
  return [...series.rows.keys()].some((time) => shardOverlaps(policy, time, range));
}

export function typed(value: MemoryValue): Typed {
  return { type: fieldTypeOf(value), value: typeof value === 'object' ? value.unsigned : value };
}

export function readField(
  row: Row,
  field: { readonly name: string; readonly type: FieldType },
): FieldValue | null {
  const found = row.fields.get(field.name);
  if (found === undefined) return null;
  const column = convertColumn(columnFrom(found.type, [found.value]), field.type);
  if (column.valid?.[0] === 0) return null;
  return columnValue(column, 0);
}

/** Whether the predicate can hold for some row of a series with these tags. */
export function mayHold(predicate: Predicate, tags: ReadonlyMap<string, string>): boolean {
  switch (predicate.kind) {
    case 'and':
      return mayHold(predicate.left, tags) && mayHold(predicate.right, tags);
    case 'or':
      return mayHold(predicate.left, tags) || mayHold(predicate.right, tags);
    case 'constant':
      return predicate.value;
    case 'tag':
      return ((tags.get(predicate.key) ?? '') === predicate.value) === (predicate.operator === '=');
    case 'tag-regex':
      return (
        textMatcher(predicate.pattern)(tags.get(predicate.key) ?? '') ===
        (predicate.operator === '=~')
      );
    default:
      return true;
  }
}

export function holds(predicate: Predicate, tags: ReadonlyMap<string, string>, row: Row): boolean {
  switch (predicate.kind) {
    case 'and':
      return holds(predicate.left, tags, row) && holds(predicate.right, tags, row);
    case 'or':
      return holds(predicate.left, tags, row) || holds(predicate.right, tags, row);
    case 'field': {
      const value = row.fields.get(predicate.field)?.value;
      return value !== undefined && compareValues(value, predicate.operator, predicate.value);
    }
    case 'field-regex': {
      const value = row.fields.get(predicate.field)?.value;
      if (typeof value !== 'string') return false;
      return textMatcher(predicate.pattern)(value) === (predicate.operator === '=~');
    }
    case 'calculated': {
      const columns = predicate.fields.map((field) =>
        columnFrom(field.type, [readField(row, field)]),
      );
      return calculatedMask(ofSeries(predicate, tags), columns, 1)[0] === 1;
    }
    default:
      return mayHold(predicate, tags);
  }
}
