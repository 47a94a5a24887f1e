// Windows of groups: joins the windows of a group's fields, and returns them as batches in the
// order of the request.
import { MIN_TIME, textsBytes } from '@tidemark/core';
import type { Column } from '@tidemark/core';
import type { Scans } from '@tidemark/kernels';
import type { AggregateBatch, AggregateColumn } from '@tidemark/query';

import { newFieldArray } from '../columns/row-block.ts';
import type { ChunkReader } from './chunk-reader.ts';
import { planColumn, windowOfChunk } from './column-plan.ts';
import type { ColumnUse } from './column-plan.ts';
import { convertColumn } from './convert.ts';
import type { RequestMemory } from './request-memory.ts';
import { openFieldWindows } from './field-windows.ts';
import { PointsCut } from './window-points.ts';
import { requestedFields } from './windows.ts';
import type {
  FieldResult,
  FieldWindows,
  GroupedWindows,
  StoredPoints,
  WindowsRequest,
} from './windows.ts';
import { columnOf, sliceColumn, valuesOf } from '../columns/run.ts';
import { BATCH_TEXT_BYTES, cutByTexts, withOwnTexts } from '../columns/run-texts.ts';
import type { Run } from '../columns/run.ts';
import type { SeriesId } from '../columns/series-id.ts';
import type { SeriesRows } from '../columns/series-rows.ts';
import type { SeriesIndex } from '../series/series-index.ts';

const WINDOWS_PER_BATCH = 8192;

/** Bytes of a window of one field: in the kernel, then as columns of the answer. */
const WINDOW_BYTES = 2 * 88;

type OfGroups = {
  /** Over the cached columns. */
  readonly scans: Scans;
  /** The index of the measurement whose rows are added. */
  readonly index: () => SeriesIndex;
  readonly count: number;
};

/** Windows of all groups of a request, in the kernel's memory. Must be closed. */
export class WindowsOfGroups {
  readonly #request: WindowsRequest;
  readonly #fields: readonly GroupedWindows[];
  readonly #groups = new Map<number, GroupWindows>();

  constructor(request: WindowsRequest, { scans, index, count }: OfGroups) {
    this.#request = request;
    const fields: GroupedWindows[] = [];
    this.#fields = fields;
    try {
      for (const field of requestedFields(request)) {
        fields.push(openFieldWindows(scans, request, { ...field, groups: count }, index));
      }
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Throws `LimitExceeded` when the windows take more memory than the request may have. */
  check(memory: RequestMemory): void {
    // Without a time window, the group's only window is part of what the group takes.
    const windowBytes = this.#request.window === undefined ? 0 : WINDOW_BYTES;
    let bytes = 0;
    for (const { windowCount, heldBytes = 0 } of this.#fields) {
      bytes += windowCount * windowBytes + heldBytes;
    }
    memory.check(bytes, 'windows of an aggregation');
  }

  /** Adds rows of several groups, in the order that `GroupedWindows` has. */
  addRows(groups: Uint32Array, { times, columns, series }: SeriesRows): void {
    this.#fields.forEach((field, i) => {
      const column = columns[i];
      if (column !== undefined) field.add(groups, times, column, series);
    });
  }

  /** Windows of one group, valid until `close`. */
  of(group: number): GroupWindows {
    let windows = this.#groups.get(group);
    if (windows === undefined) {
      const fields = this.#fields.map((field) => field.of(group));
      windows = new GroupWindows(this.#request, fields);
      this.#groups.set(group, windows);
    }
    return windows;
  }

  /** Batches with the windows of one group. Call it once per group. */
  batches(group: number, tags: ReadonlyMap<string, string>): Generator<AggregateBatch | undefined> {
    const windows = this.of(group);
    this.#groups.delete(group);
    return windows.batches(tags);
  }

  /** Idempotent. */
  close(): void {
    for (const field of this.#fields) field.close();
  }
}

export class GroupWindows {
  readonly #request: WindowsRequest;
  readonly #fields: readonly FieldWindows[];

  constructor(request: WindowsRequest, fields: readonly FieldWindows[]) {
    this.#request = request;
    this.#fields = fields;
  }

  /**
   * The number of windows of the field that has most. The group may have more, because fields can
   * have different windows.
   */
  get mostWindows(): number {
    let most = 0;
    for (const field of this.#fields) most = Math.max(most, field.windowCount);
    return most;
  }

  /** The number of windows of the field that has fewest. */
  get fewestWindows(): number {
    return Math.min(...this.#fields.map(({ windowCount }) => windowCount));
  }

  /** Adds rows of one series. */
  addRun(run: Run, series: SeriesId): void {
    this.#fields.forEach((field, i) => {
      const column = run.columns[i];
      if (column !== undefined) field.add(run.times, column, series);
    });
  }

  /**
   * What is read of each column of a chunk; and the window that has all of its rows, if one has.
   */
  plan(chunk: ChunkReader): { readonly start: bigint | undefined; readonly uses: ColumnUse[] } {
    const start = windowOfChunk(chunk, this.#request);
    const isInOneWindow = start !== undefined;
    const uses = this.#fields.map(({ wants }, i) =>
      planColumn(chunk, i, { ...wants, isInOneWindow }),
    );
    return { start, uses };
  }

  /**
   * Adds the wanted rows of a chunk, as planned for each column; returns whether its directory
   * entry told all.
   */
  addChunk(chunk: ChunkReader, series: SeriesId): boolean {
    const { start, uses } = this.plan(chunk);
    this.#fields.forEach((field, i) => {
      const use = uses[i]!;
      if (use === 'entry') field.addEntry(chunk, i, start!, series);
      else if (use === 'cached') field.addCached(chunk, i);
      else if (use !== 'none') addValues(chunk, i, { field, use, series });
    });
    return start !== undefined && uses.every((use) => use === 'none' || use === 'entry');
  }

  /** Pauses while folds work long. */
  *batches(groupTags: ReadonlyMap<string, string>): Generator<AggregateBatch | undefined> {
    const { descending, limitWindows, aggregates } = this.#request;
    const results: FieldResult[] = [];
    for (const field of this.#fields) {
      const result = field.finish(descending);
      results.push('starts' in result ? result : yield* result);
    }
    if (results.some(({ isTied }) => isTied === true)) {
      yield { groupTags, windowStarts: new BigInt64Array(), fields: [], isTied: true };
      return;
    }
    const starts = unionOfStarts(results, descending);
    const count = Math.min(starts.length, limitWindows ?? starts.length);
    const fields: (readonly AggregateColumn[])[] = [];
    const points: (readonly StoredPoints[])[] = [];
    for (const [i, result] of results.entries()) {
      const ofAll = spreadResult(result, starts);
      if (i < aggregates.length) fields.push(ofAll.columns);
      else points.push(ofAll.points);
    }
    const reported = reportedStarts(starts, descending);
    const isText = fields.some((columns) => columns.some(({ values }) => values.type === 'string'));
    const isSmall = !isText || hasFewTexts(fields);
    if (isSmall && count === starts.length && count <= WINDOWS_PER_BATCH && points.length === 0) {
      if (count > 0) yield { groupTags, windowStarts: reported, fields };
      return;
    }
    const cut = new PointsCut(points);
    for (let at = 0; at < count; at += WINDOWS_PER_BATCH) {
      const end = Math.min(count, at + WINDOWS_PER_BATCH);
      const windows = {
        groupTags,
        windowStarts: reported.subarray(at, end),
        fields: fields.map((columns) => columns.map((column) => sliceAggregate(column, at, end))),
      };
      if (isText) yield* partsByTexts(windows);
      if (points.length > 0)
        yield* cut.batches(isText ? { ...windows, fields: [] } : windows, at, end);
      else if (!isText) yield windows;
    }
  }

  /** Removes all windows, for the next group. */
  reset(): void {
    for (const field of this.#fields) field.reset();
  }
}

type AddedValues = {
  readonly field: FieldWindows;
  readonly use: 'few' | 'values';
  readonly series: SeriesId;
};

/** Adds a column by its values, converted to the type of the field. */
function addValues(chunk: ChunkReader, index: number, { field, use, series }: AddedValues): void {
  const { type } = field.wants;
  // Whether the few values can be listed is told by the encoding of their rows.
  const few = use === 'few' ? chunk.fewValues(index) : undefined;
  const column = few === undefined ? chunk.column(index) : few.column;
  const values = column && convertColumn(column, type);
  const times = few?.times ?? chunk.times;
  if (values !== undefined && times.length > 0) field.add(times, values, series);
}

/** Whether all texts fit one batch. */
function hasFewTexts(fields: readonly (readonly AggregateColumn[])[]): boolean {
  let sizeBytes = 0;
  for (const columns of fields) {
    for (const { values } of columns) {
      if (values.type === 'string') sizeBytes += textsBytes(values.texts);
    }
  }
  return sizeBytes <= BATCH_TEXT_BYTES;
}

/** Windows in batches of a limited size, which keep only the texts of their own windows. */
function* partsByTexts({
  groupTags,
  windowStarts,
  fields,
}: AggregateBatch): Generator<AggregateBatch> {
  const columns = fields.flatMap((ofField) => ofField.map(({ values }) => values));
  let at = 0;
  for (const { times } of cutByTexts({ times: windowStarts, columns }, BATCH_TEXT_BYTES)) {
    const end = at + times.length;
    const partOf = (column: AggregateColumn): AggregateColumn => {
      const part = sliceAggregate(column, at, end);
      return { ...part, values: withOwnTexts(part.values) };
    };
    yield {
      groupTags,
      windowStarts: times,
      fields: fields.map((ofField) => ofField.map(partOf)),
    };
    at = end;
  }
}

function isEqual(a: BigInt64Array, b: BigInt64Array): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/**
 * Starts of the windows that any field has, in the order of the answer. Usually all fields have the
 * same ones.
 */
function unionOfStarts(results: readonly FieldResult[], descending: boolean): BigInt64Array {
  const first = results[0]?.starts ?? new BigInt64Array(0);
  if (results.every(({ starts }) => isEqual(first, starts))) return first;
  const all = new Set<bigint>();
  for (const { starts } of results) for (const start of starts) all.add(start);
  const union = BigInt64Array.from(all).sort();
  return descending ? union.reverse() : union;
}

/** The same, except that the first window begins with the smallest time if it would before. */
function reportedStarts(starts: BigInt64Array, descending: boolean): BigInt64Array {
  const earliest = starts.at(descending ? -1 : 0);
  if (earliest === undefined || earliest >= MIN_TIME) return starts;
  return starts.map((start) => (start < MIN_TIME ? MIN_TIME : start));
}

/** Index in `part` of each element of `all`, -1 if missing. Both have the same order. */
function placesOf(part: BigInt64Array, all: BigInt64Array): Int32Array {
  let next = 0;
  return Int32Array.from(all, (start) => (part[next] === start ? next++ : -1));
}

/** The columns and points of a field with an entry for each of the windows of all fields. */
function spreadResult(
  result: FieldResult,
  all: BigInt64Array,
): Pick<FieldResult, 'columns' | 'points'> {
  const { starts, columns, points } = result;
  if (isEqual(starts, all)) return result;
  const places = placesOf(starts, all);
  return {
    columns: columns.map((column) => spreadAggregate(column, places)),
    points: points.map((each) => ({
      ...each,
      counts: Uint32Array.from(places, (place) => (place < 0 ? 0 : each.counts[place]!)),
    })),
  };
}

function spreadAggregate(column: AggregateColumn, places: Int32Array): AggregateColumn {
  const { pointTimes } = column;
  const values = spreadColumn(column.values, places);
  if (pointTimes === undefined) return { values };
  return {
    values,
    pointTimes: BigInt64Array.from(places, (place) => (place < 0 ? 0n : pointTimes[place]!)),
  };
}

function spreadColumn(column: Column, places: Int32Array): Column {
  const from = valuesOf(column);
  const values = newFieldArray(column.type, places.length);
  const valid = new Uint8Array(places.length);
  places.forEach((place, i) => {
    if (place < 0) return;
    values[i] = from[place]!;
    valid[i] = column.valid?.[place] ?? 1;
  });
  const texts = column.type === 'string' ? column.texts : undefined;
  return columnOf(column.type, { values, valid, texts });
}

function sliceAggregate(column: AggregateColumn, start: number, end: number): AggregateColumn {
  const values = sliceColumn(column.values, start, end);
  if (column.pointTimes === undefined) return { values };
  return { values, pointTimes: column.pointTimes.subarray(start, end) };
}
