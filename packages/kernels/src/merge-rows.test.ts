import { expect, test } from 'vitest';
import * as fc from 'fast-check';

import { Kernels } from './loader.ts';
import { mergeOrder } from './merge-rows.ts';
import type { SortedRuns, TieOrder } from './merge-rows.ts';

const kernels = new Kernels();
const COLUMNS = 2;

type Row = { readonly time: bigint; readonly ranks: readonly number[] };

const row = fc.record({
  time: fc.oneof(
    fc.bigInt({ min: -3n, max: 3n }),
    fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, 2n ** 32n, 2n ** 31n, -(2n ** 31n)),
  ),
  ranks: fc.array(fc.nat(2), { minLength: COLUMNS, maxLength: COLUMNS }),
});

const cases = fc.record({
  descending: fc.boolean(),
  runs: fc.array(fc.uniqueArray(row, { maxLength: 12, selector: ({ time }) => String(time) }), {
    minLength: 1,
    maxLength: 9,
  }),
});

const byTime = (a: Row, b: Row): number => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0);

function laidOut({ runs, descending }: { runs: Row[][]; descending: boolean }) {
  const sorted = runs.map((run) => run.toSorted((a, b) => byTime(a, b) * (descending ? -1 : 1)));
  const rows = sorted.flat();
  const bounds = [0];
  for (const run of sorted) bounds.push(bounds.at(-1)! + run.length);
  const times = BigInt64Array.from(rows, ({ time }) => time);
  return { rows, sorted: { times, bounds, descending } satisfies SortedRuns };
}

/** Merged numbers of rows; those of rows that are in order already are 0, 1, 2. */
function merged(runs: SortedRuns, ties: TieOrder): number[] {
  const work = mergeOrder(kernels, runs, ties);
  for (;;) {
    const step = work.next();
    if (step.done !== true) continue;
    const numbers = Uint32Array.from(runs.times, (_, i) => i);
    const order = [...(step.value?.take([numbers]) ?? numbers)];
    step.value?.close();
    return order;
  }
}

/** The older system's heap: the top is taken out, the run's next row is put in at the bottom. */
function heapModel(rows: readonly Row[], { bounds, descending }: SortedRuns): number[] {
  const isFirst = (a: number, b: number): boolean => {
    const order = byTime(rows[a]!, rows[b]!) * (descending ? -1 : 1);
    if (order !== 0) return order < 0;
    for (let i = 0; i < COLUMNS; i++) {
      const [p, q] = [rows[a]!.ranks[i]!, rows[b]!.ranks[i]!];
      if (p === 0 || q === 0) return false;
      if (p !== q) return descending ? p > q : p < q;
    }
    return false;
  };
  const heap: { row: number; end: number }[] = [];
  const swap = (i: number, j: number): void => {
    [heap[i], heap[j]] = [heap[j]!, heap[i]!];
  };
  const sink = (from: number): void => {
    for (let i = from; ;) {
      let child = 2 * i + 1;
      if (child >= heap.length) return;
      if (child + 1 < heap.length && isFirst(heap[child + 1]!.row, heap[child]!.row)) child++;
      if (!isFirst(heap[child]!.row, heap[i]!.row)) return;
      swap(i, child);
      i = child;
    }
  };
  const rise = (from: number): void => {
    for (let i = from; i > 0;) {
      const parent = (i - 1) >> 1;
      if (!isFirst(heap[i]!.row, heap[parent]!.row)) return;
      swap(i, parent);
      i = parent;
    }
  };
  for (let i = 0; i + 1 < bounds.length; i++) {
    if (bounds[i]! < bounds[i + 1]!) heap.push({ row: bounds[i]!, end: bounds[i + 1]! });
  }
  for (let i = (heap.length >> 1) - 1; i >= 0; i--) sink(i);
  const order: number[] = [];
  while (heap.length > 0) {
    const { row: taken, end } = heap[0]!;
    order.push(taken);
    const last = heap.pop()!;
    if (heap.length > 0) {
      heap[0] = last;
      sink(0);
    }
    if (taken + 1 < end) {
      heap.push({ row: taken + 1, end });
      rise(heap.length - 1);
    }
  }
  return order;
}

test('rows of equal time keep the order that is given for the runs', () => {
  const shuffled = cases.chain((one) =>
    fc.record({
      one: fc.constant(one),
      order: fc.shuffledSubarray([...one.runs.keys()], {
        minLength: one.runs.length,
        maxLength: one.runs.length,
      }),
    }),
  );
  fc.assert(
    fc.property(shuffled, ({ one, order }) => {
      const { rows, sorted } = laidOut(one);
      const listed = order.flatMap((run) => {
        const [start, end] = [sorted.bounds[run]!, sorted.bounds[run + 1]!];
        return Array.from({ length: end - start }, (_, i) => start + i);
      });
      const direction = one.descending ? -1 : 1;

      const got = merged(sorted, { kind: 'runs', runs: Uint32Array.from(order) });

      expect(got).toEqual(listed.toSorted((a, b) => byTime(rows[a]!, rows[b]!) * direction));
    }),
  );
});

test('rows of equal time come as from a heap that compares ranks', () => {
  fc.assert(
    fc.property(cases, (one) => {
      const { rows, sorted } = laidOut(one);
      const ranks = Array.from({ length: COLUMNS }, (_, i) =>
        Uint32Array.from(rows, (each) => each.ranks[i]!),
      );

      const got = merged(sorted, { kind: 'heap', ranks: () => ranks });

      expect(got).toEqual(heapModel(rows, sorted));
    }),
  );
});

test('values of any width are put into the order', () => {
  const runs: SortedRuns = {
    times: BigInt64Array.of(1n, 4n, 2n, 3n),
    bounds: [0, 2, 4],
    descending: false,
  };
  const work = mergeOrder(kernels, runs, { kind: 'heap', ranks: () => [] });
  let step = work.next();
  while (step.done !== true) step = work.next();
  const order = step.value;

  expect(order?.take([BigInt64Array.of(10n, 40n, 20n, -30n)])).toEqual(
    BigInt64Array.of(10n, 20n, -30n, 40n),
  );
  expect(order?.take([BigUint64Array.of(1n, 4n, 2n, 2n ** 64n - 1n)])).toEqual(
    BigUint64Array.of(1n, 2n, 2n ** 64n - 1n, 4n),
  );
  expect(order?.take([Float64Array.of(1, 4, -0, 3)])).toEqual(Float64Array.of(1, -0, 3, 4));
  expect(order?.take([Uint32Array.of(1, 4, 2, 3)])).toEqual(Uint32Array.of(1, 2, 3, 4));
  expect(order?.take([Uint8Array.of(1, 0, 0, 1)])).toEqual(Uint8Array.of(1, 0, 1, 0));
  const halves = [Float64Array.of(1, 4), Float64Array.of(2, 3)];
  expect(order?.take(halves)).toEqual(Float64Array.of(1, 2, 3, 4));
  order?.close();
});

test('large merges pause, and give their memory back when they are left', () => {
  const rows = 300_000;
  const before = kernels.exports.memoryInUse();
  const runs: SortedRuns = {
    times: BigInt64Array.from({ length: rows }, (_, i) => BigInt(i % (rows / 2))),
    bounds: [0, rows / 2, rows],
    descending: false,
  };
  const steps: number[] = [];
  for (const limit of [2, Number.POSITIVE_INFINITY]) {
    const work = mergeOrder(kernels, runs, { kind: 'heap', ranks: () => [] });
    let count = 0;
    let step = work.next();
    for (; step.done !== true && count < limit; count++) step = work.next();
    if (step.done === true) step.value?.close();
    work.return(undefined);
    steps.push(count);
  }

  expect(steps[1]).toBeGreaterThan(rows / 8192);
  expect(kernels.exports.memoryInUse()).toBe(before);
});
