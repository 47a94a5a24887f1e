import { columnFrom, columnValue } from '@tidemark/core';
import type { FieldType, FieldValue } from '@tidemark/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { createTransformation } from '../transformation-table.ts';
import { finishSteps } from '../steps.ts';
import type { TransformationSpec } from '../transformation.ts';

type Points = readonly (readonly [bigint, FieldValue | null])[];

function run(
  spec: TransformationSpec,
  points: Points,
  options: {
    readonly type?: FieldType;
    readonly descending?: boolean;
    readonly split?: number;
  } = {},
): Points {
  const { type = 'float', descending = false, split = points.length } = options;
  let heldBytes = 0;
  const hold = (bytes: number): void => {
    heldBytes += bytes;
  };
  const transformation = createTransformation(spec, { inputType: type, descending, hold });
  const parts = [points.slice(0, split), points.slice(split)];
  const batches = parts.map((part) =>
    transformation.push({
      times: BigInt64Array.from(part, ([time]) => time),
      values: columnFrom(
        type,
        part.map(([, value]) => value),
      ),
    }),
  );
  const rest = transformation.finish?.();
  const last = rest === undefined ? [] : [finishSteps(rest)];
  expect(heldBytes).toBe(0);
  return [...batches, ...last].flatMap(({ times, values }) => {
    expect(values.type).toBe(transformation.type);
    return [...times].map((time, i) => [time, columnValue(values, i)] as const);
  });
}

const MAX = 9223372036854775807n;
const MIN = -9223372036854775808n;

describe('difference', () => {
  test('wraps integers', () => {
    const points: Points = [
      [1n, MAX],
      [2n, MIN],
      [3n, MAX],
    ];

    expect(run({ kind: 'difference' }, points, { type: 'integer' })).toEqual([
      [2n, 1n],
      [3n, -1n],
    ]);
  });

  test('without negative ones, a fall still becomes the new base', () => {
    const points: Points = [
      [1n, 5n],
      [2n, 3n],
      [3n, 4n],
    ];
    const spec: TransformationSpec = { kind: 'non_negative_difference' };

    expect(run(spec, points, { type: 'integer' })).toEqual([[3n, 1n]]);
    expect(run(spec, points, { type: 'unsigned' })).toEqual([[3n, 1n]]);
  });

  test('of unsigned values keeps large steps', () => {
    const points: Points = [
      [1n, 0n],
      [2n, 18446744073709551615n],
    ];

    expect(run({ kind: 'non_negative_difference' }, points, { type: 'unsigned' })).toEqual([
      [2n, 18446744073709551615n],
    ]);
  });

  test('skips nulls and further points of one time', () => {
    const points: Points = [
      [1n, 1],
      [1n, 100],
      [2n, null],
      [3n, 4],
    ];

    expect(run({ kind: 'difference' }, points)).toEqual([[3n, 3]]);
  });

  test('equals bigint arithmetic', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: MIN, max: MAX })), (values) => {
        const points = values.map((value, i) => [BigInt(i), value] as const);
        const expected = values
          .slice(1)
          .map((value, i) => [BigInt(i + 1), BigInt.asIntN(64, value - (values[i] ?? 0n))]);

        expect(run({ kind: 'difference' }, points, { type: 'integer' })).toEqual(expected);
      }),
    );
  });
});

describe('derivative', () => {
  const spec: TransformationSpec = { kind: 'derivative', unitNanos: 10n };

  test('of integers subtracts before it rounds', () => {
    const points: Points = [
      [0n, MAX - 1n],
      [10n, MAX],
      [20n, MAX - 3n],
    ];

    expect(run(spec, points, { type: 'integer' })).toEqual([
      [10n, 1],
      [20n, -3],
    ]);
  });

  test('of a falling unsigned value is negative', () => {
    const points: Points = [
      [0n, 18446744073709551615n],
      [10n, 18446744073709551613n],
    ];

    expect(run(spec, points, { type: 'unsigned' })).toEqual([[10n, -2]]);
  });

  test('of a descending stream has the opposite sign', () => {
    const points: Points = [
      [20n, 5],
      [10n, 3],
    ];

    expect(run(spec, points, { descending: true })).toEqual([[10n, -2]]);
  });

  test('measures distances across the whole range of times', () => {
    const points: Points = [
      [-9000000000000000000n, 0],
      [9000000000000000000n, 18],
    ];

    expect(run({ kind: 'derivative', unitNanos: 1_000_000_000_000_000_000n }, points)).toEqual([
      [9000000000000000000n, 1],
    ]);
  });
});

describe('cumulative_sum', () => {
  test('equals bigint arithmetic', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: MIN, max: MAX })), fc.nat(5), (values, split) => {
        let sum = 0n;
        const points = values.map((value, i) => [BigInt(i), value] as const);
        const expected = values.map((value, i) => {
          sum = BigInt.asIntN(64, sum + value);
          return [BigInt(i), sum];
        });

        const actual = run({ kind: 'cumulative_sum' }, points, { type: 'integer', split });

        expect(actual).toEqual(expected);
      }),
    );
  });
});

describe('integral', () => {
  const windows: TransformationSpec = {
    kind: 'integral',
    unitNanos: 1n,
    wholeStamp: 0n,
    windowOf: (time) => ({ start: time - (time % 10n), end: time - (time % 10n) + 10n }),
  };

  test('splits areas at the borders of windows', () => {
    const points: Points = [
      [0n, 2],
      [5n, 2],
      [15n, 4],
      [20n, 4],
    ];

    // 10 + 12.5 up to the border at value 3, then 17.5 + 20; the last point lies on the start of
    // its window.
    expect(run(windows, points)).toEqual([
      [0n, 22.5],
      [10n, 37.5],
    ]);
  });

  test('gives windows without points the area under the line', () => {
    const points: Points = [
      [5n, 0],
      [45n, 40],
    ];
    const areas: Points = [
      [0n, 12.5],
      [10n, 100],
      [20n, 200],
      [30n, 300],
      [40n, 187.5],
    ];

    expect(run(windows, points)).toEqual(areas);
    const backwards = run(windows, points.toReversed(), { descending: true });
    // Stamped with the end of the window at which a descending stream begins, as recorded.
    expect(backwards).toEqual(
      areas.toReversed().map(([time, area]) => [time + 10n, -Number(area)]),
    );
  });

  test('of very many windows between two points comes in parts', () => {
    const hold = (): void => undefined;
    const context = { inputType: 'float', descending: false, hold } as const;
    const batch = { times: BigInt64Array.of(0n, 100_000n), values: columnFrom('float', [1, 1]) };

    const parts = createTransformation(windows, context).pushInParts?.(batch) ?? [];

    expect(Array.from(parts, ({ times }) => times.length)).toEqual([4096, 4096, 1808]);
  });

  test('without windows is stamped with the epoch, in both directions', () => {
    const whole: TransformationSpec = { ...windows, windowOf: undefined };
    const points: Points = [
      [7n, 2],
      [17n, 4],
    ];

    expect(run(whole, points)).toEqual([[0n, 30]]);
    expect(run(whole, points.toReversed(), { descending: true })).toEqual([[0n, -30]]);
  });

  test('of one point is nothing on the start of its window, else 0', () => {
    expect(run(windows, [[10n, 5]])).toEqual([]);
    expect(run(windows, [[11n, 5]])).toEqual([[10n, 0]]);
  });
});

describe('every transformation', () => {
  const technical = { period: 2, hold: -1, warmUp: 'simple' } as const;
  const specs: readonly TransformationSpec[] = [
    { kind: 'derivative', unitNanos: 1n },
    { kind: 'non_negative_derivative', unitNanos: 1n },
    { kind: 'elapsed', unitNanos: 3n },
    { kind: 'difference' },
    { kind: 'non_negative_difference' },
    { kind: 'cumulative_sum' },
    { kind: 'moving_average', points: 3 },
    { kind: 'exponential_moving_average', ...technical },
    { kind: 'double_exponential_moving_average', ...technical },
    { kind: 'triple_exponential_moving_average', ...technical },
    { kind: 'relative_strength_index', ...technical },
    { kind: 'triple_exponential_derivative', ...technical },
    { kind: 'kaufmans_efficiency_ratio', period: 2, hold: 0 },
    { kind: 'kaufmans_adaptive_moving_average', period: 2, hold: -1 },
    { kind: 'chande_momentum_oscillator', ...technical, warmUp: 'none' },
    { kind: 'holt_winters_with_fit', predictions: 2, seasonLength: 0, intervalNanos: 1n },
  ];

  test.each(specs.map((spec) => [spec.kind, spec] as const))(
    '%s does not depend on how points are split into batches',
    (_kind, spec) => {
      const points: Points = [3, 1, 4, 1, 5, 9, 2, 6, 5].map((value, i) => [BigInt(i), value]);
      const whole = run(spec, points);

      for (let split = 0; split < points.length; split++) {
        expect(run(spec, points, { split })).toEqual(whole);
      }
      expect(run(spec, [])).toEqual([]);
    },
  );
});

describe('windows as large as a query wants them', () => {
  const period = 2_000_000_000;
  const technical = { period, hold: -1 } as const;
  const chande = { kind: 'chande_momentum_oscillator', ...technical, warmUp: 'none' } as const;

  test.each<[TransformationSpec, FieldType]>([
    [{ kind: 'moving_average', points: period }, 'float'],
    [{ kind: 'moving_average', points: period }, 'integer'],
    [{ kind: 'kaufmans_efficiency_ratio', ...technical }, 'float'],
    [{ kind: 'kaufmans_adaptive_moving_average', ...technical }, 'float'],
    [chande, 'float'],
  ])('are refused when what they hold is too much: %j of %s', (spec, inputType) => {
    let heldBytes = 0;
    const hold = (bytes: number): void => {
      heldBytes += bytes;
      if (heldBytes > 200_000) throw new Error('too much');
    };
    const transformation = createTransformation(spec, { inputType, descending: false, hold });
    const type = inputType === 'integer' ? 'integer' : 'float';
    const one = type === 'integer' ? 1n : 1;
    const batch = {
      times: new BigInt64Array(5_000),
      values: columnFrom(
        type,
        Array.from({ length: 5_000 }, () => one),
      ),
    };

    transformation.push(batch);
    expect(heldBytes).toBeGreaterThan(5_000 * 8 - 1);
    expect(() => {
      for (let i = 0; i < 3; i++) transformation.push(batch);
    }).toThrow('too much');
  });
});
