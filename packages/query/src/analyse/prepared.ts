// A SELECT between the two halves of its analysis: resolved, expanded and typed, but without the
// values of its condition and its limits (`bound.ts`), and not yet placed in the outer query.
import type { FieldType } from '@tidemark/core';
import { isSubquery, subqueriesIn } from '@tidemark/influxql';
import type { Expression, Fill } from '@tidemark/influxql';

import { isNumeric } from './expression-types.ts';
import type { BuiltColumns } from './columns.ts';
import type { Interval } from './dimensions.ts';
import type { MeasurementNames, MeasurementSchema } from '../measurement-names.ts';
import { strongerType } from '../measurement-names.ts';
import type { Zone } from './zone.ts';

/** One field of a SELECT list without wildcards. */
export type ExpandedField = {
  readonly expression: Expression;
  readonly name: string;
  /** A tag in a call of `top` or `bottom`; INTO writes it as a tag. */
  readonly isIntoTag: boolean;
};

/** A column of a prepared SELECT as the query around it sees it. */
export type PreparedColumn = {
  readonly name: string;
  readonly type: FieldType;
  /** Type of the computed values. */
  readonly valueType: FieldType;
  readonly isTag: boolean;
  /**
   * How it can be referenced. Wildcards do not pass unknown names to functions; tags in calls of
   * `top` are only found by their name, and not at all if the source does not know them (recorded).
   */
  readonly visibility: 'all' | 'wildcard' | 'name' | 'none';
};

export type PreparedSource =
  | {
      readonly kind: 'measurement';
      readonly schema: MeasurementSchema;
      /** Includes other times. */
      readonly names: MeasurementNames;
    }
  | { readonly kind: 'subquery'; readonly select: PreparedSelect };

/** The same for all statements of a shape, as long as its sources have the same fields and tags. */
export type PreparedSelect = {
  /** `undefined` when the text does not say. */
  readonly descending: boolean | undefined;
  readonly fill: Fill | undefined;
  /** Its own, or that of the query around it. */
  readonly interval: Interval | undefined;
  readonly zone: Zone | undefined;
  readonly sources: readonly PreparedSource[];
  /** Tags of this statement's own GROUP BY, sorted. */
  readonly tagDimensions: readonly string[];
  readonly timeColumnName: string;
  readonly columns: readonly PreparedColumn[];
  /** The computation of its columns. */
  readonly built: BuiltColumns;
};

/** Tags that the source offers to GROUP BY and wildcards. */
export function sourceTags(source: PreparedSource): readonly string[] {
  return source.kind === 'measurement' ? [...source.schema.tags] : source.select.tagDimensions;
}

/** The meaning of a name in a set of sources. */
export type ResolvedName =
  | {
      readonly kind: 'field';
      readonly type: FieldType;
      /**
       * Type of the values, where a subquery declares another one: a quotient of integers counts as
       * an integer, a number that is cast to a text as a text.
       */
      readonly valueType?: FieldType | undefined;
      /** It is a tag that a subquery selects, and printed as one. */
      readonly isTagColumn?: boolean | undefined;
    }
  | { readonly kind: 'tag' }
  | { readonly kind: 'unknown' };

/** The type in which values of a field are read when no function takes them. */
export function readType({ type, valueType = type }: ResolvedName & { kind: 'field' }): FieldType {
  return isNumeric(type) && isNumeric(valueType) ? type : valueType;
}

/**
 * A field of any source takes precedence over a tag of any source; the strongest type among fields
 * counts.
 */
export function resolveName(name: string, sources: readonly PreparedSource[]): ResolvedName {
  let type: FieldType | undefined;
  let isTag = false;
  for (const source of sources) {
    const found = sourceFieldType(source, name);
    if (found !== undefined) type = strongerType(type, found);
    if (hasTag(source, name)) isTag = true;
  }
  if (type !== undefined) {
    const isTagColumn = sources.every(
      (source) =>
        isSubquery(source) &&
        source.select.columns.some((column) => column.name === name && column.isTag),
    );
    return { kind: 'field', type, valueType: columnValueType(name, sources), isTagColumn };
  }
  return isTag ? { kind: 'tag' } : { kind: 'unknown' };
}

function columnValueType(name: string, sources: readonly PreparedSource[]): FieldType | undefined {
  let type: FieldType | undefined;
  for (const { select } of subqueriesIn(sources)) {
    const column = select.columns.find((one) => one.name === name);
    if (column !== undefined) type = strongerType(type, column.valueType);
  }
  return type;
}

function sourceFieldType(source: PreparedSource, name: string): FieldType | undefined {
  if (source.kind === 'measurement') return source.schema.fields.get(name);
  // A tag that a subquery selects is a column of texts to the query around it.
  const column = source.select.columns.find((one) => one.name === name);
  if (column?.visibility === 'wildcard' || column?.visibility === 'none') return undefined;
  return column?.type;
}

function hasTag(source: PreparedSource, name: string): boolean {
  if (source.kind === 'measurement') return source.schema.tags.has(name);
  return source.select.tagDimensions.includes(name);
}
