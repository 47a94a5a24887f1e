// Field types of a shard: the first written type of a field stays until the measurement is dropped.
import type { FieldType } from '@tidemark/core';

import { schemaChanged } from '../schema-version.ts';

let removals = 0;

/** Grows whenever a field of any shard loses its type: who keeps types that it was told asks again. */
export function fieldRemovals(): number {
  return removals;
}

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
    removals++;
    schemaChanged();
  }

  removeMeasurement(measurementId: number): void {
    this.#fields.delete(measurementId);
    removals++;
    schemaChanged();
  }

  measurementIds(): Iterable<number> {
    return this.#fields.keys();
  }
}

const NO_FIELDS: ReadonlyMap<string, FieldType> = new Map();
