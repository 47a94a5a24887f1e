// Spreads the stored values of a column, which are those of the rows that have one, over rows.
import type { Column } from '@tidemark/core';

import { newFieldArray } from '../columns/row-block.ts';
import type { FieldArray } from '../columns/row-block.ts';
import { columnOf, valuesOf } from '../columns/run.ts';
import { firstNotBelow } from '../columns/search.ts';
import type { RowPart } from './large-texts.ts';

/**
 * The rows [from, to) of a column, where `valid` tells which rows of the chunk have a value;
 * `undefined` when it does not tell of as many as there are.
 */
export function spread(
  dense: Column,
  valid: Uint8Array,
  { from, to }: RowPart,
): Column | undefined {
  const stored = valuesOf(dense);
  const values = newFieldArray(dense.type, to - from);
  let at = 0;
  for (let i = 0; i < from; i++) at += valid[i]!;
  for (let i = from; i < to; i++) if (valid[i] === 1) values[i - from] = stored[at++] ?? stored[0]!;
  for (let i = to; i < valid.length; i++) at += valid[i]!;
  if (at !== stored.length) return undefined;
  const texts = dense.type === 'string' ? dense.texts : undefined;
  const ofPart = to - from === valid.length ? valid : valid.slice(from, to);
  return columnOf(dense.type, { values, valid: ofPart, texts });
}

/** The rows [from, to) of a column with values in the given rows of its chunk. */
export function spreadFew(
  dense: Column,
  rows: Uint32Array,
  { from, to }: RowPart,
): Column | undefined {
  const first = firstNotBelow(rows, from);
  if (first === rows.length || rows[first]! >= to) return undefined;
  const stored = valuesOf(dense);
  const values = newFieldArray(dense.type, to - from);
  const valid = new Uint8Array(to - from);
  for (let at = first; at < rows.length && rows[at]! < to; at++) {
    const row = rows[at]! - from;
    values[row] = stored[at]!;
    valid[row] = 1;
  }
  const texts = dense.type === 'string' ? dense.texts : undefined;
  return columnOf(dense.type, { values, valid, texts });
}

/** A copy of the rows [from, to) of a column without nulls. */
export function copyOfRows(dense: Column, from: number, to: number): Column {
  const texts = dense.type === 'string' ? dense.texts : undefined;
  const values = valuesOf(dense).slice(from, to) as FieldArray;
  return columnOf(dense.type, { values, valid: undefined, texts });
}
