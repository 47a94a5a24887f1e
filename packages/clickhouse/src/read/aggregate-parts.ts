// What the cluster calculates of the values of a window, and how it is read: partial aggregates
// that can be put together whatever shard or part they come from.
import { wrapInteger } from '@tidemark/core';
import type { FieldType } from '@tidemark/core';
import type { AggregateFunction } from '@tidemark/query';

import type { RowReader } from '../sql/row-binary.ts';

/** A value in the type in which it is wanted; booleans are 0 and 1. */
export type PartialValue = number | bigint | string;
type Picked = { readonly value: PartialValue; readonly time: bigint };

/** Of the values of one field in one window. */
export type Partial = {
  readonly count: bigint;
  /** Of integers exact, beyond 64 bits. */
  readonly sum?: number | bigint | undefined;
  readonly min?: Picked | undefined;
  readonly max?: Picked | undefined;
  readonly first?: Picked | undefined;
  readonly last?: Picked | undefined;
};

export type PartName = Exclude<keyof Partial, 'count'>;

/** Numbers are all that, and strings and booleans have an order in time. */
const PARTS: Readonly<Record<FieldType, readonly PartName[]>> = {
  float: ['sum', 'min', 'max', 'first', 'last'],
  integer: ['sum', 'min', 'max', 'first', 'last'],
  unsigned: ['sum', 'min', 'max', 'first', 'last'],
  boolean: ['min', 'max', 'first', 'last'],
  string: ['first', 'last'],
};

const NEEDS: Readonly<Record<AggregateFunction, readonly PartName[]>> = {
  count: [],
  sum: ['sum'],
  mean: ['sum'],
  min: ['min'],
  max: ['max'],
  first: ['first'],
  last: ['last'],
  spread: ['min', 'max'],
};

/** What the functions need of values of a type. */
export function partsFor(
  type: FieldType,
  functions: Iterable<AggregateFunction>,
): readonly PartName[] {
  const needed = new Set(Array.from(functions).flatMap((name) => NEEDS[name]));
  return PARTS[type].filter((part) => needed.has(part));
}

export type PartOptions = {
  readonly type: FieldType;
  /** The times of the least and of the largest value are wanted. */
  readonly withTimes: boolean;
};

/**
 * SQL of a part, over a value `v` at `time`. Order is that of pairs: the earliest of equal values,
 * the larger of values at one time (`first` of booleans the smaller); `bitNot` turns an order
 * around and has no overflow. Integers are summed in halves, which no window is long enough to
 * overflow.
 */
export function partSql(part: PartName, { type, withTimes }: PartOptions): readonly string[] {
  switch (part) {
    case 'sum':
      if (type === 'float') return ['sum(v)'];
      return ['sum(bitShiftRight(v, 32))', 'sum(bitAnd(v, 4294967295))'];
    case 'min':
      return [withTimes ? 'min((v, time))' : 'min(v)'];
    case 'max':
      return [withTimes ? 'max((v, bitNot(time)))' : 'max(v)'];
    case 'first':
      // Texts have no opposite order; the statement has reduced them to one per time.
      if (type === 'string') return ['min(time)', 'argMin(v, time)'];
      return [`min((time, ${type === 'boolean' ? 'v' : opposite(type)}))`];
    case 'last':
      return ['max((time, v))'];
  }
}

/** What puts each of `partSql` together, of several sets of values; not that of the first text. */
export function mergeSql(part: PartName, { type }: PartOptions): readonly string[] {
  switch (part) {
    case 'sum':
      return type === 'float' ? ['sum'] : ['sum', 'sum'];
    case 'min':
    case 'first':
      return ['min'];
    default:
      return ['max'];
  }
}

function opposite(type: FieldType): string {
  return type === 'float' ? '-v' : 'bitNot(v)';
}

/** Reads what `count()` and the parts gave. */
export function readPartial(
  reader: RowReader,
  parts: readonly PartName[],
  options: PartOptions,
): Partial {
  const { type, withTimes } = options;
  const value = (): PartialValue => {
    if (type === 'float') return reader.float64();
    if (type === 'string') return reader.text();
    return type === 'unsigned' ? reader.uint64() : reader.int64();
  };
  const result: { -readonly [K in keyof Partial]: Partial[K] } = { count: reader.uint64() };
  for (const part of parts) {
    switch (part) {
      case 'sum':
        result.sum = type === 'float' ? reader.float64() : readHalves(reader, type);
        break;
      case 'min':
        result.min = { value: value(), time: withTimes ? reader.int64() : 0n };
        break;
      case 'max':
        result.max = { value: value(), time: withTimes ? ~reader.int64() : 0n };
        break;
      case 'first': {
        const time = reader.int64();
        const held = value();
        const isTurned = type !== 'string' && type !== 'boolean';
        result.first = { value: isTurned ? turned(held, type) : held, time };
        break;
      }
      case 'last':
        result.last = { time: reader.int64(), value: value() };
    }
  }
  return result;
}

function readHalves(reader: RowReader, type: FieldType): bigint {
  const upper = type === 'unsigned' ? reader.uint64() : reader.int64();
  const lower = type === 'unsigned' ? reader.uint64() : reader.int64();
  return (upper << 32n) + lower;
}

function turned(value: PartialValue, type: FieldType): PartialValue {
  if (typeof value === 'bigint') return wrapInteger(type, ~value);
  return -value;
}
