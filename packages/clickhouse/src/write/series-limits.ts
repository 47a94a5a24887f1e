// The soft limits on new series of a policy. The series of the cluster are read before the first
// write of a database and from time to time, so several front ends together may exceed the limit.
import type { Clock } from '@tidemark/core';
import { parseSeriesKey, seriesLimit, tagValueLimit } from '@tidemark/storage-api';
import type { PolicyRef, StorageLog } from '@tidemark/storage-api';

import type { Cluster } from '../cluster/cluster.ts';
import { seriesIdOf } from '../ids.ts';
import { LIMITS } from '../limits.ts';
import { FailureLog } from '../periodic-job.ts';
import { liveSeries } from '../read/live.ts';
import { partsOf } from '../read/parts.ts';
import type { Registry } from '../shared/registry.ts';
import { RowReader } from '../sql/row-binary.ts';

export type LimitParts = {
  readonly cluster: Cluster;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly log: StorageLog;
};

/** Shards that do not answer are left out; they take no new series either. */
const SKIP_UNREACHABLE = { onUnreachable: () => undefined };

type Limits = Pick<PolicyRef, 'database' | 'maxSeriesPerDatabase' | 'maxValuesPerTag'>;

/** Admits the series of one request. */
export type Admission = {
  admit(key: Uint8Array): string | number;
  /** Counts the values of tags that were admitted. */
  end(): void;
};

type Known = {
  /** Series of the cluster, ascending. */
  readonly ids: BigUint64Array;
  /**
   * Series that were admitted since the read, and before it but may not have been stored by then.
   */
  readonly added: Set<bigint>;
  readonly addedBefore: ReadonlySet<bigint>;
  /** Tag values by measurement and tag key. */
  readonly values: Map<string, Set<string>>;
  readonly atMs: number;
};

export class SeriesLimits {
  readonly #parts: LimitParts;
  readonly #known = new Map<string, Known>();
  readonly #loading = new Map<string, Promise<void>>();
  readonly #failures: FailureLog;

  constructor(parts: LimitParts) {
    this.#parts = parts;
    this.#failures = new FailureLog(parts.log, 'read again which series there are');
  }

  /** Must be awaited before a request is parsed; `undefined` if nothing has to be read. */
  ready(limits: Limits): Promise<void> | undefined {
    const { database, maxSeriesPerDatabase, maxValuesPerTag } = limits;
    if (maxSeriesPerDatabase === 0 && maxValuesPerTag === 0) return undefined;
    const known = this.#known.get(database);
    if (known === undefined) return this.#load(limits);
    const isOld = this.#parts.clock.monotonicMs() - known.atMs > LIMITS.seriesCountMs.value;
    // Later requests use the result; this one uses the last one.
    if (isOld)
      void this.#load(limits).then(
        () => this.#failures.succeeded(),
        (error: unknown) => this.#failures.failed(error),
      );
    return undefined;
  }

  /** The admission for one request; `undefined` if there is no limit. */
  admission(limits: Limits): Admission | undefined {
    const known = this.#known.get(limits.database);
    const { maxSeriesPerDatabase: most, maxValuesPerTag } = limits;
    if (known === undefined || (most === 0 && maxValuesPerTag === 0)) return undefined;
    const values: (readonly [tag: string, value: string])[] = [];
    return {
      admit: (key) => {
        const id = seriesIdOf(key);
        if (isKnown(known, id)) return 0;
        if (most > 0 && countOf(known) >= most) return seriesLimit(most);
        if (maxValuesPerTag > 0) {
          const { measurement, tags } = parseSeriesKey(key);
          for (const [tag, value] of tags) {
            const name = `${measurement}\0${tag}`;
            const held = known.values.get(name);
            if (held !== undefined && held.size >= maxValuesPerTag && !held.has(value))
              return tagValueLimit(
                { measurement, key: tag, value },
                { known: held.size, limit: maxValuesPerTag },
              );
            values.push([name, value]);
          }
        }
        known.added.add(id);
        return 0;
      },
      end: () => {
        for (const [name, value] of values) addTo(known.values, name, value);
      },
    };
  }

  #load(limits: Limits): Promise<void> {
    const { database } = limits;
    let loading = this.#loading.get(database);
    if (loading === undefined) {
      loading = this.#read(limits).finally(() => this.#loading.delete(database));
      this.#loading.set(database, loading);
    }
    return loading;
  }

  async #read({ database, maxValuesPerTag }: Limits): Promise<void> {
    const { cluster, registry, clock } = this.#parts;
    const atMs = clock.monotonicMs();
    const before = this.#known.get(database);
    const sources = partsOf(registry, { database }).map(
      (part) => `SELECT measurement, series, tag_keys, tag_values
        FROM ${liveSeries({ cluster, registry, part })}`,
    );
    const from = `(${sources.join(' UNION ALL ')})`;
    const values = new Map<string, Set<string>>();
    let ids = new BigUint64Array();
    if (sources.length > 0) {
      const answers = await cluster.rowsOfAll(
        `SELECT groupUniqArray(series) FROM ${from}`,
        SKIP_UNREACHABLE,
      );
      ids = sortedIds(answers.flatMap(idsIn));
      if (maxValuesPerTag > 0) await this.#readValues(from, values);
    }
    this.#known.set(database, {
      ids,
      added: new Set(),
      // Series that were admitted during the read may be missing in its result.
      addedBefore: new Set([...(before?.added ?? [])].filter((id) => !holds(ids, id))),
      values,
      atMs,
    });
  }

  async #readValues(from: string, values: Map<string, Set<string>>): Promise<void> {
    const answers = await this.#parts.cluster.rowsOfAll(
      `SELECT measurement, tag_key, groupUniqArray(tag_value) FROM ${from}
       ARRAY JOIN tag_keys AS tag_key, tag_values AS tag_value GROUP BY measurement, tag_key`,
      SKIP_UNREACHABLE,
    );
    for (const answer of answers) {
      const reader = new RowReader(answer);
      while (reader.hasMore) {
        const name = `${reader.text()}\0${reader.text()}`;
        for (const value of reader.texts()) addTo(values, name, value);
      }
    }
  }
}

function addTo(values: Map<string, Set<string>>, name: string, value: string): void {
  const held = values.get(name);
  if (held === undefined) values.set(name, new Set([value]));
  else held.add(value);
}

function countOf({ ids, added, addedBefore }: Known): number {
  return ids.length + added.size + addedBefore.size;
}

function isKnown({ ids, added, addedBefore }: Known, id: bigint): boolean {
  return added.has(id) || addedBefore.has(id) || holds(ids, id);
}

/** A shard that does not answer returns no row. */
function idsIn(answer: Buffer): BigUint64Array[] {
  const reader = new RowReader(answer);
  return reader.hasMore ? [reader.uint64s()] : [];
}

function sortedIds(parts: readonly BigUint64Array[]): BigUint64Array<ArrayBuffer> {
  const all = new BigUint64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all.sort();
}

function holds(ids: BigUint64Array, id: bigint): boolean {
  let from = 0;
  let to = ids.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (ids[middle]! < id) from = middle + 1;
    else to = middle;
  }
  return ids[from] === id;
}
