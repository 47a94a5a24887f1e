// Texts that clients of existing servers match on (reference of the write endpoint, "semantic rules").
import type { FieldType } from '@tidemark/core';

export const BEYOND_RETENTION = 'points beyond retention policy';

export function timeTag(measurement: string): string {
  return `invalid tag key: input tag "time" on measurement "${measurement}" is invalid`;
}

export function timeField(measurement: string): string {
  return `invalid field name: input field "time" on measurement "${measurement}" is invalid`;
}

export function fieldTypeConflict(
  field: { readonly name: string; readonly measurement: string },
  types: { readonly written: FieldType; readonly existing: FieldType },
): string {
  return (
    `field type conflict: input field "${field.name}" on measurement "${field.measurement}" ` +
    `is type ${types.written}, already exists as type ${types.existing}`
  );
}

export function seriesLimit(limit: number): string {
  return `max-series-per-database limit exceeded: (${limit})`;
}

export function tagValueLimit(
  tag: { readonly measurement: string; readonly key: string; readonly value: string },
  counts: { readonly known: number; readonly limit: number },
): string {
  return (
    `max-values-per-tag limit exceeded (${counts.known}/${counts.limit}): ` +
    `measurement="${tag.measurement}" tag="${tag.key}" value="${tag.value}"`
  );
}
