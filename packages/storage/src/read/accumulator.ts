// Aggregates of one field of one group, per window: partials of contiguous rows are folded into slots.
//
// Semantics (AggregateBatch in the query package): integer sums wrap; min and max keep the earliest point among
// equals; first and last go by time, among equal times the larger value (first of booleans: false).
import { assert, columnFrom } from '@tidemark/core';
import type { Column, FieldType, FieldValue } from '@tidemark/core';
import type { AggregateColumn, AggregateFunction } from '@tidemark/query';

/** A selected value and its time. */
type Selected = { value: FieldValue; time: bigint };

/** What is known about some rows of one field. `sum` is missing for types that have none. */
export type Partial = {
  count: number;
  sum: number | bigint;
  min: Selected | undefined;
  max: Selected | undefined;
  first: Selected;
  last: Selected;
};

/** Folds `from` into `into`; the order of calls does not matter. */
export function foldPartial(into: Partial, from: Partial): void {
  into.count += from.count;
  into.sum = (into.sum as number) + (from.sum as number);
  if (from.min !== undefined && isBetter(from.min, into.min, -1)) into.min = from.min;
  if (from.max !== undefined && isBetter(from.max, into.max, 1)) into.max = from.max;
  if (isEarlier(from.first, into.first)) into.first = from.first;
  if (isLater(from.last, into.last)) into.last = from.last;
}

function isBetter(candidate: Selected, held: Selected | undefined, direction: 1 | -1): boolean {
  if (held === undefined) return true;
  if (candidate.value === held.value) return candidate.time < held.time;
  return candidate.value > held.value === direction > 0;
}

function isEarlier(candidate: Selected, held: Selected): boolean {
  if (candidate.time !== held.time) return candidate.time < held.time;
  const isLarger = candidate.value > held.value;
  return typeof candidate.value === 'boolean' ? held.value > candidate.value : isLarger;
}

function isLater(candidate: Selected, held: Selected): boolean {
  if (candidate.time !== held.time) return candidate.time > held.time;
  return candidate.value > held.value;
}

/** Partial of rows [start, end) of a column, `undefined` when all of them are null. */
export function partialOf(
  column: Column,
  times: BigInt64Array,
  start: number,
  end: number,
): Partial | undefined {
  switch (column.type) {
    case 'float':
      return floatPartial(column.values, column.valid, { times, start, end });
    case 'integer': {
      const exact = exactDoubles(column.values);
      if (exact === undefined)
        return bigintPartial(column.values, column.valid, { times, start, end });
      return integerPartial(exact, column.valid, { times, start, end });
    }
    case 'unsigned':
      return bigintPartial(column.values, column.valid, { times, start, end });
    case 'boolean':
      return selectedPartial((row) => column.values[row] === 1, column.valid, {
        times,
        start,
        end,
      });
    case 'string':
      return stringPartial(column.dictionary, column.codes, column.valid, { times, start, end });
  }
}

type Rows = { readonly times: BigInt64Array; readonly start: number; readonly end: number };

function floatPartial(
  values: Float64Array,
  valid: Uint8Array | undefined,
  { times, start, end }: Rows,
): Partial | undefined {
  let count = 0;
  let sum = 0;
  let first = -1;
  let last = -1;
  let minRow = -1;
  let maxRow = -1;
  let min = 0;
  let max = 0;
  for (let row = start; row < end; row++) {
    if (valid !== undefined && valid[row] !== 1) continue;
    const value = values[row]!;
    if (count === 0) {
      first = minRow = maxRow = row;
      min = max = value;
    } else if (value < min) {
      min = value;
      minRow = row;
    } else if (value > max) {
      max = value;
      maxRow = row;
    }
    sum += value;
    last = row;
    count++;
  }
  if (count === 0) return undefined;
  return {
    count,
    sum,
    min: { value: min, time: times[minRow]! },
    max: { value: max, time: times[maxRow]! },
    first: { value: values[first]!, time: times[first]! },
    last: { value: values[last]!, time: times[last]! },
  };
}

// Below this, sums of a run's integers are exact as doubles; a loop over doubles is ten times as fast as over bigints.
const EXACT_HIGH_WORD = 1 << 8;
const EXACT_RUN_ROWS = 1 << 13;

const doubles = new WeakMap<BigInt64Array, Float64Array | undefined>();

/** The column as doubles, when values and their sum are exact; made once per column. */
function exactDoubles(values: BigInt64Array): Float64Array | undefined {
  if (values.length > EXACT_RUN_ROWS) return undefined;
  if (doubles.has(values)) return doubles.get(values);
  const result = toDoubles(values);
  doubles.set(values, result);
  return result;
}

function toDoubles(values: BigInt64Array): Float64Array | undefined {
  const words = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  const result = new Float64Array(values.length);
  for (let i = 0; i < result.length; i++) {
    const high = words[2 * i + 1]!;
    if (high >= EXACT_HIGH_WORD || high < -EXACT_HIGH_WORD) return undefined;
    result[i] = high * 4294967296 + (words[2 * i]! >>> 0);
  }
  return result;
}

function integerPartial(
  values: Float64Array,
  valid: Uint8Array | undefined,
  rows: Rows,
): Partial | undefined {
  const partial = floatPartial(values, valid, rows);
  if (partial === undefined) return undefined;
  const { count, sum, min, max, first, last } = partial;
  const integer = ({ value, time }: Selected): Selected => ({
    value: BigInt(value as number),
    time,
  });
  return {
    count,
    sum: BigInt(sum),
    min: min && integer(min),
    max: max && integer(max),
    first: integer(first),
    last: integer(last),
  };
}

function bigintPartial(
  values: BigInt64Array | BigUint64Array,
  valid: Uint8Array | undefined,
  { times, start, end }: Rows,
): Partial | undefined {
  let count = 0;
  let sum = 0n;
  let first = -1;
  let last = -1;
  let minRow = -1;
  let maxRow = -1;
  let min = 0n;
  let max = 0n;
  for (let row = start; row < end; row++) {
    if (valid !== undefined && valid[row] !== 1) continue;
    const value = values[row]!;
    if (count === 0) {
      first = minRow = maxRow = row;
      min = max = value;
    } else if (value < min) {
      min = value;
      minRow = row;
    } else if (value > max) {
      max = value;
      maxRow = row;
    }
    sum += value;
    last = row;
    count++;
  }
  if (count === 0) return undefined;
  return {
    count,
    sum,
    min: { value: min, time: times[minRow]! },
    max: { value: max, time: times[maxRow]! },
    first: { value: values[first]!, time: times[first]! },
    last: { value: values[last]!, time: times[last]! },
  };
}

/** Booleans: count, min, max, first, last; no sum. */
function selectedPartial(
  valueAt: (row: number) => FieldValue,
  valid: Uint8Array | undefined,
  { times, start, end }: Rows,
): Partial | undefined {
  let result: Partial | undefined;
  for (let row = start; row < end; row++) {
    if (valid !== undefined && valid[row] !== 1) continue;
    const point: Selected = { value: valueAt(row), time: times[row]! };
    if (result === undefined) {
      result = { count: 1, sum: 0, min: point, max: point, first: point, last: point };
      continue;
    }
    result.count++;
    if (isBetter(point, result.min, -1)) result.min = point;
    if (isBetter(point, result.max, 1)) result.max = point;
    result.last = point;
  }
  return result;
}

/** Strings: count, first, last only. */
function stringPartial(
  dictionary: readonly string[],
  codes: Uint32Array,
  valid: Uint8Array | undefined,
  { times, start, end }: Rows,
): Partial | undefined {
  let count = 0;
  let first = -1;
  let last = -1;
  for (let row = start; row < end; row++) {
    if (valid !== undefined && valid[row] !== 1) continue;
    if (count++ === 0) first = row;
    last = row;
  }
  if (count === 0) return undefined;
  const at = (row: number): Selected => ({
    value: dictionary[codes[row]!] ?? '',
    time: times[row]!,
  });
  return { count, sum: 0, min: undefined, max: undefined, first: at(first), last: at(last) };
}

/** One result column of an aggregate function over the given partials; `undefined` partials are null. */
export function aggregateColumn(
  partials: readonly (Partial | undefined)[],
  type: FieldType,
  name: AggregateFunction,
): AggregateColumn {
  const isNumber = type === 'float' || type === 'integer' || type === 'unsigned';
  switch (name) {
    case 'count':
      return {
        values: columnFrom(
          'integer',
          partials.map((p) => p && BigInt(p.count)),
        ),
      };
    case 'mean':
      return {
        values: columnFrom(
          'float',
          partials.map((p) => (p && isNumber ? meanOf(p, type) : null)),
        ),
      };
    case 'sum':
      return {
        values: columnFrom(
          type,
          partials.map((p) => (p && isNumber ? wrap(type, p.sum) : null)),
        ),
      };
    case 'spread':
      return {
        values: columnFrom(
          type,
          partials.map((p) => (p && isNumber ? spreadOf(p, type) : null)),
        ),
      };
    case 'min':
    case 'max':
    case 'first':
    case 'last':
      return {
        values: columnFrom(
          type,
          partials.map((p) => p?.[name]?.value),
        ),
        pointTimes: BigInt64Array.from(partials, (p) => p?.[name]?.time ?? 0n),
      };
  }
}

// Sums are kept unwrapped while they are folded and wrapped once: the result is the same modulo 2^64.
function wrap(type: FieldType, value: number | bigint): number | bigint {
  if (typeof value === 'number') return value;
  return type === 'unsigned' ? BigInt.asUintN(64, value) : BigInt.asIntN(64, value);
}

function meanOf(partial: Partial, type: FieldType): number {
  return Number(wrap(type, partial.sum)) / partial.count;
}

function spreadOf(partial: Partial, type: FieldType): number | bigint {
  const { min, max } = partial;
  assert(min !== undefined && max !== undefined, 'numbers have a minimum and a maximum');
  const difference = (max.value as number) - (min.value as number);
  return wrap(type, difference);
}
