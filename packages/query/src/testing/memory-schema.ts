// Schema look-ups of the source in memory.
import type { FieldType } from '@tidemark/core';
import { compareBytes } from '@tidemark/core';

import type { Operator } from '../operator.ts';
import { tagKeyTest, textMatcher } from '../regex.ts';
import { compareSeriesKeys } from '../series-key.ts';
import type {
  RequestOptions,
  SchemaBatch,
  SchemaFilter,
  SchemaRequest,
  SeriesOrder,
  ShardSpan,
  TagKeyMatch,
} from '../series-source.ts';
import { hasShardIn, mayHold, shardOverlaps, shardStart } from './memory-data.ts';
import type { Policy, Series } from './memory-data.ts';

export type MemorySchema = {
  readonly policies: readonly Policy[];
  /** Small, so that tests see answers that span batches. */
  readonly batchEntries: number;
};

function matchingSeries(policies: readonly Policy[], filter: SchemaFilter): Series[] {
  const matches =
    filter.measurementPattern === undefined ? () => true : textMatcher(filter.measurementPattern);
  const found: Series[] = [];
  for (const policy of policies) {
    if (policy.database !== filter.database) continue;
    if (filter.retentionPolicy !== undefined && policy.name !== filter.retentionPolicy) continue;
    for (const series of policy.series.values()) {
      if (filter.measurements?.includes(series.measurement) === false) continue;
      if (!matches(series.measurement)) continue;
      if (filter.where !== undefined && !mayHold(filter.where, series.tags)) continue;
      if (!hasShardIn(policy, series, filter.timeRange)) continue;
      found.push(series);
    }
  }
  return found;
}

/** Answers a look-up in batches of `batchEntries`. */
export function* schemaOf(
  { policies, batchEntries }: MemorySchema,
  request: SchemaRequest,
  options: RequestOptions,
): Operator<SchemaBatch> {
  options.signal.throwIfAborted();
  const series = matchingSeries(policies, request.filter);
  const measurements = sortedUnique(series.map((s) => s.measurement));
  if (request.kind === 'cardinality') {
    const keys = new Set(series.map((s) => s.key));
    const count = request.of === 'series' ? keys.size : measurements.length;
    yield { kind: 'cardinality', count, isExact: true };
    return;
  }
  if (request.kind === 'measurements') {
    for (const names of pieces(measurements, batchEntries)) yield { kind: 'measurements', names };
    return;
  }
  for (const measurement of measurements) {
    options.signal.throwIfAborted();
    const members = series.filter((s) => s.measurement === measurement);
    yield* schemaOfMeasurement({ policies, batchEntries }, request, { measurement, members });
  }
}

function* schemaOfMeasurement(
  { policies, batchEntries }: MemorySchema,
  request: Exclude<SchemaRequest, { kind: 'cardinality' | 'measurements' }>,
  { measurement, members }: { readonly measurement: string; readonly members: readonly Series[] },
): Iterable<SchemaBatch> {
  const { kind } = request;
  switch (kind) {
    case 'names': {
      const { tags, shards, fields } = namesOf(policies, request.filter.database, members);
      for (const piece of pieces(fields, batchEntries)) {
        yield { kind, measurement, tags, shards, fields: piece, isSettled: true };
      }
      break;
    }
    case 'fields':
      for (const fields of pieces(fieldsOf(policies, members, request.filter), batchEntries)) {
        yield { kind, measurement, fields };
      }
      break;
    case 'tag-keys':
      for (const keys of pieces(
        sortedUnique(members.flatMap((s) => [...s.tags.keys()])),
        batchEntries,
      )) {
        yield { kind, measurement, keys };
      }
      break;
    case 'tag-values': {
      const pairs = tagPairs(members, request.keys).slice(0, request.limitPerMeasurement);
      for (const { key } of countsByKey(pairs)) {
        const values = pairs.filter((pair) => pair.key === key).map(({ value }) => value);
        for (const piece of pieces(values, batchEntries))
          yield { kind, measurement, key, values: piece };
      }
      break;
    }
    case 'tag-cardinality': {
      const keys = countsByKey(tagPairs(members, request.keys));
      if (keys.length > 0) yield { kind, measurement, keys };
      break;
    }
    case 'series':
      for (const keys of pieces(sortedKeys(members, request.order), batchEntries)) {
        yield { kind, measurement, keys };
      }
      break;
    case 'series-cardinality':
      yield { kind, measurement, count: sortedKeys(members).length };
      break;
  }
}

function* pieces<T>(entries: readonly T[], size: number): Iterable<readonly T[]> {
  for (let at = 0; at < entries.length; at += size) {
    yield entries.slice(at, at + size);
  }
}

/** Names from the shards with rows of the series. */
function namesOf(policies: readonly Policy[], database: string, members: readonly Series[]) {
  const shards: ShardSpan[] = [];
  const found = new Map<string, { name: string; type: FieldType; shards: number[] }>();
  const ofDatabase = policies.filter((policy) => policy.database === database);
  for (const policy of ofDatabase.sort((a, b) => compareBytes(a.name, b.name))) {
    const held = members.filter((series) => policy.series.get(series.key) === series);
    const rows = held.flatMap((series) => [...series.rows.values()]);
    const starts = new Set(rows.map((row) => shardStart(policy, row.time)));
    for (const start of [...starts].sort((a, b) => (a < b ? -1 : 1))) {
      const end = start + policy.shardNanos;
      const shard = shards.push({ retentionPolicy: policy.name, start, end }) - 1;
      for (const row of rows) {
        if (shardStart(policy, row.time) !== start) continue;
        for (const [name, { type }] of row.fields) {
          const key = `${name} ${type}`;
          const field = found.get(key) ?? { name, type, shards: [] };
          if (!field.shards.includes(shard)) field.shards.push(shard);
          found.set(key, field);
        }
      }
    }
  }
  const fields = [...found.values()].sort(
    (a, b) => compareBytes(a.name, b.name) || compareBytes(a.type, b.type),
  );
  return { tags: sortedUnique(members.flatMap((s) => [...s.tags.keys()])), shards, fields };
}

function fieldsOf(policies: readonly Policy[], members: readonly Series[], filter: SchemaFilter) {
  const found = new Map<string, { name: string; type: FieldType }>();
  for (const policy of policies) {
    for (const series of members) {
      if (policy.series.get(series.key) !== series) continue;
      for (const row of series.rows.values()) {
        if (!shardOverlaps(policy, row.time, filter.timeRange)) continue;
        for (const [name, { type }] of row.fields) found.set(`${name} ${type}`, { name, type });
      }
    }
  }
  return [...found.values()].sort(
    (a, b) => compareBytes(a.name, b.name) || compareBytes(a.type, b.type),
  );
}

function sortedUnique(values: readonly string[]): string[] {
  return [...new Set(values)].sort(compareBytes);
}

function sortedKeys(members: readonly Series[], order: SeriesOrder = 'tags'): string[] {
  const keys = new Set(members.map((s) => s.key));
  return [...keys].sort(order === 'tags' ? compareSeriesKeys : compareBytes);
}

function tagPairs(members: readonly Series[], match: TagKeyMatch) {
  const isWanted = tagKeyTest(match);
  const found = new Map<string, { key: string; value: string }>();
  for (const series of members) {
    for (const [key, value] of series.tags) {
      if (isWanted(key)) found.set(JSON.stringify([key, value]), { key, value });
    }
  }
  return [...found.values()].sort(
    (a, b) => compareBytes(a.key, b.key) || compareBytes(a.value, b.value),
  );
}

function countsByKey(
  pairs: readonly { readonly key: string }[],
): { key: string; count: number; isExact: boolean }[] {
  const counts = new Map<string, number>();
  for (const { key } of pairs) counts.set(key, (counts.get(key) ?? 0) + 1);
  return Array.from(counts, ([key, count]) => ({ key, count, isExact: true }));
}
