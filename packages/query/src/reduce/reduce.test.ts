// Large windows are reduced in steps: no step takes more rows, or appends more points, than fit a
// few milliseconds.
import { columnFrom } from '@tidemark/core';
import type { FieldType } from '@tidemark/core';
import { describe, expect, test } from 'vitest';

import { createAccumulator } from '../functions/reducers.ts';
import type { Accumulator } from '../functions/reducers.ts';
import { STEP_ITEMS } from '../functions/steps.ts';
import type { ReducerSpec } from '../functions/reducers.ts';
import type { PointBatch } from '../batch/point-batch.ts';
import { PointWriter } from '../batch/point-writer.ts';
import { Reduction } from './reduce.ts';
import { Windows } from '../plan/windows.ts';
import type { Calculation } from '../functions/steps.ts';

const BLOCKS = 6;
const ROWS = STEP_ITEMS * BLOCKS;
const SECOND = 1_000_000_000n;

const times = BigInt64Array.from({ length: ROWS }, (_, i) => BigInt(i) * SECOND);
const scattered = Array.from({ length: ROWS }, (_, i) => (i * 7919) % ROWS);
const COLUMNS = {
  float: columnFrom('float', scattered),
  string: columnFrom(
    'string',
    scattered.map((value) => `v${value}`),
  ),
};

const options = {
  windows: undefined,
  wholeStamp: 0n,
  keepsPointTime: true,
  descending: false,
  anyOrder: false,
  input: 0,
  hold: () => undefined,
};

function accumulatorOf(spec: ReducerSpec, inputType: FieldType): Accumulator {
  return createAccumulator(spec, {
    inputType,
    descending: false,
    random: () => 0.5,
    needsRow: true,
    hold: () => undefined,
  });
}

/**
 * Runs the steps; the most rows that were taken in one and the most points that were appended in
 * one.
 */
function run(
  steps: Calculation<PointBatch | undefined>,
  most: { rows: number; points: number },
  work: { rows: number; points: number },
): number {
  for (let count = 1; ; count++) {
    const step = steps.next();
    most.rows = Math.max(most.rows, work.rows);
    most.points = Math.max(most.points, work.points);
    work.rows = 0;
    work.points = 0;
    if (step.done === true) return count;
  }
}

const KINDS: readonly (readonly [string, ReducerSpec, keyof typeof COLUMNS, number])[] = [
  // Sorting a block each, merging (two more passes), and handing the values on.
  ['distinct', { kind: 'distinct' }, 'string', 3 * BLOCKS],
  ['mode of different values', { kind: 'mode' }, 'float', 2 * BLOCKS - 2],
  ['count of different values', { kind: 'count-distinct' }, 'string', 1],
  ['median', { kind: 'median' }, 'float', BLOCKS],
  ['percentile with its row', { kind: 'percentile', percent: 40 }, 'float', BLOCKS],
  ['standard deviation', { kind: 'stddev' }, 'float', 2 * BLOCKS],
  ['top', { kind: 'top', size: ROWS, distinctInputs: [] }, 'float', 3 * BLOCKS],
  ['bottom by tag', { kind: 'bottom', size: ROWS, distinctInputs: [0] }, 'string', 4 * BLOCKS],
  ['sample', { kind: 'sample', size: ROWS }, 'float', 2 * BLOCKS],
];

describe('a window of very many different values', () => {
  test.each(KINDS)('%s is reduced in steps', (_name, spec, type, atLeast) => {
    const accumulator = accumulatorOf(spec, type);
    const work = { rows: 0, points: 0 };
    const most = { rows: 0, points: 0 };
    const watched: Accumulator = {
      add(input, from, to) {
        work.rows += to - from;
        accumulator.add(input, from, to);
      },
      emit: (stamp, out) => accumulator.emit(stamp, out),
    };
    class CountingWriter extends PointWriter {
      override append(...point: Parameters<PointWriter['append']>): void {
        work.points++;
        super.append(...point);
      }
    }
    const out = new CountingWriter(spec.kind === 'count-distinct' ? 'integer' : type, []);
    const reduction = new Reduction(options, () => watched, out);

    const pushed = run(reduction.push({ times, columns: [COLUMNS[type]] }), most, work);
    const finished = run(reduction.finish(), most, work);

    expect(pushed).toBe(BLOCKS);
    expect(finished).toBeGreaterThanOrEqual(atLeast);
    expect(most.rows).toBe(STEP_ITEMS);
    expect(most.points).toBeLessThanOrEqual(STEP_ITEMS);
  });
});

test('a mode that many values tie for is found in steps', () => {
  const twice = columnFrom('float', [...scattered, ...scattered.toReversed()]);
  const all = BigInt64Array.from({ length: 2 * ROWS }, (_, i) => BigInt(i) * SECOND);
  const out = new PointWriter('float', []);
  const accumulator = accumulatorOf({ kind: 'mode' }, 'float');
  const reduction = new Reduction(options, () => accumulator, out);
  const most = { rows: 0, points: 0 };

  run(reduction.push({ times: all, columns: [twice] }), most, most);
  const steps = run(reduction.finish(), most, most);

  // Counting, sorting and merging the values, and comparing one with the next.
  expect(steps).toBeGreaterThanOrEqual(5 * BLOCKS);
});

test('many short windows give way in between', () => {
  const out = new PointWriter('float', []);
  const accumulator = accumulatorOf({ kind: 'median' }, 'float');
  const windows = new Windows({ everyNanos: SECOND, offsetNanos: 0n }, undefined);
  const reduction = new Reduction({ ...options, windows }, () => accumulator, out);
  const none = { rows: 0, points: 0 };

  const steps = run(reduction.push({ times, columns: [COLUMNS.float] }), none, none);

  expect(steps).toBe(BLOCKS + 1);
  expect(out.rowCount).toBe(0);
});
