// Small aggregates of many groups as one array of 64-bit words, and back.
import type { AggregateBatch, AggregateColumn } from '@tidemark/query';

import { numberColumn } from './packed-columns.ts';
import type { PackedAggregates, PackedType, StreamBatch } from './protocol.ts';

/** Larger batches are handed over instead of copied. */
const WINDOWS_MAX = 1024;

/**
 * The batches from `at` on that go into one array, at least two; `undefined` when there are none.
 */
export function packAggregates(
  batches: readonly StreamBatch[],
  at: number,
): PackedAggregates | undefined {
  const first = batches[at];
  if (!isPackable(first)) return undefined;
  const columns = first.fields.map((field) => field.map(layoutOf));
  const tagKeys = [...first.groupTags.keys()];
  let end = at + 1;
  for (; end < batches.length; end++) {
    const next = batches[end];
    if (!isPackable(next) || !isAlike(next, columns, tagKeys)) break;
  }
  if (end - at < 2) return undefined;
  const chosen = batches.slice(at, end) as AggregateBatch[];
  const perWindow = 1 + columns.flat().reduce((sum, { hasTimes }) => sum + (hasTimes ? 2 : 1), 0);
  const windowCounts = Uint32Array.from(chosen, ({ windowStarts }) => windowStarts.length);
  const words = new Float64Array(windowCounts.reduce((sum, n) => sum + n, 0) * perWindow);
  const tagValues: string[] = [];
  let word = 0;
  const place = (values: BigInt64Array | BigUint64Array | Float64Array): void => {
    const { buffer, byteOffset, length } = values;
    words.set(new Float64Array(buffer, byteOffset, length), word);
    word += length;
  };
  for (const { groupTags, windowStarts, fields } of chosen) {
    for (const key of tagKeys) tagValues.push(groupTags.get(key) ?? '');
    place(windowStarts);
    for (const { values, pointTimes } of fields.flat()) {
      if (values.type !== 'string' && values.type !== 'boolean') place(values.values);
      if (pointTimes !== undefined) place(pointTimes);
    }
  }
  return { kind: 'packed-aggregates', tagKeys, tagValues, windowCounts, columns, words };
}

type Layout = PackedAggregates['columns'][number][number];

/** The type has been looked at. */
function layoutOf({ values, pointTimes }: AggregateColumn): Layout {
  return { type: values.type as PackedType, hasTimes: pointTimes !== undefined };
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

function isAlike(
  batch: AggregateBatch,
  columns: PackedAggregates['columns'],
  tagKeys: readonly string[],
): boolean {
  const { fields, groupTags } = batch;
  if (groupTags.size !== tagKeys.length || !tagKeys.every((key) => groupTags.has(key))) {
    return false;
  }
  if (fields.length !== columns.length) return false;
  return columns.every(
    (field, i) =>
      field.length === fields[i]?.length &&
      field.every(({ type, hasTimes }, j) => {
        const column = fields[i]?.[j];
        return column?.values.type === type && (column.pointTimes !== undefined) === hasTimes;
      }),
  );
}

/** The batches as they were before they were packed; their arrays are views of the message. */
export function unpackAggregates(packed: PackedAggregates): AggregateBatch[] {
  const { tagKeys, tagValues, windowCounts, columns } = packed;
  const { buffer, byteOffset } = packed.words;
  let at = byteOffset;
  const take = (count: number): number => {
    const start = at;
    at += count * 8;
    return start;
  };
  return Array.from(windowCounts, (count, group): AggregateBatch => {
    const tags = tagKeys.map((key, i) => [key, tagValues[group * tagKeys.length + i]!] as const);
    const windowStarts = new BigInt64Array(buffer, take(count), count);
    const fields = columns.map((field) =>
      field.map(({ type, hasTimes }): AggregateColumn => {
        const values = numberColumn(type, { buffer, at: take(count), count });
        if (!hasTimes) return { values };
        return { values, pointTimes: new BigInt64Array(buffer, take(count), count) };
      }),
    );
    return { groupTags: new Map(tags), windowStarts, fields };
  });
}
