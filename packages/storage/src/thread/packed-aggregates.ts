// Packs small aggregates of many groups into one array of 64-bit words, and unpacks them.
import { columnBytes, tagsBytes } from '@tidemark/core';
import type { AggregateBatch, AggregateColumn, WindowPoints } from '@tidemark/query';

import { BATCH_BYTES, placeColumn } from './message-buffers.ts';
import type { MessageBuffers } from './message-buffers.ts';
import { numberColumn } from './packed-columns.ts';
import type { PackedType } from './packed-columns.ts';
import type { BatchPacking } from './packing.ts';

/**
 * Windows of several groups in one array, because a view in a message costs about as much as
 * copying a kilobyte. Columns have no nulls, strings or booleans.
 */
export type PackedAggregates = {
  readonly kind: 'packed-aggregates';
  readonly tagKeys: readonly string[];
  /** Values of the first group's tags, then those of the next. */
  readonly tagValues: readonly string[];
  /** The measurement of each group; absent where all belong to the first. */
  readonly sources?: readonly number[] | undefined;
  /**
   * Number of windows of each group. In a message a list of numbers costs less than a typed array.
   */
  readonly windowCounts: readonly number[];
  /**
   * A letter per column: the first of its type, a capital letter if its points have times. A space
   * after the columns of each field.
   */
  readonly layout: string;
  /** For each group its starts, then the values and the times of each column. */
  readonly words: Float64Array<ArrayBuffer>;
};

export const AGGREGATES_PACKING: BatchPacking<AggregateBatch, PackedAggregates> = {
  sizeOf: ({ groupTags, windowStarts, fields, points = [] }) => {
    let bytes = BATCH_BYTES + tagsBytes(groupTags) + windowStarts.byteLength;
    for (const field of fields) {
      for (const { values, pointTimes } of field) {
        bytes += columnBytes(values) + (pointTimes?.byteLength ?? 0);
      }
    }
    for (const { counts, values, times, columns = [] } of points.flat()) {
      bytes += counts.byteLength + columnBytes(values) + (times?.byteLength ?? 0);
      for (const column of columns) bytes += columnBytes(column);
    }
    return bytes;
  },
  packRun: (batches, at, buffers) => {
    const packed = packAggregates(batches, at);
    if (packed === undefined) return undefined;
    const sent = { ...packed, words: buffers.place(packed.words) };
    return { sent, count: packed.windowCounts.length };
  },
  packOne: (batch, buffers) => ({
    ...batch,
    windowStarts: buffers.place(batch.windowStarts),
    fields: batch.fields.map((columns) => columns.map((column) => placed(column, buffers))),
    ...(batch.points && {
      points: batch.points.map((all) => all.map((each) => placedPoints(each, buffers))),
    }),
  }),
  unpackRun: (sent) => ('kind' in sent ? unpackAggregates(sent) : undefined),
};

function placed({ values, pointTimes }: AggregateColumn, buffers: MessageBuffers): AggregateColumn {
  const column = { values: placeColumn(values, buffers) };
  return pointTimes === undefined ? column : { ...column, pointTimes: buffers.place(pointTimes) };
}

function placedPoints(
  { counts, values, times, columns }: WindowPoints,
  buffers: MessageBuffers,
): WindowPoints {
  return {
    counts: buffers.place(counts),
    values: placeColumn(values, buffers),
    ...(times && { times: buffers.place(times) }),
    ...(columns && { columns: columns.map((column) => placeColumn(column, buffers)) }),
  };
}

/** Batches with more windows are transferred instead of copied. */
const WINDOWS_MAX = 1024;

/** Packs the batches from `at` on, if at least two can be packed. */
function packAggregates(
  batches: readonly AggregateBatch[],
  at: number,
): PackedAggregates | undefined {
  const first = batches[at];
  if (!isPackable(first)) return undefined;
  const layout = layoutOf(first);
  const tagKeys = [...first.groupTags.keys()];
  let end = at + 1;
  for (; end < batches.length; end++) {
    const next = batches[end];
    if (!isPackable(next) || layoutOf(next) !== layout || !hasTags(next, tagKeys)) break;
  }
  const chosen = batches.slice(at, end);
  let perWindow = 1;
  for (const letter of layout) perWindow += letter === ' ' ? 0 : letter >= 'a' ? 1 : 2;
  const windowCounts = chosen.map(({ windowStarts }) => windowStarts.length);
  const words = new Float64Array(windowCounts.reduce((sum, n) => sum + n, 0) * perWindow);
  const tagValues: string[] = [];
  let word = 0;
  const place = (values: BigInt64Array | BigUint64Array | Float64Array): void => {
    const { buffer, byteOffset, length } = values;
    words.set(new Float64Array(buffer, byteOffset, length), word);
    word += length;
  };
  const sources = chosen.map(({ source = 0 }) => source);
  for (const { groupTags, windowStarts, fields } of chosen) {
    for (const key of tagKeys) tagValues.push(groupTags.get(key) ?? '');
    place(windowStarts);
    for (const { values, pointTimes } of fields.flat()) {
      if (values.type !== 'string' && values.type !== 'boolean') place(values.values);
      if (pointTimes !== undefined) place(pointTimes);
    }
  }
  const packed = { tagKeys, tagValues, windowCounts, layout, words };
  return { kind: 'packed-aggregates', ...packed, ...(sources.some(Boolean) && { sources }) };
}

const LETTERS = { float: 'f', integer: 'i', unsigned: 'u' } as const;

/** `isPackable` has checked the types. */
function layoutOf({ fields }: AggregateBatch): string {
  let layout = '';
  for (const field of fields) {
    for (const { values, pointTimes } of field) {
      const letter = LETTERS[values.type as PackedType];
      layout += pointTimes === undefined ? letter : letter.toUpperCase();
    }
    layout += ' ';
  }
  return layout;
}

function isPackable(batch: AggregateBatch | undefined): batch is AggregateBatch {
  if (batch === undefined || batch.windowStarts.length > WINDOWS_MAX) return false;
  if (batch.points !== undefined || batch.isTied === true) return false;
  return batch.fields.every((field) =>
    field.every(({ values: { type, valid } }) => {
      return type !== 'string' && type !== 'boolean' && valid === undefined;
    }),
  );
}

function hasTags({ groupTags }: AggregateBatch, tagKeys: readonly string[]): boolean {
  return groupTags.size === tagKeys.length && tagKeys.every((key) => groupTags.has(key));
}

/** Restores the packed batches. Their arrays are views of the message. */
function unpackAggregates(packed: PackedAggregates): AggregateBatch[] {
  const { tagKeys, tagValues, windowCounts, sources } = packed;
  const fields = packed.layout
    .split(' ')
    .slice(0, -1)
    .map((letters) => Array.from(letters, columnLayout));
  const { buffer, byteOffset } = packed.words;
  let at = byteOffset;
  const take = (count: number): number => {
    const start = at;
    at += count * 8;
    return start;
  };
  return windowCounts.map((count, group): AggregateBatch => {
    const tags = tagKeys.map((key, i) => [key, tagValues[group * tagKeys.length + i]!] as const);
    const windowStarts = new BigInt64Array(buffer, take(count), count);
    const columns = fields.map((field) =>
      field.map(({ type, hasTimes }): AggregateColumn => {
        const values = numberColumn(type, { buffer, at: take(count), count });
        if (!hasTimes) return { values };
        return { values, pointTimes: new BigInt64Array(buffer, take(count), count) };
      }),
    );
    const source = sources?.[group] ?? 0;
    const batch = { groupTags: new Map(tags), windowStarts, fields: columns };
    return source === 0 ? batch : { ...batch, source };
  });
}

function columnLayout(letter: string): { readonly type: PackedType; readonly hasTimes: boolean } {
  switch (letter.toLowerCase()) {
    case 'f':
      return { type: 'float', hasTimes: letter === 'F' };
    case 'i':
      return { type: 'integer', hasTimes: letter === 'I' };
    default:
      return { type: 'unsigned', hasTimes: letter === 'U' };
  }
}
