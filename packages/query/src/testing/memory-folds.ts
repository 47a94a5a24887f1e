// Folds of the model in memory: the points of windows, whose rows come one series after another.
import type { FieldType, FieldValue } from '@tidemark/core';
import { columnFrom } from '@tidemark/core';

import { PointWriter } from '../batch/point-writer.ts';
import { foldAccumulator, foldedType, hasOwnTimes } from '../functions/folds.ts';
import { finishSteps } from '../functions/steps.ts';
import type { FoldFunction, WindowPoints } from '../series-source.ts';

type Points = Windows['windows'][number];

/** Some functions count rows of one value in the order of the query. */
function inOrder(points: Points, descending: boolean): Points {
  return points.toSorted((a, b) => Number(a.time - b.time) * (descending ? -1 : 1));
}

type Windows = {
  readonly type: FieldType;
  /** The values of each window with their times. */
  readonly windows: readonly (readonly { readonly value: FieldValue; readonly time: bigint }[])[];
  readonly descending: boolean;
};

export function foldedPoints(
  wanted: FoldFunction,
  { type, windows, descending }: Windows,
): WindowPoints {
  const accumulator = foldAccumulator(wanted, { type, descending, hold: () => undefined });
  const out = new PointWriter(foldedType(wanted, type), []);
  const counts = windows.map((unordered) => {
    const points = hasOwnTimes(wanted) ? inOrder(unordered, descending) : unordered;
    const column = columnFrom(
      type,
      points.map(({ value }) => value),
    );
    const times = BigInt64Array.from(points, ({ time }) => time);
    accumulator.add({ times, column, columns: [] }, 0, times.length);
    const before = out.rowCount;
    const steps = accumulator.emit(hasOwnTimes(wanted) ? undefined : 0n, out);
    if (steps !== undefined) finishSteps(steps);
    return out.rowCount - before;
  });
  const { times, columns } = out.take();
  const values = columns[0]!;
  return { counts: Uint32Array.from(counts), values, ...(hasOwnTimes(wanted) && { times }) };
}
