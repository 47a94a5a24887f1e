// SeriesSource.schema over a snapshot: what exists, sorted bytewise, without duplicates.
import { compareBytes } from '@tidemark/core';
import type { FieldType } from '@tidemark/core';
import { sortedByKey } from '@tidemark/kernels';
import type { SchemaBatch, SchemaFilter, SchemaRequest, TagKeyMatch } from '@tidemark/query';

import type { Database } from '../engine/database.ts';
import type { ShardView, Snapshot } from '../engine/snapshot.ts';
import type { MeasurementIndex } from '../series/measurement-index.ts';
import { compilePattern } from '../series/regex.ts';
import { ordinalsInSteps, selectMeasurements } from '../series/select.ts';
import { isHeld } from './groups.ts';
import { sortInSteps, STEP_ELEMENTS } from './steps.ts';

type TagKeysBatch = Extract<SchemaBatch, { kind: 'tag-keys' }>;
type TagValuesBatch = Extract<SchemaBatch, { kind: 'tag-values' }>;
type Scope = { readonly database: Database; readonly shards: readonly ShardView[] };

const SERIES_PER_BATCH = 4096;

export function* schema(
  snapshot: Snapshot,
  request: SchemaRequest,
): Generator<SchemaBatch | undefined> {
  const scope = scopeOf(snapshot, request.filter);
  if (request.kind === 'cardinality') {
    yield yield* cardinality(scope, request.filter, request.of);
    return;
  }
  if (scope === undefined) return;
  const names: string[] = [];
  for (const measurement of selectMeasurements(scope.database.index, request.filter)) {
    const ordinals = yield* liveOrdinals(scope, measurement, request.filter);
    yield undefined;
    if (ordinals.length === 0) continue;
    switch (request.kind) {
      case 'measurements':
        names.push(measurement.name);
        break;
      case 'fields':
        yield fieldsBatch(scope, measurement);
        break;
      case 'tag-keys': {
        const batch = tagKeysBatch(measurement, ordinals);
        if (batch.keys.length > 0) yield batch;
        break;
      }
      case 'tag-values': {
        const match = request.keys;
        const batch = yield* tagValuesBatch(scope.database, { measurement, ordinals, match });
        if (batch.pairs.length > 0) yield batch;
        break;
      }
      case 'series':
        yield* seriesBatches(scope.database, measurement, ordinals);
        break;
    }
  }
  if (request.kind === 'measurements' && names.length > 0) yield { kind: 'measurements', names };
}

function scopeOf(snapshot: Snapshot, filter: SchemaFilter): Scope | undefined {
  const database = snapshot.databases.get(filter.database);
  if (database === undefined) return undefined;
  const { timeRange } = filter;
  const shards = snapshot.shards.filter(({ shard: { descriptor: d } }) => {
    if (d.database !== filter.database) return false;
    if (filter.retentionPolicy !== undefined && d.retentionPolicy !== filter.retentionPolicy) {
      return false;
    }
    return timeRange === undefined || (d.start <= timeRange.end && d.end > timeRange.start);
  });
  return { database, shards };
}

/** Ordinals of the series that match and have data in one of the shards. */
function* liveOrdinals(
  scope: Scope,
  measurement: MeasurementIndex,
  filter: SchemaFilter,
): Generator<undefined, Uint32Array> {
  const { index } = scope.database;
  const ordinals = yield* ordinalsInSteps(index, measurement, filter.where);
  let count = 0;
  for (const ordinal of ordinals) {
    const id = measurement.seriesId(ordinal);
    if (index.isLive(id) && isHeld(scope.shards, id)) ordinals[count++] = ordinal;
  }
  return ordinals.subarray(0, count);
}

function* cardinality(
  scope: Scope | undefined,
  filter: SchemaFilter,
  of: 'series' | 'measurements',
): Generator<undefined, SchemaBatch> {
  let count = 0;
  const { where, timeRange, retentionPolicy } = filter;
  // Counted as series come and go.
  const isWhole = where === undefined && timeRange === undefined && retentionPolicy === undefined;
  if (scope !== undefined) {
    for (const measurement of selectMeasurements(scope.database.index, filter)) {
      const series = isWhole
        ? measurement.liveSeries
        : (yield* liveOrdinals(scope, measurement, filter)).length;
      count += of === 'series' ? series : Math.min(series, 1);
    }
  }
  return { kind: 'cardinality', count, isExact: true };
}

function fieldsBatch(scope: Scope, measurement: MeasurementIndex): SchemaBatch {
  const fields: { name: string; type: FieldType }[] = [];
  const seen = new Set<string>();
  const isHeld = (series: ShardView['series']): boolean => {
    for (const id of measurement.seriesIds()) if (series.has(id)) return true;
    return false;
  };
  for (const { shard, series } of scope.shards) {
    if (!isHeld(series)) continue;
    for (const [name, type] of shard.fields.of(measurement.id)) {
      if (seen.has(`${type} ${name}`)) continue;
      seen.add(`${type} ${name}`);
      fields.push({ name, type });
    }
  }
  fields.sort((a, b) => compareBytes(a.name, b.name) || compareBytes(a.type, b.type));
  return { kind: 'fields', measurement: measurement.name, fields };
}

function tagKeysBatch(measurement: MeasurementIndex, ordinals: Uint32Array): TagKeysBatch {
  const keys: string[] = [];
  for (const { key, column } of measurement.sortedTagColumns()) {
    const { values } = column;
    if (ordinals.some((ordinal) => (values[ordinal] ?? 0) !== 0)) keys.push(key);
  }
  return { kind: 'tag-keys', measurement: measurement.name, keys };
}

function* tagValuesBatch(
  database: Database,
  request: {
    readonly measurement: MeasurementIndex;
    readonly ordinals: Uint32Array;
    readonly match: TagKeyMatch;
  },
): Generator<undefined, TagValuesBatch> {
  const { measurement, ordinals } = request;
  const isWanted = keyTest(request.match);
  const pairs: { key: string; value: string }[] = [];
  for (const { key, column } of measurement.sortedTagColumns()) {
    if (!isWanted(key)) continue;
    const texts: string[] = [];
    for (const stored of distinctValues(database, column.values, ordinals)) {
      texts.push(database.index.text(stored - 1));
      if (texts.length % STEP_ELEMENTS === 0) yield undefined;
    }
    for (const value of yield* sortInSteps(texts, compareBytes)) pairs.push({ key, value });
  }
  return { kind: 'tag-values', measurement: measurement.name, pairs };
}

/** Stored values of the series, each once; not those that lack the tag. */
function distinctValues(
  { index }: Database,
  values: Uint32Array,
  ordinals: Uint32Array,
): readonly number[] {
  const isSeen = new Uint8Array(index.textCount + 1);
  isSeen[0] = 1;
  const distinct: number[] = [];
  for (const ordinal of ordinals) {
    const stored = values[ordinal] ?? 0;
    if (isSeen[stored] === 1) continue;
    isSeen[stored] = 1;
    distinct.push(stored);
  }
  return distinct;
}

function keyTest(match: TagKeyMatch): (key: string) => boolean {
  switch (match.kind) {
    case 'in': {
      const keys = new Set(match.keys);
      return (key) => keys.has(key);
    }
    case 'not':
      return (key) => key !== match.key;
    case 'regex': {
      const test = compilePattern(match.pattern);
      return (key) => test(key) === (match.operator === '=~');
    }
  }
}

function* seriesBatches(
  { index }: Database,
  measurement: MeasurementIndex,
  ordinals: Uint32Array,
): Generator<SchemaBatch | undefined> {
  const ids = ordinals.map((ordinal) => measurement.seriesId(ordinal));
  const sorted = yield* sortedByKey(index.keys, ids);
  for (let at = 0; at < sorted.length; at += SERIES_PER_BATCH) {
    const keys = Array.from(sorted.subarray(at, at + SERIES_PER_BATCH), (id) =>
      index.seriesKey(id),
    );
    yield { kind: 'series', keys };
  }
}
