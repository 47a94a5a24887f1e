// Runs the statements of a schema look-up, and merges and sorts their answers.
import { compareBytes, FIELD_TYPES, formatSeriesKey } from '@tidemark/core';
import type { FieldType } from '@tidemark/core';
import { textMatcher, waitFor } from '@tidemark/query';
import type {
  FieldInShards,
  RequestOptions,
  SchemaBatch,
  SchemaFilter,
  SchemaRequest,
  Steps,
} from '@tidemark/query';

import type { ShardGroup } from '../shared/entries.ts';
import { filterCondition, keyCondition } from '../sql/conditions.ts';
import { RowReader } from '../sql/row-binary.ts';
import { liveSeries } from './live.ts';
import { partsOf } from './parts.ts';
import { readOptions } from './scan.ts';
import type { ReadParts } from './scan.ts';

export type TagPair = { readonly key: string; readonly value: string };

/** A schema look-up. Answers are sorted and have no duplicates. */
export class LookUp {
  readonly #parts: ReadParts;
  readonly #filter: SchemaFilter;
  readonly #options: RequestOptions;

  constructor(parts: ReadParts, filter: SchemaFilter, options: RequestOptions) {
    this.#parts = parts;
    this.#filter = filter;
    this.#options = options;
  }

  *measurements(): Steps<string[]> {
    const readers = yield* this.#ask('measurement', 'measurement', '');
    const names = new Set<string>();
    for (const reader of readers) while (reader.hasMore) names.add(reader.text());
    return [...names].sort(compareBytes);
  }

  /** Fields from the registry, with each of their types once. */
  fieldsOf(measurement: string) {
    const { registry } = this.#parts;
    const groups = partsOf(registry, this.#filter).flatMap((part) => part.groups);
    return sortedTypes(registry.namesOf(groups, measurement), (name) =>
      registry.typesOf(groups, measurement, name),
    );
  }

  /** Fields and tags of each measurement, with the shard groups that have it. */
  names(): Extract<SchemaBatch, { readonly kind: 'names' }>[] {
    const { registry } = this.#parts;
    const { database, measurements, measurementPattern } = this.#filter;
    const all = registry.groupsOf((group) => group.database === database);
    const isWanted = measurementPattern === undefined ? undefined : textMatcher(measurementPattern);
    const wanted = [...new Set(measurements ?? registry.measurementsOf(all))].filter(
      (name) => isWanted?.(name) !== false,
    );
    return wanted.sort(compareBytes).flatMap((measurement) => {
      const held = all.filter(({ id }) => registry.hasSeries(id, measurement));
      if (held.length === 0) return [];
      const tags = new Set(all.flatMap(({ id }) => [...registry.tags(id, measurement)]));
      tags.delete('');
      return {
        kind: 'names',
        measurement,
        tags: [...tags].sort(compareBytes),
        shards: held.sort(byPolicyAndTime),
        fields: this.#heldFields(measurement, held),
        isSettled: false,
      };
    });
  }

  #heldFields(measurement: string, groups: readonly ShardGroup[]): readonly FieldInShards[] {
    const { registry } = this.#parts;
    return sortedTypes(registry.namesOf(groups, measurement), (name) =>
      registry.typesOf(groups, measurement, name),
    ).map(({ name, type }) => ({
      name,
      type,
      shards: groups.flatMap(({ id }, i) =>
        registry.fields(id, measurement).get(name) === type ? [i] : [],
      ),
    }));
  }

  *tagKeys(): Steps<[string, string[]][]> {
    const select = 'measurement, tag_key';
    const readers = yield* this.#ask(select, select, 'ARRAY JOIN tag_keys AS tag_key');
    const keys = new Grouped<string>();
    for (const reader of readers) {
      while (reader.hasMore) {
        const measurement = reader.text();
        const key = reader.text();
        keys.add(measurement, key, key);
      }
    }
    return keys.entries((a, b) => compareBytes(a, b));
  }

  *tagPairs(
    request: Extract<SchemaRequest, { readonly kind: 'tag-values' | 'tag-cardinality' }>,
  ): Steps<[string, TagPair[]][]> {
    const select = 'measurement, tag_key, tag_value';
    const readers = yield* this.#ask(
      select,
      select,
      'ARRAY JOIN tag_keys AS tag_key, tag_values AS tag_value',
      keyCondition('tag_key', request.keys),
    );
    const pairs = new Grouped<TagPair>();
    for (const reader of readers) {
      while (reader.hasMore) {
        const measurement = reader.text();
        const key = reader.text();
        const value = reader.text();
        pairs.add(measurement, `${key}\0${value}`, { key, value });
      }
    }
    return pairs.entries((a, b) => compareBytes(a.key, b.key) || compareBytes(a.value, b.value));
  }

  *series(): Steps<[string, string[]][]> {
    const readers = yield* this.#ask(
      'measurement, any(tag_keys), any(tag_values)',
      'measurement, series',
      '',
    );
    const keys = new Grouped<string>();
    for (const reader of readers) {
      while (reader.hasMore) {
        const measurement = reader.text();
        const names = reader.texts();
        const values = reader.texts();
        const tags = names.map((name, i) => [name, values[i] ?? ''] as const);
        const key = formatSeriesKey(measurement, tags);
        keys.add(measurement, key, key);
      }
    }
    return keys.entries(() => 0);
  }

  /**
   * Number of series by measurement. A series is on one shard only, even if several policies have
   * it.
   */
  *counts(): Steps<[string, number][]> {
    const readers = yield* this.#ask('measurement, uniqExact(series)', 'measurement', '');
    const counts = new Map<string, number>();
    for (const reader of readers) {
      while (reader.hasMore) {
        const measurement = reader.text();
        const count = Number(reader.uint64());
        counts.set(measurement, (counts.get(measurement) ?? 0) + count);
      }
    }
    return [...counts].sort(([a], [b]) => compareBytes(a, b));
  }

  /** Sends one statement to every shard, over the series of all selected policies. */
  *#ask(
    select: string,
    groupBy: string,
    arrayJoin: string,
    condition = '1',
  ): Steps<readonly RowReader[]> {
    const { cluster, registry } = this.#parts;
    const own = filterCondition(this.#filter);
    const sources = partsOf(registry, this.#filter).map(
      (part) => `SELECT measurement, grp, series, tag_keys, tag_values
        FROM ${liveSeries({ cluster, registry, part })} AND ${own}`,
    );
    if (sources.length === 0) return [];
    const answers = yield* waitFor(
      cluster.rowsOfAll(
        `SELECT ${select} FROM (${sources.join(' UNION ALL ')}) ${arrayJoin}
         WHERE ${condition} GROUP BY ${groupBy}`,
        readOptions(cluster, this.#options),
      ),
    );
    return answers.map((answer) => new RowReader(answer));
  }
}

/** Distinct values by measurement. */
class Grouped<T> {
  readonly #groups = new Map<string, Map<string, T>>();

  add(group: string, id: string, thing: T): void {
    let things = this.#groups.get(group);
    if (things === undefined) this.#groups.set(group, (things = new Map()));
    things.set(id, thing);
  }

  entries(compare: (a: T, b: T) => number): [string, T[]][] {
    return [...this.#groups]
      .sort(([a], [b]) => compareBytes(a, b))
      .map(([group, things]) => [group, [...things.values()].sort(compare)]);
  }
}

function byPolicyAndTime(a: ShardGroup, b: ShardGroup): number {
  return compareBytes(a.retentionPolicy, b.retentionPolicy) || (a.start < b.start ? -1 : 1);
}

/** Fields with each of their types, sorted by name and type. */
function sortedTypes(
  names: ReadonlySet<string>,
  typesOf: (name: string) => ReadonlySet<FieldType>,
) {
  return [...names].sort(compareBytes).flatMap((name) => {
    const types = typesOf(name);
    return FIELD_TYPES.filter((type) => types.has(type))
      .toSorted(compareBytes)
      .map((type) => ({ name, type }));
  });
}
