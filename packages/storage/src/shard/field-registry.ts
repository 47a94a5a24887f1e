// The field types of a shard. The type of a field's first value stays until the measurement is
// dropped.
import type { FieldType } from '@tidemark/core';

import type { SchemaChanges } from '../series/schema-version.ts';

/**
 * How often a field has lost its type, over all shards of an engine. The ingest kernel keeps types
 * by itself and forgets them when this number changes.
 */
export class FieldRemovals {
  count = 0;
}

/**
 * Most measurements that clients make up by mistake have one field; a map of one takes four times
 * the memory.
 */
type OneField = readonly [field: string, type: FieldType];

/** The field types of a shard, for those that do not own it. */
export type FieldTypes = Pick<FieldRegistry, 'get' | 'of' | 'measurementIds'>;

export class FieldRegistry {
  readonly #fields = new Map<number, Map<string, FieldType> | OneField>();
  readonly #changes: SchemaChanges;
  readonly #removals: FieldRemovals;

  constructor(changes: SchemaChanges, removals: FieldRemovals) {
    this.#changes = changes;
    this.#removals = removals;
  }

  get(measurementId: number, field: string): FieldType | undefined {
    const fields = this.#fields.get(measurementId);
    if (fields === undefined || fields instanceof Map) return fields?.get(field);
    return fields[0] === field ? fields[1] : undefined;
  }

  set(measurementId: number, field: string, type: FieldType): void {
    const fields = this.#fields.get(measurementId);
    if (fields === undefined) this.#fields.set(measurementId, [field, type]);
    else if (fields instanceof Map) fields.set(field, type);
    else this.#fields.set(measurementId, new Map([fields, [field, type]]));
    this.#changes.names();
  }

  of(measurementId: number): ReadonlyMap<string, FieldType> {
    const fields = this.#fields.get(measurementId);
    if (fields === undefined || fields instanceof Map) return fields ?? NO_FIELDS;
    return new Map([fields]);
  }

  remove(measurementId: number, field: string): void {
    const fields = this.#fields.get(measurementId);
    if (fields instanceof Map) fields.delete(field);
    else if (fields?.[0] === field) this.#fields.delete(measurementId);
    this.#removals.count++;
    this.#changes.names();
  }

  removeMeasurement(measurementId: number): void {
    this.#fields.delete(measurementId);
    this.#removals.count++;
    this.#changes.names();
  }

  measurementIds(): Iterable<number> {
    return this.#fields.keys();
  }
}

const NO_FIELDS: ReadonlyMap<string, FieldType> = new Map();
