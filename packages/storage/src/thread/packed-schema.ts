// Packs batches of schema look-ups as JSON, and tells their size, which limits what is cached of
// them, and the size of a message.
import { textBytes } from '@tidemark/core';
import type { SchemaBatch } from '@tidemark/query';

import { BATCH_BYTES } from './message-buffers.ts';
import type { BatchPacking } from './packing.ts';

/**
 * Batches of a schema look-up as JSON: as objects, many small ones take several times as long to
 * send and to receive.
 */
export type PackedSchema = {
  readonly kind: 'packed-schema';
  readonly text: string;
};

export const SCHEMA_PACKING: BatchPacking<SchemaBatch, PackedSchema> = {
  sizeOf: schemaBatchBytes,
  packRun: (batches, at) => {
    let end = at;
    // Names have times of shards, which JSON lacks.
    while (end < batches.length && batches[end]!.kind !== 'names') end++;
    if (end - at < 2) return undefined;
    const text = JSON.stringify(batches.slice(at, end));
    return { sent: { kind: 'packed-schema', text }, count: end - at };
  },
  // The text is one of `packRun`.
  unpackRun: (sent) =>
    sent.kind === 'packed-schema' ? (JSON.parse(sent.text) as SchemaBatch[]) : undefined,
};

/** Rough size of a batch. */
export function schemaBatchBytes(batch: SchemaBatch): number {
  let bytes = BATCH_BYTES;
  const add = (text: string): void => {
    bytes += textBytes(text);
  };
  switch (batch.kind) {
    case 'measurements':
      batch.names.forEach(add);
      break;
    case 'fields':
      for (const { name } of batch.fields) add(name);
      break;
    case 'names':
      batch.tags.forEach(add);
      for (const { name, shards } of batch.fields) {
        add(name);
        bytes += (shards?.length ?? 0) * 4;
      }
      break;
    case 'tag-keys':
    case 'series':
      batch.keys.forEach(add);
      break;
    case 'tag-values':
      batch.values.forEach(add);
      break;
    case 'tag-cardinality':
      for (const { key } of batch.keys) add(key);
      break;
    case 'series-cardinality':
    case 'cardinality':
      break;
  }
  return bytes;
}
