// The size of answers to schema look-ups: limits what is cached of them, and the size of a message.
import { textBytes } from '@tidemark/core';
import type { SchemaBatch } from '@tidemark/query';

const BATCH_BYTES = 200;

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
