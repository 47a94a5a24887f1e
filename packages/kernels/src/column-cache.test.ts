import { columnFrom, columnLength, columnValue } from '@tidemark/core';
import type { Column, FieldValue } from '@tidemark/core';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { AccumulatorOptions } from './accumulator.ts';
import { CodecError } from './codec-error.ts';
import { Codecs } from './codecs.ts';
import { CACHED_ROWS_MAX } from './abi.gen.ts';
import { ColumnCache } from './column-cache.ts';
import type { CachedColumn, CacheEntries } from './column-cache.ts';
import { Kernels } from './loader.ts';
import { Scans } from './scans.ts';
import { partialsOf } from './testing/window-partials.ts';

const kernels = new Kernels();
const codecs = new Codecs(kernels);
const scans = new Scans(kernels);
const cache = new ColumnCache(kernels, 1 << 20);

type NumericType = 'float' | 'integer' | 'unsigned' | 'boolean';

/**
 * Values of every narrow form: ranges below 2^8, 2^16, 2^32 and above, at either end of the type.
 */
const values: Record<NumericType, fc.Arbitrary<fc.Arbitrary<FieldValue>>> = {
  float: fc.constantFrom(
    fc.double({ noNaN: true }),
    fc.integer({ min: -900, max: 900 }).map((n) => n / 10),
  ),
  boolean: fc.constant(fc.boolean()),
  integer: narrow(-(2n ** 63n), 2n ** 63n - 1n),
  unsigned: narrow(0n, 2n ** 64n - 1n),
};

function narrow(min: bigint, max: bigint): fc.Arbitrary<fc.Arbitrary<bigint>> {
  const ranges = [0n, 7n, 255n, 256n, 65_535n, 65_536n, 2n ** 32n - 1n, 2n ** 32n, max - min];
  return fc
    .record({ range: fc.constantFrom(...ranges), at: fc.bigInt({ min, max }) })
    .map(({ range, at }) => {
      const low = at > max - range ? max - range : at;
      return fc.bigInt({ min: low, max: low + range });
    });
}

const times = fc.oneof(
  fc
    .record({ from: fc.bigInt(-1000n, 1000n), step: fc.bigInt(1n, 40n), count: fc.nat(120) })
    .map(({ from, step, count }) =>
      Array.from({ length: count }, (_, i) => from + BigInt(i) * step),
    ),
  fc
    .uniqueArray(fc.bigInt(-1000n, 1000n), { maxLength: 120 })
    .map((list) => list.toSorted((a, b) => Number(a - b))),
);

const chunk = fc
  .record({ type: fc.constantFrom<NumericType>('float', 'integer', 'unsigned', 'boolean'), times })
  .chain(({ type, times: list }) =>
    fc.record({
      type: fc.constant(type),
      times: fc.constant(BigInt64Array.from(list)),
      rows: values[type].chain((value) =>
        fc.array(value, { minLength: list.length, maxLength: list.length }),
      ),
    }),
  );

type Chunk = {
  readonly type: NumericType;
  readonly times: BigInt64Array;
  readonly rows: FieldValue[];
};

function hold({ type, times: list, rows }: Chunk) {
  const entries: CacheEntries = new Map();
  const heldTimes = cache.add(entries, 0, {
    type: 'time',
    block: codecs.encodeTimes(list, 'small'),
  });
  const block = codecs.encodeColumn(columnFrom(type, rows), 'small');
  const held = cache.add(entries, 1, { type, block, beside: heldTimes });
  return { entries, heldTimes, held };
}

function allValues(column: Column): (FieldValue | null)[] {
  return Array.from({ length: columnLength(column) }, (_, i) => columnValue(column, i));
}

const range = fc.record({ a: fc.nat(120), b: fc.nat(120) });

function rowsOf({ a, b }: { a: number; b: number }, count: number): { from: number; to: number } {
  return { from: Math.min(a, b, count), to: Math.min(Math.max(a, b), count) };
}

describe('a cached column', () => {
  test('gives back any rows and any choice of them', () => {
    fc.assert(
      fc.property(chunk, range, fc.infiniteStream(fc.boolean()), (one, ab, bits) => {
        const { heldTimes, held } = hold(one);
        const rows = rowsOf(ab, one.rows.length);
        const mask = Uint8Array.from({ length: rows.to - rows.from }, () =>
          bits.next().value === true ? 1 : 0,
        );

        expect(cache.times(heldTimes, rows)).toEqual(one.times.slice(rows.from, rows.to));
        expect(allValues(cache.column(held, rows))).toEqual(one.rows.slice(rows.from, rows.to));
        const count = cache.chooseRows(mask, rows.from);
        const kept = [...mask.keys()].filter((i) => mask[i] === 1).map((i) => i + rows.from);
        expect(allValues(cache.chosenColumn(held, count))).toEqual(kept.map((i) => one.rows[i]));
        const columnAt = (i: number): CachedColumn | undefined => (i === 1 ? undefined : held);
        const run = cache.chosenRun(heldTimes, count, { columns: 3, columnAt });
        expect([...run.times]).toEqual(kept.map((i) => one.times[i]));
        expect(run.columns.map((column) => column && allValues(column))).toEqual([
          kept.map((i) => one.rows[i]),
          undefined,
          kept.map((i) => one.rows[i]),
        ]);
      }),
      { numRuns: 300 },
    );
  });

  test('finds the first row at or behind a time', () => {
    fc.assert(
      fc.property(chunk, fc.bigInt(-6000n, 6000n), (one, time) => {
        const { heldTimes } = hold(one);

        expect(cache.rowsBefore(heldTimes, time)).toBe(one.times.filter((t) => t < time).length);
      }),
    );
  });

  test('filters as the decoded one does', () => {
    const operators = ['=', '!=', '<', '<=', '>', '>='] as const;
    fc.assert(
      fc.property(chunk, range, fc.constantFrom(...operators), fc.nat(), (one, ab, operator, n) => {
        fc.pre(one.rows.length > 0);
        const { held } = hold(one);
        const rows = rowsOf(ab, one.rows.length);
        const value = one.rows[n % one.rows.length]!;
        const condition = { operator, value };
        const mask = new Uint8Array(rows.to - rows.from).fill(1);
        const expected = mask.slice();
        scans.filterInPlace(expected, cache.column(held, rows), condition);

        cache.filterInPlace(mask, held, { rows, ...condition });

        expect(mask).toEqual(expected);
      }),
    );
  });

  test('aggregates as the decoded one does, whatever the windows', () => {
    const windows = fc.option(
      fc.record({ everyNanos: fc.bigInt(1n, 900n), offsetNanos: fc.bigInt(-70n, 70n) }),
    );
    fc.assert(
      fc.property(chunk, range, windows, (one, ab, window) => {
        const { heldTimes, held } = hold(one);
        const rows = rowsOf(ab, one.rows.length);
        const options: AccumulatorOptions = {
          window: window ?? undefined,
          start: -1000n,
          wantsSum: true,
          wantsExtremes: true,
          wantsMean: true,
        };
        const cached = scans.openAccumulator(one.type, options);
        const decoded = scans.openAccumulator(one.type, options);

        cached.addCached(heldTimes, held, rows);
        decoded.add(one.times.slice(rows.from, rows.to), cache.column(held, rows));

        expect(partialsOf(cached, one.type)).toEqual(partialsOf(decoded, one.type));
        const ascending = { descending: false };
        expect(cached.results(['mean'], ascending)).toEqual(decoded.results(['mean'], ascending));
        cached.close();
        decoded.close();
      }),
      { numRuns: 500 },
    );
  });

  test('times alone are counted as rows of any values are', () => {
    const windows = fc.option(
      fc.record({ everyNanos: fc.bigInt(1n, 900n), offsetNanos: fc.bigInt(-70n, 70n) }),
    );
    fc.assert(
      fc.property(chunk, range, windows, (one, ab, window) => {
        const { heldTimes } = hold(one);
        const rows = rowsOf(ab, one.rows.length);
        const wants = { wantsSum: false, wantsExtremes: false };
        const options = { window: window ?? undefined, start: -1000n, ...wants };
        const counted = scans.openAccumulator('boolean', options);
        const decoded = scans.openAccumulator('boolean', options);
        const times = one.times.slice(rows.from, rows.to);

        counted.addRows(heldTimes, rows);
        const values = new Uint8Array(times.length);
        decoded.add(times, { type: 'boolean', values, valid: undefined });

        const [got, wanted] = [partialsOf(counted, 'boolean'), partialsOf(decoded, 'boolean')];
        expect([got.start, got.count]).toEqual([wanted.start, wanted.count]);
        counted.close();
        decoded.close();
      }),
      { numRuns: 200 },
    );
  });

  test('refuses what no encoder wrote and too many rows', () => {
    const entries: CacheEntries = new Map();
    const block = codecs.encodeIntegers(BigInt64Array.of(1n, 5n, 3n));

    expect(() => cache.add(entries, 0, { type: 'integer', block: block.subarray(0, 3) })).toThrow(
      CodecError,
    );
    const long = codecs.encodeBooleans(new Uint8Array(CACHED_ROWS_MAX + 1));
    expect(() => cache.add(entries, 0, { type: 'boolean', block: long })).toThrow('only columns');
    expect(entries.size).toBe(0);
  });
});

describe('the cache', () => {
  const block = (seed: number): Uint8Array =>
    codecs.encodeFloats(Float64Array.from({ length: 4096 }, (_, i) => Math.sin(seed * 5000 + i)));

  test('keeps to its budget and drops what was not used lately', () => {
    const small = new ColumnCache(kernels, 1 << 20);
    const entries: CacheEntries = new Map();
    for (let i = 0; i < 200; i++) {
      small.add(entries, i, { type: 'float', block: block(i) });
      small.get(entries, 0);
    }

    expect(small.memoryBytes).toBe(1 << 20);
    expect(entries.size).toBeLessThan(33);
    expect(entries.size).toBeGreaterThan(20);
    expect(small.get(entries, 0)).toBeDefined();
    expect(small.get(entries, 100)).toBeUndefined();
    for (const [key, column] of entries) {
      const { values: held } = small.column(column, { from: 0, to: 4096 }) as Column & {
        type: 'float';
      };
      expect(held).toEqual(codecs.decodeFloats(block(key)));
    }
  });

  test('never moves the column that another is added beside', () => {
    const small = new ColumnCache(kernels, 1 << 20);
    const entries: CacheEntries = new Map();
    const beside = small.add(entries, -1, {
      type: 'time',
      block: codecs.encodeTimes(BigInt64Array.of(5n, 7n, 8n)),
    });
    for (let i = 0; i < 100; i++) small.add(entries, i, { type: 'float', block: block(i), beside });

    expect([...small.times(beside, { from: 0, to: 3 })]).toEqual([5n, 7n, 8n]);
    expect(small.get(entries, -1)).toBe(beside);
  });
});
