// The results of an accumulator's windows, as numbers: for tests.
import type { FieldType } from '@tidemark/core';

import { WINDOW_RESULTS } from '../abi.gen.ts';
import type { Accumulator, WindowResult } from '../accumulator.ts';

type TimeResult = 'start' | 'count' | `${string}Time`;

/** The values of all windows, for each result that needs no arithmetic. */
export type WindowPartials = {
  readonly [R in Exclude<WindowResult, 'mean' | 'spread'>]: readonly (R extends TimeResult
    ? bigint
    : number | bigint)[];
};

/** The results of the windows of a field of the type. */
export function partialsOf(
  accumulator: Accumulator,
  type: FieldType,
  options: { readonly descending: boolean } = { descending: false },
): WindowPartials {
  const all = Object.keys(WINDOW_RESULTS) as WindowResult[];
  const names = all.filter((name) => name !== 'mean' && name !== 'spread');
  const words = accumulator.results(names, options);
  return Object.fromEntries(
    names.map((name, i) => {
      const { buffer, byteOffset, length } = words[i]!;
      const isInt64 = name === 'start' || name === 'count' || name.endsWith('Time');
      if (isInt64) return [name, [...new BigInt64Array(buffer, byteOffset, length)]];
      if (type === 'float') return [name, [...words[i]!]];
      const Type = type === 'integer' ? BigInt64Array : BigUint64Array;
      return [name, [...new Type(buffer, byteOffset, length)]];
    }),
  ) as WindowPartials;
}
