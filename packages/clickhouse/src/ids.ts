// Ids of series and columns: 64 bits of a cryptographic hash, so that all front ends compute the
// same ids without coordination.
import { createHash } from 'node:crypto';

import type { FieldType } from '@tidemark/core';

/** The id of a series, from its canonical key. */
export function seriesIdOf(key: Uint8Array): bigint {
  return createHash('sha256').update(key).digest().readBigUInt64LE(0);
}

/** The id of a column: a field of a measurement in one of its types. */
export function columnIdOf(measurement: string, field: string, type: FieldType): bigint {
  const text = `${measurement}\0${field}\0${type}`;
  return createHash('sha256').update(text).digest().readBigUInt64LE(0);
}
