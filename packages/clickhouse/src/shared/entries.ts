// Entries of the list that front ends agree on, as text.
import type { FieldType } from '@tidemark/core';

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

/** A field of a measurement in a shard group. */
export type FieldPlace = {
  readonly group: number;
  readonly measurement: string;
  readonly field: string;
};

/** What points need before they are stored. */
export type Additions = {
  readonly groups: readonly ShardGroup[];
  readonly fields: readonly (FieldPlace & { readonly type: FieldType })[];
};

export type SharedEntry =
  | ({ readonly kind: 'add' } & Additions)
  | { readonly kind: 'drop-groups'; readonly ids: readonly number[] }
  | {
      readonly kind: 'drop-measurement';
      readonly measurement: string;
      readonly groups: readonly number[];
    }
  /** Series of these groups may have gone: who writes to them says so again. */
  | { readonly kind: 'series-gone'; readonly groups: readonly number[] }
  | { readonly kind: 'catalog'; readonly text: string }
  /** Empty: nobody. */
  | { readonly kind: 'leader'; readonly holder: string };

/** 64-bit numbers are texts. */
export function printShared(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? `${one}n` : one));
}

/** Of what `printShared` has written. */
export function parseShared<T>(text: string): T {
  return JSON.parse(text, (key, value: unknown) =>
    (key === 'start' || key === 'end') && typeof value === 'string'
      ? BigInt(value.slice(0, -1))
      : value,
  ) as T;
}
