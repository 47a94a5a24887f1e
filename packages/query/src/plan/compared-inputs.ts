// The inputs that order rows of equal time in a merge of series.
import { compareBytes } from '@tidemark/core';

import type { RowInput } from '../analyse/columns.ts';

/** Some inputs in the order of their names, up to the first that has no texts. */
export function comparedInputs(
  inputs: readonly RowInput[],
  selected: readonly number[],
): readonly number[] {
  const byName = [...selected].sort((a, b) => compareBytes(inputs[a]!.name, inputs[b]!.name));
  const end = byName.findIndex((index) => {
    const input = inputs[index]!;
    return input.kind === 'field' && input.type !== 'string';
  });
  return end < 0 ? byName : byName.slice(0, end);
}
