// Field conditions on the rows of a run: one byte per row, whole columns at a time.
import type { Column, FieldValue } from '@tidemark/core';
import type { ComparisonOperator, Predicate } from '@tidemark/query';

import { compilePattern } from '../series/regex.ts';
import type { Run } from './run.ts';

/** Names of the fields that a condition reads. */
export function fieldsOf(condition: Predicate): string[] {
  switch (condition.kind) {
    case 'field':
    case 'field-regex':
      return [condition.field];
    case 'and':
    case 'or':
      return [...fieldsOf(condition.left), ...fieldsOf(condition.right)];
    default:
      return [];
  }
}

/** 1 where the condition holds. `columnIndex` finds a field's column in the run; tag leaves are gone by now. */
export function evaluate(
  condition: Predicate,
  run: Run,
  columnIndex: (field: string) => number,
): Uint8Array {
  const count = run.times.length;
  switch (condition.kind) {
    case 'constant':
      return new Uint8Array(count).fill(condition.value ? 1 : 0);
    case 'and':
    case 'or': {
      const left = evaluate(condition.left, run, columnIndex);
      const right = evaluate(condition.right, run, columnIndex);
      if (condition.kind === 'and') for (let i = 0; i < count; i++) left[i]! &= right[i]!;
      else for (let i = 0; i < count; i++) left[i]! |= right[i]!;
      return left;
    }
    case 'field': {
      const column = run.columns[columnIndex(condition.field)];
      const keep = new Uint8Array(count);
      if (column !== undefined) compareColumn(column, condition.operator, condition.value, keep);
      return keep;
    }
    case 'field-regex': {
      const column = run.columns[columnIndex(condition.field)];
      const keep = new Uint8Array(count);
      if (column?.type !== 'string') return keep;
      const test = compilePattern(condition.pattern);
      const wanted = condition.operator === '=~';
      const outcome = column.dictionary.map((text) => (test(text) === wanted ? 1 : 0));
      for (let i = 0; i < count; i++) keep[i] = outcome[column.codes[i]!] ?? 0;
      return masked(keep, column.valid);
    }
    case 'tag':
    case 'tag-regex':
      // Resolved per series before rows are read.
      return new Uint8Array(count);
  }
}

function compareColumn(
  column: Column,
  operator: ComparisonOperator,
  value: FieldValue,
  keep: Uint8Array,
): void {
  const isNumeric = typeof value === 'number' || typeof value === 'bigint';
  switch (column.type) {
    case 'boolean': {
      if (typeof value !== 'boolean') return;
      const wanted = [false, true].map((held) => (holds(operator, compare(held, value)) ? 1 : 0));
      for (let i = 0; i < keep.length; i++) keep[i] = wanted[column.values[i]!] ?? 0;
      break;
    }
    case 'string': {
      if (typeof value !== 'string') return;
      const wanted = column.dictionary.map((text) =>
        holds(operator, compare(text, value)) ? 1 : 0,
      );
      for (let i = 0; i < keep.length; i++) keep[i] = wanted[column.codes[i]!] ?? 0;
      break;
    }
    case 'float': {
      if (!isNumeric) return;
      if (typeof value === 'number') compareFloats(column.values, operator, value, keep);
      else compareEach(column.values, operator, value, keep);
      break;
    }
    default:
      // JavaScript compares bigint and number by value, without rounding.
      if (!isNumeric) return;
      compareEach(column.values, operator, value, keep);
  }
  masked(keep, column.valid);
}

function compareFloats(
  values: Float64Array,
  operator: ComparisonOperator,
  value: number,
  keep: Uint8Array,
): void {
  const count = keep.length;
  switch (operator) {
    case '=':
      for (let i = 0; i < count; i++) keep[i] = values[i] === value ? 1 : 0;
      break;
    case '!=':
      for (let i = 0; i < count; i++) keep[i] = values[i] !== value ? 1 : 0;
      break;
    case '<':
      for (let i = 0; i < count; i++) keep[i] = values[i]! < value ? 1 : 0;
      break;
    case '<=':
      for (let i = 0; i < count; i++) keep[i] = values[i]! <= value ? 1 : 0;
      break;
    case '>':
      for (let i = 0; i < count; i++) keep[i] = values[i]! > value ? 1 : 0;
      break;
    case '>=':
      for (let i = 0; i < count; i++) keep[i] = values[i]! >= value ? 1 : 0;
      break;
  }
}

function compareEach(
  values: Float64Array | BigInt64Array | BigUint64Array,
  operator: ComparisonOperator,
  value: number | bigint,
  keep: Uint8Array,
): void {
  for (let i = 0; i < keep.length; i++) {
    keep[i] = holds(operator, compare(values[i]!, value)) ? 1 : 0;
  }
}

function compare(a: FieldValue, b: FieldValue): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function holds(operator: ComparisonOperator, order: number): boolean {
  switch (operator) {
    case '=':
      return order === 0;
    case '!=':
      return order !== 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
  }
}

function masked(keep: Uint8Array, valid: Uint8Array | undefined): Uint8Array {
  if (valid !== undefined) for (let i = 0; i < keep.length; i++) keep[i]! &= valid[i]!;
  return keep;
}
