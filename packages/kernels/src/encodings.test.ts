import { expect, test } from 'vitest';

import { BIT_ENCODINGS, FLOAT_ENCODINGS, INTEGER_ENCODINGS, STRING_ENCODINGS } from './abi.gen.ts';
import { BLOCK_ENCODINGS } from './encodings.ts';

test('every encoding of the kernels is a row of the table, once', () => {
  const ofKernels = [BIT_ENCODINGS, FLOAT_ENCODINGS, INTEGER_ENCODINGS, STRING_ENCODINGS];
  const codes = ofKernels.flatMap((encodings): number[] => Object.values(encodings));
  const rows = BLOCK_ENCODINGS.map(({ code }) => code);

  expect(rows.toSorted()).toEqual(codes.toSorted());
  expect(new Set(rows).size).toBe(rows.length);
});
