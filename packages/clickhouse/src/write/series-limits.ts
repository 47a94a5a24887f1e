// Whether a series may be new: the soft limits of a policy. What the cluster has is read before the
// first write of a database and now and then, so that several front ends together may overshoot.
import type { Clock } from '@tidemark/core';
import { parseSeriesKey, seriesLimit, tagValueLimit } from '@tidemark/storage';
import type { PolicyRef, StorageLog } from '@tidemark/storage';

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

/** A shard that does not answer takes no series either. */
const IN_PART = { onUnreachable: () => undefined };

type Limits = Pick<PolicyRef, 'database' | 'maxSeriesPerDatabase' | 'maxValuesPerTag'>;

/** Of one request: gives the reason to refuse a series, or lets it in. */
export type Admission = {
  admit(key: Uint8Array): string | number;
  /** What was let in counts from now on. */
  end(): void;
};

type Known = {
  /** Ascending. */
  readonly ids: BigUint64Array;
  /** Let in since then, which may not be stored yet, and before. */
  readonly added: Set<bigint>;
  readonly addedBefore: ReadonlySet<bigint>;
  /** By measurement and key of the tag. */
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

  /** To be waited for before a request is parsed; `undefined` when there is nothing to wait for. */
  ready(limits: Limits): Promise<void> | undefined {
    const { database, maxSeriesPerDatabase, maxValuesPerTag } = limits;
    if (maxSeriesPerDatabase === 0 && maxValuesPerTag === 0) return undefined;
    const known = this.#known.get(database);
    if (known === undefined) return this.#load(limits);
    const isOld = this.#parts.clock.monotonicMs() - known.atMs > LIMITS.seriesCountMs.value;
    // The next ones use it; until then what is known counts.
    if (isOld)
      void this.#load(limits).then(
        () => this.#failures.succeeded(),
        (error: unknown) => this.#failures.failed(error),
      );
    return undefined;
  }

  /** What admits the series of one request; `undefined` where all are. */
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
        IN_PART,
      );
      ids = together(answers.flatMap(idsIn));
      if (maxValuesPerTag > 0) await this.#readValues(from, values);
    }
    this.#known.set(database, {
      ids,
      added: new Set(),
      // What was let in while this was read may not be part of it.
      addedBefore: new Set([...(before?.added ?? [])].filter((id) => !holds(ids, id))),
      values,
      atMs,
    });
  }

  async #readValues(from: string, values: Map<string, Set<string>>): Promise<void> {
    const answers = await this.#parts.cluster.rowsOfAll(
      `SELECT measurement, tag_key, groupUniqArray(tag_value) FROM ${from}
       ARRAY JOIN tag_keys AS tag_key, tag_values AS tag_value GROUP BY measurement, tag_key`,
      IN_PART,
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

/** Of a shard that does not answer there is no row. */
function idsIn(answer: Buffer): BigUint64Array[] {
  const reader = new RowReader(answer);
  return reader.hasMore ? [reader.uint64s()] : [];
}

function together(parts: readonly BigUint64Array[]): BigUint64Array<ArrayBuffer> {
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
