// Field types of a shard: the first written type of a field stays until the measurement is dropped.
import type { FieldType } from '@tidemark/core';

import { schemaChanged } from '../schema-version.ts';

export class FieldRegistry {
  readonly #fields = new Map<number, Map<string, FieldType>>();

  get(measurementId: number, field: string): FieldType | undefined {
    return this.#fields.get(measurementId)?.get(field);
  }

  set(measurementId: number, field: string, type: FieldType): void {
    let fields = this.#fields.get(measurementId);
    if (fields === undefined) {
      fields = new Map();
      this.#fields.set(measurementId, fields);
    }
    fields.set(field, type);
    schemaChanged();
  }

  of(measurementId: number): ReadonlyMap<string, FieldType> {
    return this.#fields.get(measurementId) ?? NO_FIELDS;
  }

  remove(measurementId: number, field: string): void {
    this.#fields.get(measurementId)?.delete(field);
    schemaChanged();
  }

  removeMeasurement(measurementId: number): void {
    this.#fields.delete(measurementId);
    schemaChanged();
  }

  measurementIds(): Iterable<number> {
    return this.#fields.keys();
  }
}

const NO_FIELDS: ReadonlyMap<string, FieldType> = new Map();
