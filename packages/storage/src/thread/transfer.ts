// Prepares batches for another thread. Large arrays are transferred; small ones are packed into a
// few buffers, because each buffer of a message costs as much as copying some kilobytes.
import { columnBytes, rowsBytes, tagsBytes, textBytes } from '@tidemark/core';
import type { Column } from '@tidemark/core';
import type { SchemaBatch } from '@tidemark/query';

import { columnOf, valuesOf } from '../columns/run.ts';
import { packAggregates, unpackAggregates } from './packed-aggregates.ts';
import { packRows, unpackRows } from './packed-rows.ts';
import type { PackedSchema, SentBatch, StreamBatch } from './protocol.ts';
import { schemaBatchBytes } from './schema-size.ts';

type AnyArray = BigInt64Array | BigUint64Array | Float64Array | Uint8Array | Uint32Array;

const HANDED_OVER_BYTES = 16 << 10;
const FIRST_SLAB_BYTES = 2 << 10;
const SLAB_BYTES_MAX = 256 << 10;

/** Collects the buffers of one message. */
export class MessageBuffers {
  readonly #buffers = new Set<ArrayBuffer>();
  #slab = new ArrayBuffer(0);
  #slabUsed = 0;

  /** The buffers to transfer. */
  get all(): readonly ArrayBuffer[] {
    return [...this.#buffers];
  }

  /** Moves an array to a buffer of this message. The given array must not be used any more. */
  place<T extends AnyArray>(array: T): T {
    const { buffer, byteLength } = array;
    if (byteLength >= HANDED_OVER_BYTES) {
      const isWhole = byteLength === buffer.byteLength && !this.#buffers.has(buffer as ArrayBuffer);
      const owned = (isWhole ? array : array.slice()) as T;
      this.#buffers.add(owned.buffer as ArrayBuffer);
      return owned;
    }
    const at = this.#reserve(byteLength);
    // The same class of array, as a view of the slab.
    const Kind = array.constructor as new (buffer: ArrayBuffer, at: number, length: number) => T;
    const packed = new Kind(this.#slab, at, array.length);
    (packed as Uint8Array).set(array as Uint8Array);
    return packed;
  }

  /** Reserves bytes of the slab, aligned to eight. */
  #reserve(sizeBytes: number): number {
    const at = (this.#slabUsed + 7) & ~7;
    if (at + sizeBytes <= this.#slab.byteLength) {
      this.#slabUsed = at + sizeBytes;
      return at;
    }
    const doubled = Math.min(SLAB_BYTES_MAX, this.#slab.byteLength * 4);
    this.#slab = new ArrayBuffer(Math.max(FIRST_SLAB_BYTES, doubled, sizeBytes));
    this.#buffers.add(this.#slab);
    this.#slabUsed = sizeBytes;
    return 0;
  }
}

/** Prepares batches, which must not be used any more, and lists the buffers to transfer. */
export function prepareBatches(batches: readonly StreamBatch[]): {
  readonly prepared: readonly SentBatch[];
  readonly transfer: readonly ArrayBuffer[];
} {
  const buffers = new MessageBuffers();
  const prepared: SentBatch[] = [];
  for (let at = 0; at < batches.length;) {
    const schema = packSchema(batches, at);
    if (schema !== undefined) {
      prepared.push(schema);
      at += schema.count;
      continue;
    }
    const rows = packRows(batches, at);
    const aggregates = rows === undefined ? packAggregates(batches, at) : undefined;
    const packed = rows ?? aggregates;
    if (packed === undefined) {
      prepared.push(prepareBatch(batches[at++]!, buffers));
      continue;
    }
    prepared.push({ ...packed, words: buffers.place(packed.words) });
    at += rows?.rowCounts.length ?? aggregates?.windowCounts.length ?? 0;
  }
  return { prepared, transfer: buffers.all };
}

/** Packs the schema batches from `at` on, if there are at least two. */
function packSchema(batches: readonly StreamBatch[], at: number): PackedSchema | undefined {
  let end = at;
  while (end < batches.length && isJson(batches[end]!)) end++;
  const count = end - at;
  if (count < 2) return undefined;
  return { kind: 'packed-schema', count, text: JSON.stringify(batches.slice(at, end)) };
}

/** Names have times of shards, which JSON lacks. */
function isJson(batch: StreamBatch): boolean {
  return 'kind' in batch && batch.kind !== 'names' && batch.kind !== 'cost';
}

/** Restores the batches of a message. Arrays of packed batches are views of the message. */
export function receivedBatches(sent: readonly SentBatch[]): readonly StreamBatch[] {
  const batches: StreamBatch[] = [];
  for (const batch of sent) {
    if (!('kind' in batch)) batches.push(batch);
    else if (batch.kind === 'packed-rows') batches.push(...unpackRows(batch));
    else if (batch.kind === 'packed-aggregates') batches.push(...unpackAggregates(batch));
    else if (batch.kind === 'packed-schema') {
      // The text is one of `packSchema`.
      batches.push(...(JSON.parse(batch.text) as SchemaBatch[]));
    } else batches.push(batch);
  }
  return batches;
}

/** Moves the arrays of a batch to buffers of a message. */
export function prepareBatch(batch: StreamBatch, buffers: MessageBuffers): StreamBatch {
  if ('kind' in batch) return batch;
  if ('seriesKey' in batch) {
    const { times, columns } = batch;
    return { ...batch, times: buffers.place(times), columns: placeColumns(columns, buffers) };
  }
  return {
    ...batch,
    windowStarts: buffers.place(batch.windowStarts),
    fields: batch.fields.map((columns) =>
      columns.map(({ values, pointTimes }) => ({
        values: placeColumn(values, buffers),
        ...(pointTimes === undefined ? {} : { pointTimes: buffers.place(pointTimes) }),
      })),
    ),
  };
}

/** A column that stands in several places, because it has only nulls, is sent once. */
function placeColumns(columns: readonly Column[], buffers: MessageBuffers): Column[] {
  const placed = new Map<Column, Column>();
  return columns.map((column) => {
    const known = placed.get(column) ?? placeColumn(column, buffers);
    placed.set(column, known);
    return known;
  });
}

function placeColumn(column: Column, buffers: MessageBuffers): Column {
  const values = buffers.place(valuesOf(column));
  const valid = column.valid === undefined ? undefined : buffers.place(column.valid);
  const dictionary = column.type === 'string' ? column.dictionary : undefined;
  return columnOf(column.type, { values, valid, dictionary });
}

/** Size of a batch, texts included: limits the size of messages. */
export function batchBytes(batch: StreamBatch): number {
  if ('seriesKey' in batch) {
    const series = textBytes(batch.seriesKey) + tagsBytes(batch.tags);
    return BATCH_BYTES + series + rowsBytes(batch.times, batch.columns);
  }
  if ('windowStarts' in batch) {
    let bytes = BATCH_BYTES + tagsBytes(batch.groupTags) + batch.windowStarts.byteLength;
    for (const field of batch.fields) {
      for (const { values, pointTimes } of field) {
        bytes += columnBytes(values) + (pointTimes?.byteLength ?? 0);
      }
    }
    return bytes;
  }
  return batch.kind === 'cost' ? BATCH_BYTES : schemaBatchBytes(batch);
}

const BATCH_BYTES = 200;
