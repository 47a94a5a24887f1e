// Deletes that front ends have agreed on and whose rows may still be stored; reads hide these rows.
import type { TimeRange } from '@tidemark/core';
import { textMatcher } from '@tidemark/query';
import type { DeleteRequest } from '@tidemark/storage-api';

/** The series of a database that a delete covers. */
export type SeriesFilter = Pick<DeleteRequest, 'measurements' | 'measurementPattern' | 'where'>;

/** A delete without a version yet. */
export type NewDelete = {
  /** Shard groups that it covers, of any policy. */
  readonly groups: readonly number[];
  readonly filter: SeriesFilter;
  /** `undefined`: all times. */
  readonly timeRange?: TimeRange | undefined;
  /** Columns of a dropped measurement, which the registry no longer knows. */
  readonly columns?: readonly string[] | undefined;
};

/** Hides rows with lower versions. Versions of deletes are unique. */
export type Delete = NewDelete & { readonly version: bigint };

export class Deletes {
  #all: readonly Delete[] = [];

  get all(): readonly Delete[] {
    return this.#all;
  }

  /** Adds a delete, which replaces earlier ones that cover nothing else. */
  add(added: Delete): void {
    const replaced = this.#all.filter((one) => covers(added, one));
    const columns = [added, ...replaced].flatMap((one) => one.columns ?? []);
    const merged = columns.length === 0 ? added : { ...added, columns: [...new Set(columns)] };
    this.#all = [...this.#all.filter((one) => !replaced.includes(one)), merged];
  }

  /** The last delete with the same scope; `undefined` when its groups are dropped. */
  latest(scope: NewDelete): Delete | undefined {
    const wanted = scopeOf(scope);
    return this.#all.findLast((one) => scopeOf(one) === wanted);
  }

  /** Forgets deletes whose rows are no longer stored. */
  remove(versions: readonly bigint[]): void {
    this.#all = this.#all.filter(({ version }) => !versions.includes(version));
  }

  /** Dropped shard groups have no rows to hide. */
  dropGroups(ids: readonly number[]): void {
    const dropped = new Set(ids);
    this.#all = this.#all.flatMap((one) => {
      const groups = one.groups.filter((group) => !dropped.has(group));
      if (groups.length === one.groups.length) return [one];
      return groups.length === 0 ? [] : [{ ...one, groups }];
    });
  }

  restore(all: readonly Delete[]): void {
    this.#all = all;
  }
}

/** Whether a delete covers series of a measurement. */
export function coversMeasurement(
  { filter: { measurements, measurementPattern } }: NewDelete,
  measurement: string,
): boolean {
  if (measurements?.includes(measurement) === false) return false;
  return measurementPattern === undefined || textMatcher(measurementPattern)(measurement);
}

/** Whether a later delete covers everything that an earlier one covers. */
function covers(later: Delete, earlier: Delete): boolean {
  const groups = new Set(later.groups);
  if (!earlier.groups.every((group) => groups.has(group))) return false;
  const { filter, timeRange } = later;
  const { where } = filter;
  const isSame =
    measurementsOf(later) === measurementsOf(earlier) &&
    (where === undefined || JSON.stringify(where) === JSON.stringify(earlier.filter.where));
  if (!isSame || timeRange === undefined) return isSame;
  const range = earlier.timeRange;
  return range !== undefined && timeRange.start <= range.start && timeRange.end >= range.end;
}

function measurementsOf({ filter }: NewDelete): string {
  return JSON.stringify([filter.measurements, filter.measurementPattern]);
}

function scopeOf(deleted: NewDelete): string {
  const { filter, timeRange } = deleted;
  const range = timeRange === undefined ? [] : [String(timeRange.start), String(timeRange.end)];
  return JSON.stringify([measurementsOf(deleted), filter.where, range]);
}
