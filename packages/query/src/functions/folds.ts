// Reducers for sources that fold rows themselves: those that take the rows of a window in any
// order (`FoldFunction`).
import type { FieldType } from '@tidemark/core';

import type { FoldFunction } from '../series-source.ts';
import { createAccumulator, reducerRow } from './reducers.ts';
import type { Accumulator, ReducerSpec } from './reducers.ts';

export type FoldContext = {
  readonly type: FieldType;
  readonly descending: boolean;
  /** Counts memory of the accumulator, negative when it is freed. */
  readonly hold: (bytes: number) => void;
};

/** An accumulator of one window, or of one after another. */
export function foldAccumulator(
  wanted: FoldFunction,
  { type, descending, hold }: FoldContext,
): Accumulator {
  return createAccumulator(specOf(wanted), {
    inputType: type,
    descending,
    random: () => 0, // None of them chooses.
    needsRow: hasOwnTimes(wanted),
    hold,
  });
}

/** The type of the points, of a field of this type. */
export function foldedType(wanted: FoldFunction, type: FieldType): FieldType {
  return reducerRow(specOf(wanted)).type ?? type;
}

/** Whether the points have times of their own, not that of their window. */
export function hasOwnTimes(wanted: FoldFunction): boolean {
  return 'size' in wanted || (wanted.kind === 'percentile' && wanted.hasTime === true);
}

function specOf(wanted: FoldFunction): ReducerSpec {
  return 'size' in wanted ? { ...wanted, distinctInputs: [] } : wanted;
}
