import { columnFrom, columnLength, columnValue, compareValues, floorMod } from '@tidemark/core';
import type { Column, ComparisonOperator, FieldType, FieldValue } from '@tidemark/core';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Accumulator, RowsPartial } from './accumulator.ts';
import { Kernels } from './loader.ts';
import { Scans } from './scans.ts';
import { partialsOf } from './testing/window-partials.ts';

const kernels = new Kernels();
const scans = new Scans(kernels);

type NumericType = 'float' | 'integer' | 'unsigned' | 'boolean';

const values = {
  float: fc.oneof(
    fc.integer({ min: -3, max: 3 }),
    fc.double({ noNaN: true }),
    fc.constantFrom(-0, 0.5, 2 ** 53, 2 ** 63, 1e300),
  ),
  integer: fc.oneof(
    fc.bigInt({ min: -3n, max: 3n }),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.constantFrom(2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)),
  ),
  unsigned: fc.oneof(
    fc.bigInt({ min: 0n, max: 3n }),
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    fc.constantFrom(2n ** 63n, 2n ** 64n - 1n),
  ),
  boolean: fc.boolean(),
} satisfies Record<NumericType, fc.Arbitrary<FieldValue>>;

const typed = fc
  .constantFrom<NumericType>('float', 'integer', 'unsigned', 'boolean')
  .chain((type) =>
    fc.record({
      type: fc.constant(type),
      rows: fc.array(fc.option<FieldValue>(values[type], { freq: 4 }), { maxLength: 80 }),
    }),
  );

const operators = fc.constantFrom<ComparisonOperator>('=', '!=', '<', '<=', '>', '>=');

describe('filters', () => {
  test('keep the rows for which the comparison holds, whatever the two types', () => {
    const constants = fc.oneof(
      ...Object.values(values),
      fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
    ) as fc.Arbitrary<FieldValue>;
    fc.assert(
      fc.property(
        typed,
        operators,
        constants,
        fc.boolean(),
        ({ type, rows }, operator, constant, takesOwn) => {
          const own = rows.find((value) => value !== null);
          const value = takesOwn && own !== undefined && own !== null ? own : constant;
          const column = columnFrom(type, rows);
          const mask = Uint8Array.from(rows, (_, i) => (i % 5 === 4 ? 0 : 1));

          scans.filterInPlace(mask, column, { operator, value });

          const wanted = rows.map((row, i) =>
            i % 5 !== 4 && row !== null && compareValues(row, operator, value) ? 1 : 0,
          );
          expect([...mask]).toEqual(wanted);
        },
      ),
      { numRuns: 1500 },
    );
  });

  test('strings compare with = and != and with any condition on the text', () => {
    const column = columnFrom('string', ['a', null, 'b', 'a', 'c']);
    const equal = new Uint8Array(5).fill(1);
    const other = new Uint8Array(5).fill(1);
    const less = new Uint8Array(5).fill(1);
    const asked: string[] = [];
    const pattern = new Uint8Array(5).fill(1);

    scans.filterInPlace(equal, column, { operator: '=', value: 'a' });
    scans.filterInPlace(other, column, { operator: '!=', value: 'a' });
    scans.filterInPlace(less, column, { operator: '<', value: 'b' });
    if (column.type !== 'string') throw new Error('a string column');
    scans.filterStringsInPlace(pattern, column, (text) => {
      asked.push(text);
      return text > 'a';
    });

    expect([...equal]).toEqual([1, 0, 0, 1, 0]);
    expect([...other]).toEqual([0, 0, 1, 0, 1]);
    expect([...less]).toEqual([0, 0, 0, 0, 0]);
    expect([...pattern]).toEqual([0, 0, 1, 0, 1]);
    expect(asked).toEqual(['a', 'b', 'a', 'c']);
  });

  test('selection keeps exactly the rows of the mask, in order, for every type', () => {
    const anyColumn = fc.oneof(
      typed.map(({ type, rows }) => columnFrom(type, rows)),
      fc
        .array(fc.option(fc.constantFrom('a', 'b', 'é')), { maxLength: 60 })
        .map((rows) => columnFrom('string', rows)),
    );
    fc.assert(
      fc.property(
        anyColumn,
        fc.array(fc.nat(1), { minLength: 80, maxLength: 80 }),
        (column, bits) => {
          const count = columnLength(column);
          const mask = Uint8Array.from(bits.slice(0, count));
          const times = BigInt64Array.from({ length: count }, (_, i) => BigInt(i) - 5n);

          const selected = scans.selectColumn(column, mask);

          const kept = bits.slice(0, count).flatMap((bit, i) => (bit === 1 ? [i] : []));
          expect(allValues(selected)).toEqual(kept.map((i) => columnValue(column, i)));
          expect([...scans.selectTimes(times, mask)]).toEqual(kept.map((i) => times[i]));
          expect(scans.countMask(mask)).toBe(kept.length);
        },
      ),
    );
  });
});

function allValues(column: Column): (FieldValue | null)[] {
  return Array.from({ length: columnLength(column) }, (_, i) => columnValue(column, i));
}

type Point = { readonly time: bigint; readonly value: number | bigint };
type Window = {
  count: bigint;
  sum: number | bigint;
  min: Point;
  max: Point;
  first: Point;
  last: Point;
};

/** One window's aggregates over rows of several series, one point at a time. */
function addToWindow(type: NumericType, window: Window | undefined, point: Point): Window {
  if (window === undefined) {
    return { count: 1n, sum: point.value, min: point, max: point, first: point, last: point };
  }
  const isEarlierEqual = (a: Point, b: Point): boolean => a.value === b.value && a.time < b.time;
  const isBefore = (a: Point, b: Point): boolean => a.value < b.value;
  const { min, max, first, last } = window;
  const isBetterFirst = type === 'boolean' ? isBefore(point, first) : isBefore(first, point);
  return {
    count: window.count + 1n,
    sum: window.sum,
    min: isBefore(point, min) || isEarlierEqual(point, min) ? point : min,
    max: isBefore(max, point) || isEarlierEqual(point, max) ? point : max,
    first: point.time < first.time || (point.time === first.time && isBetterFirst) ? point : first,
    last:
      point.time > last.time || (point.time === last.time && isBefore(last, point)) ? point : last,
  };
}

/**
 * Sums per series and window from left to right, then over the series in their order: what the
 * kernels promise.
 */
function addSums(type: NumericType, parts: readonly (number | bigint)[]): number | bigint {
  return parts.reduce((a, b) => {
    if (typeof a === 'number' && typeof b === 'number') return a + b;
    const sum = BigInt(a) + BigInt(b);
    return type === 'integer' ? BigInt.asIntN(64, sum) : BigInt.asUintN(64, sum);
  });
}

const numericSeries = fc
  .constantFrom<NumericType>('float', 'integer', 'unsigned', 'boolean')
  .chain((type) =>
    fc.record({
      type: fc.constant(type),
      series: fc.array(
        fc.uniqueArray(fc.integer({ min: -60, max: 60 }), { maxLength: 40 }).chain((times) =>
          fc.record({
            times: fc.constant(times.toSorted((a, b) => a - b).map((t) => BigInt(t))),
            rows: fc.array(fc.option<FieldValue>(values[type], { freq: 5 }), {
              minLength: times.length,
              maxLength: times.length,
            }),
          }),
        ),
        { maxLength: 5 },
      ),
    }),
  );

describe('windowed aggregates', () => {
  test('agree with a model over any series, windows and offsets, in both directions', () => {
    const windows = fc.option(
      fc.record({
        everyNanos: fc.bigInt({ min: 1n, max: 50n }),
        offsetNanos: fc.bigInt({ min: -70n, max: 70n }),
      }),
    );
    fc.assert(
      fc.property(numericSeries, windows, fc.boolean(), ({ type, series }, window, descending) => {
        const start = -100n;
        const accumulator = scans.openAccumulator(type, {
          window: window ?? undefined,
          start,
          wantsSum: true,
          wantsExtremes: true,
          wantsMean: true,
        });
        const model = new Map<bigint, Window>();
        const sums = new Map<bigint, (number | bigint)[]>();
        const exact = new Map<bigint, bigint>();
        for (const { times, rows } of series) {
          accumulator.add(BigInt64Array.from(times), columnFrom(type, rows));
          const own = new Map<bigint, (number | bigint)[]>();
          times.forEach((time, i) => {
            const row = rows[i];
            if (row === null || row === undefined || typeof row === 'string') return;
            const value = typeof row === 'boolean' ? (row ? 1n : 0n) : row;
            const at =
              window === null
                ? start
                : time - floorMod(time - window.offsetNanos, window.everyNanos);
            model.set(at, addToWindow(type, model.get(at), { time, value }));
            own.set(at, [...(own.get(at) ?? []), value]);
            if (typeof value === 'bigint') exact.set(at, (exact.get(at) ?? 0n) + value);
          });
          for (const [at, parts] of own) {
            sums.set(at, [...(sums.get(at) ?? []), addSums(type, parts)]);
          }
        }

        const partials = partialsOf(accumulator, type, { descending });
        const [means] = accumulator.results(['mean'], { descending });
        const whole = window === null ? accumulator.whole() : undefined;
        accumulator.close();

        const order = [...model.keys()].toSorted((a, b) => Number(descending ? b - a : a - b));
        expect(partials.start).toEqual(order);
        if (window === null) {
          const only = model.get(start);
          expect(whole?.firstTime).toBe(only?.first.time);
          for (const [name, value] of Object.entries(whole ?? {})) {
            if (name !== 'sum' || type !== 'boolean') {
              expect(partials[name as keyof RowsPartial]).toEqual([value]);
            }
          }
        }
        order.forEach((at, i) => {
          const wanted = model.get(at)!;
          expect(partials.count[i]).toBe(wanted.count);
          const parts = sums.get(at)!;
          if (type === 'float') {
            expect(means?.[i]).toBe(Number(addSums(type, parts)) / Number(wanted.count));
          } else if (type !== 'boolean') {
            expect(means?.[i]).toBe(Number(exact.get(at)) / Number(wanted.count));
          }
          if (type !== 'boolean') expect(partials.sum[i]).toBe(addSums(type, parts));
          expect([partials.min[i], partials.minTime[i]]).toEqual(pointOf(wanted.min));
          expect([partials.max[i], partials.maxTime[i]]).toEqual(pointOf(wanted.max));
          expect([partials.first[i], partials.firstTime[i]]).toEqual(pointOf(wanted.first));
          expect([partials.last[i], partials.lastTime[i]]).toEqual(pointOf(wanted.last));
        });
      }),
      { numRuns: 600 },
    );
  });

  test('of many groups are those that each has alone', () => {
    const groupsOfRows = fc.array(
      fc.tuple(fc.nat(300), fc.integer({ min: -200, max: 200 }), fc.integer({ min: -9, max: 9 })),
      {
        minLength: 1,
        maxLength: 400,
      },
    );
    const every = fc.option(fc.bigInt(1n, 50n));
    fc.assert(
      fc.property(fc.array(groupsOfRows, { maxLength: 4 }), every, (blocks, everyNanos) => {
        const window = everyNanos === null ? undefined : { everyNanos, offsetNanos: 3n };
        const options = { window, start: -100n, wantsSum: true, wantsExtremes: true };
        const all = scans.openAccumulators('integer', { ...options, count: 301 });
        const alone = new Map<number, Accumulator>();
        for (const block of blocks) {
          const rows = block.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);
          const timesOf = (some: typeof rows): BigInt64Array =>
            BigInt64Array.from(some, ([, time]) => BigInt(time));
          const columnOf = (some: typeof rows): Column =>
            columnFrom(
              'integer',
              some.map(([, , value]) => (value === 0 ? null : BigInt(value))),
            );
          all.add(
            Uint32Array.from(rows, ([group]) => group),
            timesOf(rows),
            columnOf(rows),
          );
          for (const row of rows) {
            const accumulator = alone.get(row[0]) ?? scans.openAccumulator('integer', options);
            alone.set(row[0], accumulator);
            accumulator.add(timesOf([row]), columnOf([row]));
          }
        }

        let windows = 0;
        for (const [group, accumulator] of alone) {
          windows += accumulator.windowCount;
          expect(partialsOf(all.of(group), 'integer')).toEqual(partialsOf(accumulator, 'integer'));
          accumulator.close();
        }
        expect(all.windowCount).toBe(windows);
        all.close();
      }),
      { numRuns: 100 },
    );
  });

  test('hold at the ends of time', () => {
    const times = BigInt64Array.of(
      -9223372036854775806n,
      -9223372036854775800n,
      9223372036854775806n,
    );
    const accumulator = scans.openAccumulator('integer', {
      window: { everyNanos: 3_600_000_000_000n, offsetNanos: 0n },
      start: 0n,
      wantsSum: true,
      wantsExtremes: false,
    });

    accumulator.add(times, columnFrom('integer', [1n, 2n, 4n]));

    const partials = partialsOf(accumulator, 'integer');
    accumulator.close();
    expect([...partials.count]).toEqual([2n, 1n]);
    expect([...partials.sum]).toEqual([3n, 4n]);
    // The first window would begin before the smallest int64.
    expect(partials.start[0]).toBe(-(2n ** 63n));
  });

  test('more windows than an accumulator starts with, from interleaved series', () => {
    const accumulator = scans.openAccumulator('float', {
      window: { everyNanos: 10n, offsetNanos: 0n },
      start: 0n,
      wantsSum: true,
      wantsExtremes: true,
    });
    const count = 5000;
    for (const shift of [0n, 20n, 10n, 5n]) {
      const times = BigInt64Array.from({ length: count }, (_, i) => BigInt(i) * 30n + shift);
      accumulator.add(
        times,
        columnFrom(
          'float',
          Array.from({ length: count }, (_, i) => i),
        ),
      );
    }

    const partials = partialsOf(accumulator, 'float');
    accumulator.close();
    expect(partials.start.length).toBe(count * 3);
    expect(partials.start.every((start, i) => start === BigInt(i) * 10n)).toBe(true);
    expect(partials.count.every((n, i) => n === (i % 3 === 0 ? 2n : 1n))).toBe(true);
    expect(partials.sum[3 * 77]).toBe(154);
  });

  test('rows and known partials give the same as rows', () => {
    const times = BigInt64Array.from({ length: 1000 }, (_, i) => BigInt(i));
    const values = Array.from({ length: 1000 }, (_, i) => (i * 7) % 100);
    const column = columnFrom('float', values);
    const options = {
      window: { everyNanos: 100n, offsetNanos: 0n },
      start: 0n,
      wantsSum: true,
      wantsExtremes: true,
    };
    const fromRows = scans.openAccumulator('float', options);
    const mixed = scans.openAccumulator('float', options);
    fromRows.add(times, column);
    mixed.add(times.subarray(0, 900), columnFrom('float', values.slice(0, 900)));
    const all = partialsOf(fromRows, 'float');
    mixed.addPartial(900n, Number(all.count[9]!), {
      sum: all.sum[9]!,
      min: all.min[9]!,
      minTime: all.minTime[9]!,
      max: all.max[9]!,
      maxTime: all.maxTime[9]!,
      first: all.first[9]!,
      firstTime: all.firstTime[9]!,
      last: all.last[9]!,
      lastTime: all.lastTime[9]!,
    });

    expect(partialsOf(mixed, 'float')).toEqual(all);
    for (const accumulator of [fromRows, mixed]) accumulator.close();
  });
});

function pointOf(point: Point): [number | bigint, bigint] {
  return [point.value, point.time];
}

test('types that are not compared', () => {
  const types: readonly FieldType[] = ['float', 'integer', 'unsigned', 'boolean'];
  for (const type of types) {
    const mask = new Uint8Array(1).fill(1);
    scans.filterInPlace(
      mask,
      columnFrom(type, [type === 'float' ? 1 : type === 'boolean' ? true : 1n]),
      {
        operator: '!=',
        value: 'text',
      },
    );

    expect([...mask]).toEqual([0]);
  }
});
