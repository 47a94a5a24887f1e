// Packs small aggregates of many groups into one array of 64-bit words, and unpacks them.
import type { AggregateBatch, AggregateColumn } from '@tidemark/query';

import { numberColumn } from './packed-columns.ts';
import type { PackedAggregates, PackedType, StreamBatch } from './protocol.ts';

/** Batches with more windows are transferred instead of copied. */
const WINDOWS_MAX = 1024;

/** Packs the batches from `at` on, if at least two can be packed. */
export function packAggregates(
  batches: readonly StreamBatch[],
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
  const chosen = batches.slice(at, end) as AggregateBatch[];
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

function isPackable(batch: StreamBatch | undefined): batch is AggregateBatch {
  if (batch === undefined || !('windowStarts' in batch)) return false;
  if (batch.windowStarts.length > WINDOWS_MAX) return false;
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
export function unpackAggregates(packed: PackedAggregates): AggregateBatch[] {
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
