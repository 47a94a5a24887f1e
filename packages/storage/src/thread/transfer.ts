// Batches on their way to another thread: every array owns its buffer, and the buffers are handed over, not copied.
import type { Column } from '@tidemark/core';

import { columnOf, valuesOf } from '../read/run.ts';
import type { StreamBatch } from './protocol.ts';

type AnyArray = BigInt64Array | BigUint64Array | Float64Array | Uint8Array | Uint32Array;

/** The batch with compact arrays; their buffers are added to `transfer`. */
export function prepareBatch(batch: StreamBatch, transfer: Set<ArrayBuffer>): StreamBatch {
  if ('kind' in batch) return batch;
  if ('seriesKey' in batch) {
    return {
      ...batch,
      times: own(batch.times, transfer),
      columns: batch.columns.map((column) => ownColumn(column, transfer)),
    };
  }
  return {
    ...batch,
    windowStarts: own(batch.windowStarts, transfer),
    fields: batch.fields.map((columns) =>
      columns.map(({ values, pointTimes }) => ({
        values: ownColumn(values, transfer),
        ...(pointTimes === undefined ? {} : { pointTimes: own(pointTimes, transfer) }),
      })),
    ),
  };
}

/** Rough size of what a batch holds, to bound what waits in a queue. */
export function batchBytes(batch: StreamBatch): number {
  if ('seriesKey' in batch) return 200 + batch.times.length * 9 * (batch.columns.length + 1);
  if ('windowStarts' in batch) {
    const columns = batch.fields.reduce((sum, field) => sum + field.length, 1);
    return 200 + batch.windowStarts.length * 17 * columns;
  }
  return 1000;
}

function ownColumn(column: Column, transfer: Set<ArrayBuffer>): Column {
  const values = own(valuesOf(column), transfer);
  const valid = column.valid === undefined ? undefined : own(column.valid, transfer);
  const dictionary = column.type === 'string' ? column.dictionary : undefined;
  return columnOf(column.type, { values, valid, dictionary });
}

function own<T extends AnyArray>(array: T, transfer: Set<ArrayBuffer>): T {
  const isWhole =
    array.byteLength === array.buffer.byteLength && !transfer.has(array.buffer as ArrayBuffer);
  const owned = (isWhole ? array : array.slice()) as T;
  if (owned.byteLength > 0) transfer.add(owned.buffer as ArrayBuffer);
  return owned;
}
