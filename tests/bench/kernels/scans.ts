// Scans: filters, selection and windowed aggregates over blocks of 8,192 rows that are ten seconds
// apart. Aggregates are those of a group of eight series: eight blocks go into the same windows.
// packages/cli/bin/node --conditions=source tests/bench/kernels/scans.ts
import { Codecs, ColumnCache, Kernels, Scans } from '@tidemark/kernels';
import type { CachedColumn, CachedType, CacheEntries, WindowResult } from '@tidemark/kernels';
import { seededRandom } from '@tidemark/testkit';
import { measure, normalFrom } from './measure.ts';

const COUNT = 8192;
const SERIES = 8;
const kernels = new Kernels();
const codecs = new Codecs(kernels);
const scans = new Scans(kernels);
const random = seededRandom(5);
const unit = 'values';

const times = BigInt64Array.from({ length: COUNT }, (_, i) => 10_000_000_000n * BigInt(i));
const walk = new BigInt64Array(COUNT);
for (let i = 0, x = 50; i < COUNT; i++) {
  walk[i] = BigInt(Math.floor(x));
  x = Math.min(100, Math.max(0, x + normalFrom(random)));
}
const integers = { type: 'integer', values: walk, valid: undefined } as const;
const decimals = Float64Array.from(walk, (v) => Number(v) + Math.floor(random() * 100) / 100);
const floats = { type: 'float', values: decimals, valid: undefined } as const;

const mask = new Uint8Array(COUNT);
measure('filter floats > 50', { count: COUNT, unit }, () => {
  mask.fill(1);
  scans.filterInPlace(mask, floats, { operator: '>', value: 50 });
});
measure('filter integers > 50', { count: COUNT, unit }, () => {
  mask.fill(1);
  scans.filterInPlace(mask, integers, { operator: '>', value: 50n });
});
measure('select floats', { count: COUNT, unit }, () => scans.selectColumn(floats, mask));

const HALF = COUNT / 2;
const ROWS = { from: 0, to: HALF };
const cache = new ColumnCache(kernels, 1 << 20);
const refilled = new ColumnCache(kernels, 1 << 20);
const entries: CacheEntries = new Map();
const hold = (key: number, type: CachedType, block: Uint8Array): CachedColumn =>
  cache.add(entries, key, { type, block });
const timesBlock = codecs.encodeTimes(times.subarray(0, HALF));
const integersBlock = codecs.encodeIntegers(walk.subarray(0, HALF), 'small');
const floatsBlock = codecs.encodeFloats(decimals.subarray(0, HALF), 'small');
const heldTimes = hold(0, 'time', timesBlock);
const heldIntegers = hold(1, 'integer', integersBlock);
const heldFloats = hold(2, 'float', floatsBlock);
for (const [what, type, block] of [
  ['steady times', 'time', timesBlock],
  ['integers', 'integer', integersBlock],
  ['floats', 'float', floatsBlock],
] as const) {
  measure(`decode ${what} for the cache`, { count: HALF, unit }, () =>
    refilled.add(entries, 9, { type, block }),
  );
}

/** All that a window keeps. */
const RESULTS: readonly WindowResult[] = [
  ...(['start', 'count', 'sum', 'min', 'minTime', 'max', 'maxTime'] as const),
  ...(['first', 'firstTime', 'last', 'lastTime'] as const),
];
for (const [name, everyNanos] of [
  ['minute', 60_000_000_000n],
  ['hour', 3_600_000_000_000n],
] as const) {
  const options = { window: { everyNanos, offsetNanos: 0n }, start: 0n };
  for (const [what, wantsSum, wantsExtremes] of [
    ['mean', true, false],
    ['max', false, true],
    ['all', true, true],
  ] as const) {
    const both = { ...options, wantsSum, wantsExtremes };
    measure(`${what} by ${name}, float rows`, { count: COUNT * SERIES, unit, roundMs: 150 }, () => {
      const accumulator = scans.openAccumulator('float', both);
      for (let i = 0; i < SERIES; i++) accumulator.add(times, floats);
      accumulator.results(RESULTS, { descending: false });
      accumulator.close();
    });
    measure(
      `${what} by ${name}, cached floats`,
      { count: COUNT * SERIES, unit, roundMs: 150 },
      () => {
        const accumulator = scans.openAccumulator('float', both);
        for (let i = 0; i < 2 * SERIES; i++) accumulator.addCached(heldTimes, heldFloats, ROWS);
        accumulator.results(RESULTS, { descending: false });
        accumulator.close();
      },
    );
    measure(
      `${what} by ${name}, cached integers`,
      { count: COUNT * SERIES, unit, roundMs: 150 },
      () => {
        const accumulator = scans.openAccumulator('integer', both);
        for (let i = 0; i < 2 * SERIES; i++) {
          accumulator.addCached(heldTimes, heldIntegers, ROWS);
        }
        accumulator.results(RESULTS, { descending: false });
        accumulator.close();
      },
    );
  }
}
