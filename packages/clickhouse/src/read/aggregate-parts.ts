// Partial aggregates of windows: the SQL that computes them on the shards, and how their answers
// are read. Partial aggregates of different shards and policies can be merged.
import { wrapInteger } from '@tidemark/core';
import type { FieldType } from '@tidemark/core';
import type { AggregateFunction } from '@tidemark/query';

import type { RowReader } from '../sql/row-binary.ts';

/** A value in the requested type; booleans are 0 and 1. */
export type PartialValue = number | bigint | string;
type Picked = { readonly value: PartialValue; readonly time: bigint };

/** The partial aggregate of one field in one window. */
export type Partial = {
  readonly count: bigint;
  /** The sum of integers is exact, even beyond 64 bits. */
  readonly sum?: number | bigint | undefined;
  readonly min?: Picked | undefined;
  readonly max?: Picked | undefined;
  readonly first?: Picked | undefined;
  readonly last?: Picked | undefined;
};

export type PartName = Exclude<keyof Partial, 'count'>;

/** The parts that a type has. */
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

/** The parts that the functions need. */
export function partsFor(
  type: FieldType,
  functions: Iterable<AggregateFunction>,
): readonly PartName[] {
  const needed = new Set(Array.from(functions).flatMap((name) => NEEDS[name]));
  return PARTS[type].filter((part) => needed.has(part));
}

export type PartOptions = {
  readonly type: FieldType;
  /** Whether the times of the minimum and the maximum are requested. */
  readonly withTimes: boolean;
};

/**
 * The SQL expressions of a part, over a value `v` at `time`. Minima and maxima of pairs break ties:
 * of equal values the earliest wins, of values at one time the larger (for `first` of booleans the
 * smaller). `bitNot` reverses an order without overflow. Integers are summed in two halves, which
 * cannot overflow.
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
      // The order of texts cannot be reversed, so the statement has reduced them to one per time
      // before.
      if (type === 'string') return ['min(time)', 'argMin(v, time)'];
      return [`min((time, ${type === 'boolean' ? 'v' : opposite(type)}))`];
    case 'last':
      return ['max((time, v))'];
  }
}

/** The functions that merge the expressions of `partSql`; there is none for the first text. */
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

/** Reads the values of `count()` and of the parts. */
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
