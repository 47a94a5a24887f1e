// A map by shard group, measurement and name, for types of fields and tag keys.
import type { MeasurementInGroup } from './entries.ts';

const NONE: ReadonlyMap<string, never> = new Map<string, never>();

/** By shard group, measurement and name. */
export class NameTable<T> {
  readonly #groups = new Map<number, Map<string, Map<string, T>>>();

  of(group: number, measurement: string): ReadonlyMap<string, T> {
    return this.#groups.get(group)?.get(measurement) ?? NONE;
  }

  /** Measurements with entries in a shard group. */
  measurements(group: number): Iterable<string> {
    return this.#groups.get(group)?.keys() ?? [];
  }

  /** Adds an entry, unless there is one. */
  add({ group, measurement }: MeasurementInGroup, name: string, known: T): void {
    let measurements = this.#groups.get(group);
    if (measurements === undefined) this.#groups.set(group, (measurements = new Map()));
    let names = measurements.get(measurement);
    if (names === undefined) measurements.set(measurement, (names = new Map()));
    if (!names.has(name)) names.set(name, known);
  }

  delete({ group, measurement }: MeasurementInGroup, name: string): void {
    this.#groups.get(group)?.get(measurement)?.delete(name);
  }

  deleteMeasurement(group: number, measurement: string): void {
    this.#groups.get(group)?.delete(measurement);
  }

  deleteGroup(group: number): void {
    this.#groups.delete(group);
  }

  /** The entries as nested arrays, a compact form for texts. */
  entries(): NameTableEntries<T> {
    return Array.from(this.#groups, ([group, measurements]) => [
      group,
      Array.from(measurements, ([measurement, names]) => [measurement, [...names]]),
    ]);
  }

  restore(entries: NameTableEntries<T>): void {
    this.#groups.clear();
    for (const [group, measurements] of entries) {
      for (const [measurement, names] of measurements) {
        for (const [name, known] of names) this.add({ group, measurement }, name, known);
      }
    }
  }
}

export type NameTableEntries<T> = readonly (readonly [
  group: number,
  measurements: readonly (readonly [
    measurement: string,
    names: readonly (readonly [name: string, known: T])[],
  ])[],
])[];
