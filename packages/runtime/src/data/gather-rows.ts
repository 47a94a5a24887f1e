// Copies selected rows of a write into new columns.
import { compactTexts, copyTexts, NO_TEXTS } from '@tidemark/core';

import type { Rows, StringValues } from './schema.ts';

/** Row `i` of the result is row `picked[i]`. Texts that no picked row has are dropped. */
export function gatherRows({ columns }: Rows, picked: Uint32Array): Rows {
  return { columns: columns.map((column) => gathered(column, picked)) };
}

function gathered(column: Rows['columns'][number], picked: Uint32Array): typeof column {
  if (column instanceof Float64Array)
    return copied(column, picked, new Float64Array(picked.length));
  if (column instanceof BigInt64Array) {
    return copied(column, picked, new BigInt64Array(picked.length));
  }
  if (column instanceof Uint8Array) return copied(column, picked, new Uint8Array(picked.length));
  if ('codes' in column) return gatheredTexts(column, picked);
  return Array.from(picked, () => null);
}

function copied<A extends { [index: number]: number | bigint }>(
  values: A,
  picked: Uint32Array,
  copy: A,
): A {
  for (let i = 0; i < picked.length; i++) {
    copy[i] = values[picked[i] as number] as A[number];
  }
  return copy;
}

function gatheredTexts({ codes, texts, strings }: StringValues, picked: Uint32Array): StringValues {
  // Windows keep strings.
  if (texts === NO_TEXTS) {
    const kept = Array.from(picked, (row) => strings[codes[row] as number]);
    return { codes: Uint32Array.from(picked.keys()), texts, strings: kept };
  }
  const all = { type: 'string', codes: codesOf(codes, picked), texts, valid: undefined } as const;
  const own = compactTexts(all);
  return { codes: own.codes, texts: copyTexts(own.texts), strings: [] };
}

function codesOf(codes: Uint32Array, picked: Uint32Array): Uint32Array {
  return Uint32Array.from(picked, (row) => codes[row] as number);
}
