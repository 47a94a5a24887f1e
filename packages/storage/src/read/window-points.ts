// Points of folds in batches of a limited size. Those of many windows, or of one with very many,
// are passed on in parts, which keep only the texts of their own points.
import type { AggregateBatch } from '@tidemark/query';

import { sliceColumn } from '../columns/run.ts';
import { BATCH_TEXT_BYTES, cutByTexts, withOwnTexts } from '../columns/run-texts.ts';
import type { StoredPoints } from './windows.ts';

const POINTS_PER_BATCH = 8192;

/** The points of all folds of a request, by the field and the function. */
export type PointsOfFields = readonly (readonly StoredPoints[])[];

/** Windows `[from, to)` of a group; their points are taken one range of windows after another. */
export class PointsCut {
  readonly #points: PointsOfFields;
  /** Number of points that were taken, of each fold. */
  readonly #taken: readonly number[][];

  constructor(points: PointsOfFields) {
    this.#points = points;
    this.#taken = points.map((functions) => functions.map(() => 0));
  }

  /** The points of the next windows, up to `to`, in one or more batches of their group. */
  *batches(batch: AggregateBatch, from: number, to: number): Generator<AggregateBatch> {
    const points = this.#points.map((functions, i) =>
      functions.map((all, j) => this.#take(all, { i, j, from, to })),
    );
    if (points.every((functions) => functions.every(isSmall))) {
      yield { ...batch, points };
      return;
    }
    if (batch.fields.length > 0) yield batch;
    for (const [i, functions] of points.entries()) {
      for (const [j, each] of functions.entries()) {
        for (const { first, part } of partsOf(each)) {
          const windowStarts = batch.windowStarts.subarray(first, first + part.counts.length);
          const none = nonePoints(part);
          const only = points.map((others, k) =>
            others.map((_, l) => (k === i && l === j ? part : none)),
          );
          yield { ...batch, windowStarts, fields: [], points: only };
        }
      }
    }
  }

  #take(
    points: StoredPoints,
    at: { readonly i: number; readonly j: number; readonly from: number; readonly to: number },
  ): StoredPoints {
    const ofWindows = points.counts.subarray(at.from, at.to);
    const start = this.#taken[at.i]![at.j]!;
    const end = start + sumOf(ofWindows);
    this.#taken[at.i]![at.j] = end;
    return slicePoints({ ...points, counts: ofWindows }, start, end);
  }
}

function isSmall({ values, counts }: StoredPoints): boolean {
  return values.type !== 'string' && sumOf(counts) <= POINTS_PER_BATCH;
}

/** Parts of the points, each with the number of its first window. */
function* partsOf(
  points: StoredPoints,
): Generator<{ readonly first: number; readonly part: StoredPoints }> {
  let window = 0;
  let left = points.counts[0] ?? 0;
  let from = 0;
  for (const to of endsOf(points)) {
    while (left === 0 && from < to) left = points.counts[++window]!;
    const first = window;
    const counts: number[] = [];
    for (let wanted = to - from; wanted > 0;) {
      const taken = Math.min(left, wanted);
      counts.push(taken);
      wanted -= taken;
      left -= taken;
      if (wanted > 0) left = points.counts[++window]!;
    }
    const part = slicePoints({ ...points, counts: Uint32Array.from(counts) }, from, to);
    yield { first, part: { ...part, values: withOwnTexts(part.values) } };
    from = to;
  }
}

/** The ends of the parts, as numbers of points. */
function* endsOf({ values, counts }: StoredPoints): Generator<number> {
  const total = sumOf(counts);
  if (values.type !== 'string') {
    for (let at = 0; at < total;) yield (at = Math.min(total, at + POINTS_PER_BATCH));
    return;
  }
  let at = 0;
  const run = { times: new BigInt64Array(total), columns: [values] };
  for (const { times } of cutByTexts(run, BATCH_TEXT_BYTES)) yield (at += times.length);
}

function slicePoints(
  { values, times, series, ...each }: StoredPoints,
  from: number,
  to: number,
): StoredPoints {
  return {
    ...each,
    values: sliceColumn(values, from, to),
    ...(times && { times: times.subarray(from, to) }),
    ...(series && { series: series.subarray(from, to) }),
  };
}

function nonePoints({ counts, values }: StoredPoints): StoredPoints {
  return { counts: new Uint32Array(counts.length), values: sliceColumn(values, 0, 0) };
}

function sumOf(counts: Uint32Array): number {
  let sum = 0;
  for (let i = 0; i < counts.length; i++) sum += counts[i]!;
  return sum;
}
