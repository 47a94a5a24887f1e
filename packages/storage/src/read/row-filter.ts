// Evaluates conditions on fields, for whole columns at a time. The result has a byte per row.
import { AssertionFailed, isExactInUtf8 } from '@tidemark/core';
import type { Column, FieldType } from '@tidemark/core';
import { calculatedMask } from '@tidemark/query';
import type { Predicate } from '@tidemark/query';
import type { ColumnCondition, TextSearch } from '@tidemark/kernels';
import { compilePattern } from '@tidemark/query/regex';

import { scans } from '../columns/codecs.ts';
import { nullColumn } from '../columns/null-column.ts';
import type { DatabaseView } from '../state/snapshot.ts';
import { commonResidual, residualCondition } from '../series/select.ts';
import type { SeriesId } from '../columns/series-id.ts';
import type { ChunkReader } from './chunk-reader.ts';
import type { Run } from '../columns/run.ts';
import { convertColumn } from './convert.ts';
import type { WantedField } from './convert.ts';

type ConditionField = WantedField & { readonly isText?: boolean };

/** The fields in a condition; `isText` where only texts can satisfy it. */
function fieldsOf(condition: Predicate): readonly ConditionField[] {
  switch (condition.kind) {
    case 'field':
      return [{ name: condition.field }];
    case 'field-regex':
      return [{ name: condition.field, isText: true }];
    case 'calculated':
      return condition.fields;
    case 'and':
    case 'or':
      return [...fieldsOf(condition.left), ...fieldsOf(condition.right)];
    default:
      return [];
  }
}

/** What is read of a series, and which of its rows are wanted. */
export type RowFilter = {
  /** `undefined` when all rows are wanted. Conditions on tags have been compared. */
  readonly condition: Predicate | undefined;
  /** The wanted fields, then those of the condition. */
  readonly fields: readonly WantedField[];
};

/** The filter of each selected series: mostly one for all of them. */
export function rowFilters(
  where: Predicate | undefined,
  wanted: readonly WantedField[],
  { index }: Pick<DatabaseView, 'index'>,
): (series: SeriesId) => RowFilter {
  const filterOf = (condition: Predicate | undefined): RowFilter => {
    return { condition, fields: withConditionFields(wanted, condition) };
  };
  const common = commonResidual(where);
  if (common !== undefined) {
    const filter = filterOf(common.condition);
    return () => filter;
  }
  return (series) => filterOf(where && residualCondition(where, new Map(index.tags(series))));
}

/**
 * The requested fields, then the fields of the condition, each once: in the type that it asks for,
 * otherwise in their stored type. A regular expression uses the texts of a requested field.
 */
export function withConditionFields(
  fields: readonly WantedField[],
  condition: Predicate | undefined,
): readonly WantedField[] {
  if (condition === undefined) return fields;
  const all = [...fields];
  for (const { name, type, isText = false } of fieldsOf(condition)) {
    const isThere = (field: WantedField, i: number): boolean => {
      if (field.name !== name) return false;
      if (type !== undefined) return field.type === type;
      return i < fields.length ? isText && field.type === 'string' : field.type === undefined;
    };
    if (!all.some(isThere)) all.push({ name, type });
  }
  return all;
}

type ColumnIndex = (field: string, type?: FieldType) => number;

/**
 * Finds the columns of a condition: after the first `wanted` ones, or, for texts and typed fields
 * that are not read twice, among them.
 */
export function conditionColumn(fields: readonly WantedField[], wanted: number): ColumnIndex {
  return (name, type) => {
    if (type !== undefined) {
      return fields.findIndex((field) => field.name === name && field.type === type);
    }
    const added = fields.findIndex(
      (field, i) => i >= wanted && field.name === name && field.type === undefined,
    );
    if (added >= 0) return added;
    return fields.findIndex((field) => field.name === name && field.type === 'string');
  };
}

/** The rows that a condition is evaluated on. */
export type ConditionRows = {
  readonly count: number;
  readonly column: (index: number) => Column | undefined;
  /**
   * Clears the mask where a comparison is false, without decoding the column. Returns `false` when
   * that is not possible.
   */
  readonly filterInPlace?: ChunkReader['filterInPlace'] | undefined;
  /** The mask of a condition on texts, where their column need not be decoded. */
  readonly search?: ChunkReader['search'] | undefined;
};

export function rowsOfChunk(chunk: ChunkReader): ConditionRows {
  const { from, to } = chunk.rows;
  return {
    count: to - from,
    column: (index) => chunk.column(index),
    filterInPlace: (mask, index, condition) => chunk.filterInPlace(mask, index, condition),
    search: (index, search) => chunk.search(index, search),
  };
}

export function rowsOfRun(run: Run): ConditionRows {
  return { count: run.times.length, column: (index) => run.columns[index] };
}

const toUtf8 = new TextEncoder();

/**
 * The search of a comparison of texts for equality; `undefined` for other ones, and for texts that
 * UTF-8 does not have.
 */
function equalTexts({ operator, value }: ColumnCondition): TextSearch | undefined {
  if (typeof value !== 'string' || value === '' || !isExactInUtf8(value)) return undefined;
  if (operator !== '=' && operator !== '!=') return undefined;
  const keeps = operator === '=' ? 'matches' : 'others';
  return { needle: toUtf8.encode(value), accepts: (text) => text === value, keeps };
}

/**
 * A mask with 1 for each row that satisfies the condition. `columnIndex` finds the column of a
 * field. Conditions on tags have been resolved by `rowFilters`.
 */
export function evaluate(
  condition: Predicate,
  rows: ConditionRows,
  columnIndex: ColumnIndex,
): Uint8Array {
  const { count } = rows;
  switch (condition.kind) {
    case 'constant':
      return new Uint8Array(count).fill(condition.value ? 1 : 0);
    case 'and':
    case 'or': {
      const left = evaluate(condition.left, rows, columnIndex);
      const right = evaluate(condition.right, rows, columnIndex);
      if (condition.kind === 'and') for (let i = 0; i < count; i++) left[i]! &= right[i]!;
      else for (let i = 0; i < count; i++) left[i]! |= right[i]!;
      return left;
    }
    case 'field': {
      const index = columnIndex(condition.field);
      const search = equalTexts(condition);
      const found = search && rows.search?.(index, search);
      if (found !== undefined) return found;
      const keep = new Uint8Array(count).fill(1);
      if (rows.filterInPlace?.(keep, index, condition) === true) return keep;
      const column = rows.column(index);
      if (column === undefined) return keep.fill(0);
      scans().filterInPlace(keep, column, condition);
      return keep;
    }
    case 'field-regex': {
      const index = columnIndex(condition.field);
      const { matches, required } = compilePattern(condition.pattern);
      const wanted = condition.operator === '=~';
      if (required !== '') {
        const keeps = wanted ? 'matches' : 'others';
        const search = { needle: toUtf8.encode(required), accepts: matches, keeps } as const;
        const found = rows.search?.(index, search);
        if (found !== undefined) return found;
      }
      const column = rows.column(index);
      if (column?.type !== 'string') return new Uint8Array(count);
      const keep = new Uint8Array(count).fill(1);
      scans().filterStringsInPlace(keep, column, (text) => matches(text) === wanted);
      return keep;
    }
    case 'calculated': {
      const columns = condition.fields.map(({ name, type }): Column => {
        const column = rows.column(columnIndex(name, type));
        return (column && convertColumn(column, type)) ?? nullColumn(type, count);
      });
      return calculatedMask(condition, columns, count);
    }
    case 'tag':
    case 'tag-regex':
      throw new AssertionFailed('conditions on tags are resolved before rows are read');
  }
}
