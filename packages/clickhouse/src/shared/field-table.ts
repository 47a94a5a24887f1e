// Types of fields by shard group and measurement.
import type { FieldType } from '@tidemark/core';

import type { FieldPlace } from './entries.ts';

/** By name of the field. */
export type FieldTypes = ReadonlyMap<string, FieldType>;

const NONE: FieldTypes = new Map();

export class FieldTable {
  readonly #groups = new Map<number, Map<string, Map<string, FieldType>>>();

  typesOf(group: number, measurement: string): FieldTypes {
    return this.#groups.get(group)?.get(measurement) ?? NONE;
  }

  /** The first type stays. */
  add({ group, measurement, field }: FieldPlace, type: FieldType): void {
    let measurements = this.#groups.get(group);
    if (measurements === undefined) this.#groups.set(group, (measurements = new Map()));
    let fields = measurements.get(measurement);
    if (fields === undefined) measurements.set(measurement, (fields = new Map()));
    if (!fields.has(field)) fields.set(field, type);
  }

  delete({ group, measurement, field }: FieldPlace): void {
    this.#groups.get(group)?.get(measurement)?.delete(field);
  }

  deleteMeasurement(group: number, measurement: string): void {
    this.#groups.get(group)?.delete(measurement);
  }

  deleteGroup(group: number): void {
    this.#groups.delete(group);
  }

  /** Nested arrays, for a text that names nothing twice. */
  entries(): FieldEntries {
    return Array.from(this.#groups, ([group, measurements]) => [
      group,
      Array.from(measurements, ([measurement, fields]) => [measurement, [...fields]]),
    ]);
  }

  addAll(entries: FieldEntries): void {
    for (const [group, measurements] of entries) {
      for (const [measurement, fields] of measurements) {
        for (const [field, type] of fields) this.add({ group, measurement, field }, type);
      }
    }
  }

  clear(): void {
    this.#groups.clear();
  }
}

export type FieldEntries = readonly (readonly [
  group: number,
  measurements: readonly (readonly [
    measurement: string,
    fields: readonly (readonly [field: string, type: FieldType])[],
  ])[],
])[];
