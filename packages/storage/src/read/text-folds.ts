// Folds of a field of texts: an accumulator of the query package for each window and function.
import type { Column, StringColumn } from '@tidemark/core';
import { AssertionFailed, textCount } from '@tidemark/core';
import { foldAccumulator, foldedType, hasOwnTimes, PointWriter } from '@tidemark/query';
import type { Accumulator, FieldFolds, FoldFunction, WindowPoints } from '@tidemark/query';

import { lowerBound } from '../columns/run.ts';
import type { ColumnWants } from './column-plan.ts';
import { WindowsByGroup } from './windows-by-group.ts';
import type { WindowsTotal } from './windows-by-group.ts';
import { windowOf } from './windows.ts';
import type { FieldResult, FieldWindows, GroupedWindows, WindowsRequest } from './windows.ts';

/** Memory of an accumulator without values. */
const ACCUMULATOR_BYTES = 600;
/** Their results depend on the first row of each text only, in the order of the query. */
const OF_FIRST_ROWS: ReadonlySet<FoldFunction['kind']> = new Set(['distinct', 'count-distinct']);
/** With fewer rows of each text, the first ones are not looked for. */
const ROWS_PER_TEXT = 8;

export function groupedTextFolds(request: WindowsRequest, field: FieldFolds): GroupedWindows {
  return new WindowsByGroup((total) => new TextFoldWindows(request, field, total));
}

class TextFoldWindows implements FieldWindows {
  readonly #request: WindowsRequest;
  readonly #field: FieldFolds;
  readonly #total: WindowsTotal;
  /** One accumulator per function, by the start of the window. */
  readonly #windows = new Map<bigint, readonly Accumulator[]>();
  readonly #hold: (bytes: number) => void;
  readonly #wantsFirstRows: boolean;

  constructor(request: WindowsRequest, field: FieldFolds, total: WindowsTotal) {
    this.#request = request;
    this.#field = field;
    this.#total = total;
    this.#hold = (bytes) => void (total.heldBytes += bytes);
    this.#wantsFirstRows = field.functions.every(({ kind }) => OF_FIRST_ROWS.has(kind));
  }

  get wants(): ColumnWants {
    return { type: 'string', countsOnly: false, isToldBy: () => false };
  }

  get windowCount(): number {
    return this.#windows.size;
  }

  add(times: BigInt64Array, column: Column): void {
    const input = { times, column, columns: NO_COLUMNS };
    for (let from = 0; from < times.length;) {
      const { start, end } = windowOf(times[from]!, this.#request);
      const to = lowerBound(times, end, from);
      const first = this.#firstRows(column, from, to);
      if (first !== undefined) {
        const { length } = first.rows;
        const ofFirst = BigInt64Array.from(first.rows, (row) => times[row]!);
        const chosen = { times: ofFirst, column: first.column, columns: NO_COLUMNS };
        if (length > 0) this.#addRows(start, chosen, 0, length);
      } else if (hasValue(column, from, to)) this.#addRows(start, input, from, to);
      from = to;
    }
  }

  addCached(): never {
    throw new AssertionFailed('texts are not cached');
  }

  addEntry(): never {
    throw new AssertionFailed('entries do not have all texts');
  }

  *finish(descending: boolean): Generator<undefined, FieldResult> {
    const starts = BigInt64Array.from(this.#windows.keys()).sort();
    if (descending) starts.reverse();
    const points: WindowPoints[] = [];
    for (const [i, wanted] of this.#field.functions.entries()) {
      points.push(yield* this.#pointsOf(wanted, i, starts));
    }
    return { starts, columns: [], points };
  }

  *#pointsOf(
    wanted: FoldFunction,
    index: number,
    starts: BigInt64Array,
  ): Generator<undefined, WindowPoints> {
    const out = new PointWriter(foldedType(wanted, this.#field.type), []);
    const counts = new Uint32Array(starts.length);
    for (let i = 0; i < starts.length; i++) {
      const before = out.rowCount;
      const steps = this.#windows.get(starts[i]!)![index]!.emit(starts[i], out);
      if (steps !== undefined) yield* steps;
      counts[i] = out.rowCount - before;
      if ((i + 1) % WINDOWS_PER_STEP === 0) yield undefined;
    }
    const { times, columns } = out.take();
    const values = columns[0]!;
    return hasOwnTimes(wanted) ? { counts, values, times } : { counts, values };
  }

  reset(): void {
    this.#total.windowCount -= this.#windows.size;
    const accumulators = this.#windows.size * this.#field.functions.length;
    this.#total.heldBytes -= accumulators * ACCUMULATOR_BYTES;
    this.#windows.clear();
  }

  /** The first rows of the texts of a window, where they suffice and are much fewer than all. */
  #firstRows(
    column: Column,
    from: number,
    to: number,
  ): { readonly rows: readonly number[]; readonly column: StringColumn } | undefined {
    if (!this.#wantsFirstRows || column.type !== 'string') return undefined;
    const { codes, texts } = column;
    if (textCount(texts) * ROWS_PER_TEXT > to - from) return undefined;
    const rows = firstRowsOf(column, { from, to, fromEnd: this.#request.descending });
    const ofRows = Uint32Array.from(rows, (row) => codes[row]!);
    return { rows, column: { type: 'string', codes: ofRows, texts, valid: undefined } };
  }

  #addRows(
    start: bigint,
    input: Parameters<Accumulator['add']>[0],
    from: number,
    to: number,
  ): void {
    let accumulators = this.#windows.get(start);
    if (accumulators === undefined) {
      const { descending } = this.#request;
      const context = { type: this.#field.type, descending, hold: this.#hold };
      accumulators = this.#field.functions.map((wanted) => foldAccumulator(wanted, context));
      this.#windows.set(start, accumulators);
      this.#total.windowCount++;
      this.#hold(accumulators.length * ACCUMULATOR_BYTES);
    }
    for (const accumulator of accumulators) accumulator.add(input, from, to);
  }
}

const NO_COLUMNS: readonly Column[] = [];

const WINDOWS_PER_STEP = 256;

/** The first of the rows with each text, or the last; not all are looked at. */
function firstRowsOf(
  { codes, texts, valid }: StringColumn,
  { from, to, fromEnd }: { readonly from: number; readonly to: number; readonly fromEnd: boolean },
): readonly number[] {
  const count = textCount(texts);
  const isSeen = new Uint8Array(count);
  const rows: number[] = [];
  const step = fromEnd ? -1 : 1;
  for (let row = fromEnd ? to - 1 : from; row >= from && row < to; row += step) {
    if (valid?.[row] === 0 || isSeen[codes[row]!] === 1) continue;
    isSeen[codes[row]!] = 1;
    if (rows.push(row) === count) break;
  }
  return rows;
}

function hasValue({ valid }: Column, from: number, to: number): boolean {
  if (valid === undefined) return from < to;
  for (let row = from; row < to; row++) if (valid[row] === 1) return true;
  return false;
}
