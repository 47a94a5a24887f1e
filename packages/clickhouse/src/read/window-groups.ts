// Merges partial aggregates of windows by group.
import { columnFrom, compareBytes, wrapInteger } from '@tidemark/core';
import type { FieldType, FieldValue } from '@tidemark/core';
import type {
  AggregateBatch,
  AggregateColumn,
  AggregateFunction,
  MeasurementAggregates,
} from '@tidemark/query';

import type { Partial, PartialValue } from './aggregate-parts.ts';

/** Windows per batch. */
const BATCH_WINDOWS = 4096;

/** The windows of a group by start, with a partial aggregate for each field of the request. */
type Windows = Map<bigint, (Partial | undefined)[]>;

export class WindowGroups {
  readonly #request: MeasurementAggregates;
  readonly #groups = new Map<bigint, Windows>();

  constructor(request: MeasurementAggregates) {
    this.#request = request;
  }

  /** Merges a partial aggregate of a window and field. */
  add(
    at: { readonly group: bigint; readonly start: bigint },
    fieldIndex: number,
    more: Partial,
  ): void {
    let windows = this.#groups.get(at.group);
    if (windows === undefined) this.#groups.set(at.group, (windows = new Map()));
    let fields = windows.get(at.start);
    if (fields === undefined) {
      fields = Array.from<Partial | undefined>({ length: this.#request.aggregates.length });
      windows.set(at.start, fields);
    }
    const known = fields[fieldIndex];
    const { type } = this.#request.aggregates[fieldIndex]!;
    fields[fieldIndex] = known === undefined ? more : merged(known, more, type);
  }

  /** Batches of a group, with its windows in order of time. */
  *batches(group: bigint, groupTags: ReadonlyMap<string, string>): Iterable<AggregateBatch> {
    const { aggregates, descending, limitWindows } = this.#request;
    const direction = descending ? -1 : 1;
    const windows = [...(this.#groups.get(group) ?? [])]
      .sort(([a], [b]) => (a < b ? -direction : direction))
      .slice(0, limitWindows);
    for (let at = 0; at < windows.length; at += BATCH_WINDOWS) {
      const some = windows.slice(at, at + BATCH_WINDOWS);
      yield {
        groupTags,
        windowStarts: BigInt64Array.from(some, ([start]) => start),
        fields: aggregates.map(({ type, functions }, fieldIndex) => {
          const held = some.map(([, fields]) => fields[fieldIndex]);
          return functions.map((name) => columnOf(name, type, held));
        }),
      };
    }
  }
}

/** Merges two partial aggregates with the same parts. */
function merged(a: Partial, b: Partial, type: FieldType): Partial {
  const better = (
    part: 'min' | 'max' | 'first' | 'last',
    isBetter: (one: Picked, other: Picked) => boolean,
  ): Picked | undefined => {
    const [one, other] = [a[part], b[part]];
    return one === undefined || other === undefined || !isBetter(other, one) ? one : other;
  };
  const prefersSmaller = type === 'boolean';
  return {
    count: a.count + b.count,
    sum: added(a.sum, b.sum),
    min: better('min', (x, y) => compare(x.value, y.value) < 0 || isEarlierEqual(x, y)),
    max: better('max', (x, y) => compare(x.value, y.value) > 0 || isEarlierEqual(x, y)),
    first: better('first', (x, y) => {
      if (x.time !== y.time) return x.time < y.time;
      return compare(x.value, y.value) > 0 !== prefersSmaller;
    }),
    last: better('last', (x, y) =>
      x.time === y.time ? compare(x.value, y.value) > 0 : x.time > y.time,
    ),
  };
}

type Picked = { readonly value: PartialValue; readonly time: bigint };

function isEarlierEqual(x: Picked, y: Picked): boolean {
  return compare(x.value, y.value) === 0 && x.time < y.time;
}

function compare(a: PartialValue, b: PartialValue): number {
  if (typeof a === 'string' && typeof b === 'string') return compareBytes(a, b);
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function added(
  a: number | bigint | undefined,
  b: number | bigint | undefined,
): number | bigint | undefined {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a + b;
  return a === undefined || b === undefined ? undefined : Number(a) + Number(b);
}

function columnOf(
  name: AggregateFunction,
  type: FieldType,
  windows: readonly (Partial | undefined)[],
): AggregateColumn {
  const resultType = name === 'count' ? 'integer' : name === 'mean' ? 'float' : type;
  const values = columnFrom(
    resultType,
    windows.map((held) => (held === undefined ? null : resultOf(name, type, held))),
  );
  if (name !== 'min' && name !== 'max' && name !== 'first' && name !== 'last') return { values };
  return { values, pointTimes: BigInt64Array.from(windows, (held) => held?.[name]?.time ?? 0n) };
}

function resultOf(name: AggregateFunction, type: FieldType, held: Partial): FieldValue | null {
  switch (name) {
    case 'count':
      return held.count;
    case 'sum':
      return held.sum === undefined ? null : wrapped(held.sum, type);
    case 'mean':
      return held.sum === undefined ? null : Number(held.sum) / Number(held.count);
    case 'spread': {
      const min = held.min?.value;
      const max = held.max?.value;
      if (type === 'boolean' || min === undefined || max === undefined) return null;
      if (typeof min === 'bigint' && typeof max === 'bigint') return wrapped(max - min, type);
      return Number(max) - Number(min);
    }
    default: {
      const value = held[name]?.value;
      if (value === undefined) return null;
      return type === 'boolean' ? value === 1n : value;
    }
  }
}

function wrapped(value: number | bigint, type: FieldType): number | bigint {
  if (typeof value === 'number') return value;
  return wrapInteger(type, value);
}
