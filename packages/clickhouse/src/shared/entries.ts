// Entries of the shared log, and their text.
import type { FieldType, ListedDocument } from '@tidemark/core';

import type { NewDelete } from './deletes.ts';

/** A span of time of a retention policy. Half-open: [start, end). */
export type ShardGroup = {
  /** Ids are never reused. */
  readonly id: number;
  readonly policyId: number;
  readonly database: string;
  readonly retentionPolicy: string;
  readonly start: bigint;
  readonly end: bigint;
};

/** A measurement in a shard group. */
export type MeasurementInGroup = { readonly group: number; readonly measurement: string };

/** A field of a measurement in a shard group. */
export type FieldInGroup = MeasurementInGroup & { readonly field: string };

/**
 * A tag key of a measurement in a shard group. The empty key says that the measurement has series
 * there.
 */
export type TagInGroup = MeasurementInGroup & { readonly tag: string };

/** Entries that the shared log must have before points are stored. */
export type Additions = {
  readonly groups: readonly ShardGroup[];
  readonly fields: readonly (FieldInGroup & { readonly type: FieldType })[];
  readonly tags: readonly TagInGroup[];
};

/** Whether there are no additions. */
export function isEmpty({ groups, fields, tags }: Additions): boolean {
  return groups.length === 0 && fields.length === 0 && tags.length === 0;
}

/** The row with the text of a document, and its entry in lists. */
export type StoredDocument = { readonly row: string; readonly listed: ListedDocument };

export type SharedEntry =
  | ({ readonly kind: 'add' } & Additions)
  | { readonly kind: 'drop-groups'; readonly ids: readonly number[] }
  /** The position of the entry determines the version of the delete. */
  | { readonly kind: 'delete'; readonly deleted: NewDelete }
  /** Also removes the types of the measurement's fields. */
  | {
      readonly kind: 'drop-measurement';
      readonly measurement: string;
      readonly deleted: NewDelete;
    }
  /** The rows of these deletes are removed. */
  | { readonly kind: 'deletes-removed'; readonly versions: readonly bigint[] }
  /**
   * No series has these tag keys any more. Front ends announce series of the groups again when they
   * are written.
   */
  | {
      readonly kind: 'series-gone';
      readonly groups: readonly number[];
      readonly tags: readonly TagInGroup[];
    }
  | { readonly kind: 'catalog'; readonly text: string }
  /** `undefined` removes the document. */
  | { readonly kind: 'document'; readonly key: string; readonly stored: StoredDocument | undefined }
  /** Empty when no front end has the lease. */
  | { readonly kind: 'leader'; readonly holder: string };

/** JSON with 64-bit integers as strings. */
export function printShared(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? `${one}n` : one));
}

/** Parses the text of `printShared`. */
export function parseShared<T>(text: string): T {
  return JSON.parse(text, (key, value: unknown) => {
    if (key === 'versions' && Array.isArray(value)) return value.map(bigintOf);
    return INT64_KEYS.has(key) ? bigintOf(value) : value;
  }) as T;
}

const INT64_KEYS = new Set(['start', 'end', 'version', 'versionBase']);

function bigintOf(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value;
}
