// Entries of the list that front ends agree on, as text.
import type { FieldType, ListedDocument } from '@tidemark/core';

import type { NewDelete } from './deletes.ts';

/** A span of time of a retention policy. Half-open: [start, end). */
export type ShardGroup = {
  /** Never given twice. */
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

/** A tag key that some series of a measurement have in a shard group; empty: it has any series. */
export type TagInGroup = MeasurementInGroup & { readonly tag: string };

/** What points need before they are stored. */
export type Additions = {
  readonly groups: readonly ShardGroup[];
  readonly fields: readonly (FieldInGroup & { readonly type: FieldType })[];
  readonly tags: readonly TagInGroup[];
};

/** Whether there is nothing to agree on. */
export function isNothing({ groups, fields, tags }: Additions): boolean {
  return groups.length === 0 && fields.length === 0 && tags.length === 0;
}

/** The row that holds a document, and what lists show of it. */
export type StoredDocument = { readonly row: string; readonly listed: ListedDocument };

export type SharedEntry =
  | ({ readonly kind: 'add' } & Additions)
  | { readonly kind: 'drop-groups'; readonly ids: readonly number[] }
  /** Its position in the list is its place in the order of writes. */
  | { readonly kind: 'delete'; readonly deleted: NewDelete }
  /** The types of its fields go with the rows of a measurement. */
  | {
      readonly kind: 'drop-measurement';
      readonly measurement: string;
      readonly deleted: NewDelete;
    }
  /** Rows of these deletes are no longer stored. */
  | { readonly kind: 'deletes-removed'; readonly versions: readonly bigint[] }
  /** No series has these tag keys any more. Series of the groups are announced again. */
  | {
      readonly kind: 'series-gone';
      readonly groups: readonly number[];
      readonly tags: readonly TagInGroup[];
    }
  | { readonly kind: 'catalog'; readonly text: string }
  /** `undefined`: it is gone. */
  | { readonly kind: 'document'; readonly key: string; readonly stored: StoredDocument | undefined }
  /** Empty when no front end has the lease. */
  | { readonly kind: 'leader'; readonly holder: string };

/** 64-bit numbers are texts. */
export function printShared(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? `${one}n` : one));
}

/** Parses what `printShared` has written. */
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
