// Ids of series and of columns: 64 bits of a cryptographic hash of what they stand for, so that
// every front end gives the same ones without asking.
import { createHash } from 'node:crypto';

import type { FieldType } from '@tidemark/core';

/** Of a canonical series key. */
export function seriesIdOf(key: Uint8Array): bigint {
  return createHash('sha256').update(key).digest().readBigUInt64LE(0);
}

/** Of a field of a measurement in one of its types: values of one column have one type. */
export function columnIdOf(measurement: string, field: string, type: FieldType): bigint {
  const text = `${measurement}\0${field}\0${type}`;
  return createHash('sha256').update(text).digest().readBigUInt64LE(0);
}
