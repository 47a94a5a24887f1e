// Merges the rows of several series by time, in the order that clients of InfluxDB expect. Rows of
// equal time in different series are compared by the selected columns of strings (see
// `tieColumnsOf`). These are mostly tags that distinguish all series: then the series have a fixed
// order, which applies to rows of equal time. Otherwise the order is that of InfluxDB's heap.
import type { Column, StringColumn, Texts } from '@tidemark/core';
import { compareTexts, textCount, textsOf } from '@tidemark/core';
import type { TieOrder } from '@tidemark/kernels';

import { concatColumns, concatTimes, nullColumn } from '../batch/column-ops.ts';
import type { RowInput } from '../analyse/columns.ts';
import { comparedInputs } from '../plan/compared-inputs.ts';
import type { SelectPlan } from '../plan/select-plan.ts';
import type { ColumnParts, SortedRows } from './merge-sorted-rows.ts';
import { inOrder } from './merge-sorted-rows.ts';
import type { Steps } from '../operator.ts';

/** Rows of one series in the order of the query. */
export type SeriesRows = {
  readonly times: BigInt64Array;
  /** One per input of the plan; `undefined` for tags and the series. */
  readonly columns: readonly (Column | undefined)[];
  readonly seriesKey: string;
  readonly tags: ReadonlyMap<string, string>;
};

/** The rows with their tags as columns; missing ones are null. */
export function withTagColumns({ times, columns, tags }: SeriesRows, plan: SelectPlan): SortedRows {
  const rowCount = times.length;
  let codes: Uint32Array | undefined;
  const tagColumnOf = (input: RowInput | undefined): Column => {
    const value = tagOf(tags, input);
    if (value === null) return nullColumn('string', rowCount);
    codes ??= new Uint32Array(rowCount);
    return { type: 'string', codes, texts: textsOf([value]), valid: undefined };
  };
  return { times, columns: columns.map((column, i) => column ?? tagColumnOf(plan.inputs[i])) };
}

function tagOf(tags: ReadonlyMap<string, string>, input: RowInput | undefined): string | null {
  const value = input === undefined ? undefined : tags.get(input.name);
  return value === undefined || value === '' ? null : value;
}

/**
 * All rows of all parts by time. Parts of one series follow each other and each continues the
 * previous one.
 */
export function* mergeSeries(parts: readonly SeriesRows[], plan: SelectPlan): Steps<SortedRows> {
  const series = seriesOf(parts);
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return withTagColumns(only, plan);
  const times = concatTimes(parts.map((part) => part.times));
  const codes = series.codes(times.length);
  const columns: ColumnParts[] = [];
  for (const [i, input] of plan.inputs.entries()) {
    yield;
    if (input.kind !== 'field') {
      columns.push({ type: 'string', parts: [tagColumn(series, input, codes)] });
      continue;
    }
    const { type } = input;
    const ofParts = parts.map((part) => part.columns[i]!);
    // Texts may decide between equal times, for which they must be one column.
    columns.push({ type, parts: type === 'string' ? [concatColumns(type, ofParts)] : ofParts });
  }
  const { descending } = plan;
  const ties = tieOrder(columns, series, plan);
  return yield* inOrder({ times, columns }, { bounds: series.bounds, descending }, ties);
}

/** The number of series in the parts. */
export function seriesCount(parts: readonly SeriesRows[]): number {
  return seriesOf(parts).tags.length;
}

/** The series of some parts, and the positions of their rows. */
type Series = {
  readonly tags: readonly ReadonlyMap<string, string>[];
  readonly bounds: readonly number[];
  /** The number of the series of each row. */
  readonly codes: (rowCount: number) => Uint32Array;
};

function seriesOf(parts: readonly SeriesRows[]): Series {
  const tags: ReadonlyMap<string, string>[] = [];
  const bounds: number[] = [0];
  let end = 0;
  let key: string | undefined;
  for (const part of parts) {
    end += part.times.length;
    if (part.seriesKey === key) bounds.pop();
    else tags.push(part.tags);
    key = part.seriesKey;
    bounds.push(end);
  }
  const codes = (rowCount: number): Uint32Array => {
    const numbers = new Uint32Array(rowCount);
    for (let i = 0; i < tags.length; i++) numbers.fill(i, bounds[i], bounds[i + 1]);
    return numbers;
  };
  return { tags, bounds, codes };
}

/** A tag of all rows. Columns of tags share their codes, and have a text per series. */
function tagColumn({ tags }: Series, input: RowInput, codes: Uint32Array): StringColumn {
  const values = tags.map((each) => tagOf(each, input));
  const texts = textsOf(values.map((value) => value ?? ''));
  if (!values.includes(null)) return { type: 'string', codes, texts, valid: undefined };
  const isThere = Uint8Array.from(values, (value) => (value === null ? 0 : 1));
  const valid = new Uint8Array(codes.length);
  for (let row = 0; row < valid.length; row++) valid[row] = isThere[codes[row]!]!;
  return { type: 'string', codes, texts, valid };
}

/** Whether the order of rows of equal time does not depend on other series. */
export function haveOwnOrder(parts: readonly SeriesRows[], plan: SelectPlan): boolean {
  const series = seriesOf(parts);
  const codes = new Uint32Array();
  const compared = tieColumnsOf(plan).map((index): ComparedColumn => {
    const input = plan.inputs[index]!;
    const column = input.kind === 'tag' ? tagColumn(series, input, codes) : nullColumn('string', 0);
    return { input, column };
  });
  return orderOfSeries(compared, series, plan.descending) !== undefined;
}

/** The tags that decide between rows of equal time; `undefined` if something else may, too. */
export function tieTagsOf(plan: SelectPlan): readonly string[] | undefined {
  const compared = tieColumnsOf(plan).map((index) => plan.inputs[index]!);
  const areTags = compared.length > 0 && compared.every(({ kind }) => kind === 'tag');
  return areTags ? compared.map(({ name }) => name) : undefined;
}

type ComparedColumn = { readonly input: RowInput; readonly column: Column };

/** The recorded order of equal times. */
function tieOrder(columns: readonly ColumnParts[], series: Series, plan: SelectPlan): TieOrder {
  const compared = tieColumnsOf(plan).map((index): ComparedColumn => ({
    input: plan.inputs[index]!,
    column: columns[index]!.parts[0]!,
  }));
  const ranked = orderOfSeries(compared, series, plan.descending);
  if (ranked !== undefined) return { kind: 'runs', runs: ranked };
  return { kind: 'heap', ranks: () => compared.map(({ column }) => ranksOf(column)) };
}

/**
 * Columns that order rows of equal time, as recorded: the selected ones by name, up to the first
 * that has no texts. Inputs of functions are not compared with other columns.
 */
function tieColumnsOf(plan: SelectPlan): readonly number[] {
  if (plan.calls.length > 0) return [];
  const selected = Array.from({ length: plan.selectedInputCount }, (_, i) => i);
  return comparedInputs(plan.inputs, selected);
}

/**
 * The series in the order of their compared tags, if rows of two different series never compare as
 * equal: no series lacks a tag, and no two have the same values. `undefined` otherwise.
 */
function orderOfSeries(
  compared: readonly ComparedColumn[],
  { tags }: Series,
  descending: boolean,
): Uint32Array | undefined {
  const tagTexts: Texts[] = [];
  for (const { input, column } of compared) {
    if (input.kind !== 'tag' || column.type !== 'string' || column.valid !== undefined) {
      return undefined;
    }
    tagTexts.push(column.texts);
  }
  const compare = (a: number, b: number): number => {
    for (const texts of tagTexts) {
      const order = compareTexts(texts, a, texts, b);
      if (order !== 0) return descending ? -order : order;
    }
    return 0;
  };
  const order = Uint32Array.from(tags, (_, i) => i).sort(compare);
  for (let i = 1; i < order.length; i++) {
    if (compare(order[i - 1]!, order[i]!) === 0) return undefined;
  }
  return order;
}

/** For each row, the rank of its text among all texts of the column, 0 if there is none. */
function ranksOf(column: Column): Uint32Array {
  const ranks = new Uint32Array(column.type === 'string' ? column.codes.length : 0);
  if (column.type !== 'string') return ranks;
  const { codes, texts, valid } = column;
  const order = Uint32Array.from({ length: textCount(texts) }, (_, i) => i);
  order.sort((a, b) => compareTexts(texts, a, texts, b));
  const rankOfCode = new Uint32Array(order.length);
  let rank = 0;
  for (let i = 0; i < order.length; i++) {
    if (i === 0 || compareTexts(texts, order[i - 1]!, texts, order[i]!) !== 0) rank++;
    rankOfCode[order[i]!] = rank;
  }
  for (let row = 0; row < ranks.length; row++) {
    ranks[row] = valid === undefined || valid[row] === 1 ? rankOfCode[codes[row]!]! : 0;
  }
  return ranks;
}
