// Whole-column operations: slices, gathers, constants, conversions. Inputs are never changed.
import type { Column, ColumnValues, FieldType, FieldValue, Texts, Validity } from '@tidemark/core';
import {
  columnFrom,
  columnLength,
  concatTexts,
  copyParts,
  floatToInt64,
  textCount,
  textsOf,
  unreachable,
  wrapInteger,
} from '@tidemark/core';

import { columnOf, newValues, valuesOf, withValues } from './column-values.ts';

/** Rows `[start, end)`; shares memory with the input. */
export function sliceColumn(column: Column, start: number, end: number): Column {
  const valid = column.valid?.subarray(start, end);
  return withValues(column, valuesOf(column).subarray(start, end), valid);
}

/** The rows named by `indexes`, in that order. */
export function takeRows(column: Column, indexes: Uint32Array): Column {
  const valid = column.valid === undefined ? undefined : takeBytes(column.valid, indexes);
  switch (column.type) {
    case 'float': {
      const values = new Float64Array(indexes.length);
      const from = column.values;
      for (let i = 0; i < indexes.length; i++) values[i] = from[indexes[i]!]!;
      return { type: 'float', values, valid };
    }
    case 'integer':
      return { type: 'integer', values: takeInt64(column.values, indexes), valid };
    case 'unsigned': {
      const values = new BigUint64Array(indexes.length);
      copyInt64(column.values.buffer, column.values.byteOffset, values, indexes);
      return { type: 'unsigned', values, valid };
    }
    case 'boolean':
      return { type: 'boolean', values: takeBytes(column.values, indexes), valid };
    case 'string': {
      const codes = new Uint32Array(indexes.length);
      const from = column.codes;
      for (let i = 0; i < indexes.length; i++) codes[i] = from[indexes[i]!]!;
      return { type: 'string', codes, texts: column.texts, valid };
    }
    default:
      return unreachable(column);
  }
}

/** Row numbers of the bytes that are 1. */
export function maskToRows(mask: Uint8Array): Uint32Array {
  let count = 0;
  for (let i = 0; i < mask.length; i++) count += mask[i]!;
  const rows = new Uint32Array(count);
  let at = 0;
  for (let i = 0; i < mask.length; i++) if (mask[i] === 1) rows[at++] = i;
  return rows;
}

/** Rows that are chosen among others. */
export function chosenRows(
  times: BigInt64Array,
  columns: readonly Column[],
  rows: Uint32Array,
): { readonly times: BigInt64Array; readonly columns: readonly Column[] } {
  return {
    times: takeInt64(times, rows),
    columns: columns.map((column) => takeRows(column, rows)),
  };
}

/**
 * Like `takeRows` for times. Copies 32-bit halves, because reading a bigint per row is ten times
 * slower.
 */
export function takeInt64(from: BigInt64Array, indexes: Uint32Array): BigInt64Array {
  const values = new BigInt64Array(indexes.length);
  copyInt64(from.buffer, from.byteOffset, values, indexes);
  return values;
}

function copyInt64(
  buffer: ArrayBufferLike,
  byteOffset: number,
  to: BigInt64Array | BigUint64Array,
  indexes: Uint32Array,
): void {
  const source = new Uint32Array(buffer, byteOffset);
  const target = new Uint32Array(to.buffer);
  for (let i = 0; i < indexes.length; i++) {
    const at = indexes[i]! * 2;
    target[2 * i] = source[at]!;
    target[2 * i + 1] = source[at + 1]!;
  }
}

function takeBytes(from: Uint8Array, indexes: Uint32Array): Uint8Array {
  const values = new Uint8Array(indexes.length);
  for (let i = 0; i < indexes.length; i++) values[i] = from[indexes[i]!]!;
  return values;
}

/** One column from several of the same type. */
export function concatColumns(type: FieldType, parts: readonly Column[]): Column {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined && only.type === type) return only;
  let length = 0;
  for (const part of parts) length += columnLength(part);
  const valid = concatValidity(parts, length);
  if (type === 'string') return concatTextColumns(parts, length, valid);
  return columnOf(type, concatInto(newValues(type, length), parts, type), { valid });
}

/** Times one after another. */
export function concatTimes(parts: readonly BigInt64Array[]): BigInt64Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const target = new BigInt64Array(length);
  copyParts(target, parts);
  return target;
}

function concatInto<T extends ColumnValues>(
  target: T,
  parts: readonly Column[],
  type: FieldType,
): T {
  const arrays: ColumnValues[] = [];
  for (const part of parts) {
    // A column of another type is all null: its rows stay as they are.
    if (part.type === type && part.type !== 'string') arrays.push(part.values);
    else arrays.push(target.subarray(0, columnLength(part)));
  }
  // The types of `target` and the parts follow from `type`; the compiler cannot relate them.
  copyParts(target, arrays as T[]);
  return target;
}

function concatValidity(parts: readonly Column[], length: number): Validity {
  if (parts.every((part) => part.valid === undefined)) return undefined;
  const valid = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    const count = columnLength(part);
    if (part.valid === undefined) valid.fill(1, at, at + count);
    else valid.set(part.valid, at);
    at += count;
  }
  return valid;
}

function concatTextColumns(parts: readonly Column[], length: number, valid: Validity): Column {
  const codes = new Uint32Array(length);
  const lists: Texts[] = [];
  /** Parts of one column share their texts. */
  const firsts = new Map<Texts, number>();
  let count = 0;
  let at = 0;
  for (const part of parts) {
    if (part.type !== 'string') {
      at += columnLength(part);
      continue;
    }
    const { texts, codes: from } = part;
    let first = firsts.get(texts);
    if (first === undefined) {
      first = count;
      firsts.set(texts, first);
      lists.push(texts);
      count += textCount(texts);
    }
    for (let i = 0; i < from.length; i++) codes[at + i] = from[i]! + first;
    at += from.length;
  }
  return { type: 'string', codes, texts: concatTexts(lists), valid };
}

/** A column that holds the same value in every row. */
export function constantColumn(value: FieldValue | null, type: FieldType, length: number): Column {
  const valid = undefined;
  if (value === null) return nullColumn(type, length);
  switch (type) {
    case 'float':
      return { type, values: new Float64Array(length).fill(Number(value)), valid };
    case 'integer':
      return { type, values: new BigInt64Array(length).fill(BigInt(value)), valid };
    case 'unsigned':
      return { type, values: new BigUint64Array(length).fill(BigInt(value)), valid };
    case 'boolean':
      return { type, values: new Uint8Array(length).fill(value === true ? 1 : 0), valid };
    case 'string':
      return { type, codes: new Uint32Array(length), texts: textsOf([String(value)]), valid };
    default:
      return unreachable(type);
  }
}

/** A column of nulls. */
export function nullColumn(type: FieldType, length: number): Column {
  return columnOf(type, newValues(type, length), { valid: new Uint8Array(length) });
}

/**
 * Reads a column in another type: numbers convert among themselves, everything else becomes null.
 */
export function convertColumn(column: Column, type: FieldType): Column {
  if (column.type === type) return column;
  const length = columnLength(column);
  const isNumber = column.type !== 'string' && column.type !== 'boolean';
  if (!isNumber || type === 'string' || type === 'boolean') return nullColumn(type, length);
  if (type === 'float') {
    const values = new Float64Array(length);
    for (let i = 0; i < length; i++) values[i] = Number(column.values[i]);
    return { type, values, valid: column.valid };
  }
  const values: (FieldValue | null)[] = [];
  for (let i = 0; i < length; i++) {
    if (column.valid !== undefined && column.valid[i] !== 1) {
      values.push(null);
      continue;
    }
    const value = column.values[i]!;
    if (Number.isNaN(value)) values.push(null);
    else {
      const whole = typeof value === 'bigint' ? value : floatToInt64(value);
      values.push(wrapInteger(type, whole));
    }
  }
  return columnFrom(type, values);
}
