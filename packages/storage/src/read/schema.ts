// SeriesSource.schema over a snapshot: what exists, sorted bytewise, without duplicates.
import { compareBytes } from '@tidemark/core';
import type { FieldType } from '@tidemark/core';
import { sortedByKey } from '@tidemark/kernels';
import type { SchemaBatch, SchemaFilter, SchemaRequest, TagKeyMatch } from '@tidemark/query';
import { textMatcher } from '@tidemark/query/regex';

import type { DatabaseView, ShardView, Snapshot } from '../engine/snapshot.ts';
import type { MeasurementIndex } from '../series/measurement-index.ts';
import { selectMeasurements } from '../series/select.ts';
import { heldOrdinals, heldTagKeys, heldTagValues, isAnyHeld } from './held-series.ts';
import type { Scope, Selected } from './held-series.ts';

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
    const selected: Selected = { scope, measurement, filter: request.filter };
    yield undefined;
    switch (request.kind) {
      case 'measurements':
        if (yield* isAnyHeld(selected)) names.push(measurement.name);
        break;
      case 'fields':
        if (yield* isAnyHeld(selected)) yield fieldsBatch(scope, measurement);
        break;
      case 'tag-keys': {
        const keys = yield* heldTagKeys(selected);
        if (keys.length > 0) yield { kind: 'tag-keys', measurement: measurement.name, keys };
        break;
      }
      case 'tag-values': {
        const pairs = yield* heldTagValues(selected, keyTest(request.keys));
        if (pairs.length > 0) yield { kind: 'tag-values', measurement: measurement.name, pairs };
        break;
      }
      case 'tag-cardinality': {
        const keys = yield* countTagValues(selected, keyTest(request.keys));
        if (keys.length > 0) yield { kind: 'tag-cardinality', measurement: measurement.name, keys };
        break;
      }
      case 'series':
        yield* seriesBatches(scope.database, measurement, yield* heldOrdinals(selected));
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

function* cardinality(
  scope: Scope | undefined,
  filter: SchemaFilter,
  of: 'series' | 'measurements',
): Generator<undefined, SchemaBatch> {
  let count = 0;
  if (scope !== undefined) {
    for (const measurement of selectMeasurements(scope.database.index, filter)) {
      const series = isWhole(filter)
        ? measurement.liveSeries
        : (yield* heldOrdinals({ scope, measurement, filter })).length;
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

/** Whether a filter leaves out no series of a measurement: those are counted as they come and go. */
function isWhole({ where, timeRange, retentionPolicy }: SchemaFilter): boolean {
  return where === undefined && timeRange === undefined && retentionPolicy === undefined;
}

function* countTagValues(
  selected: Selected,
  isWanted: (key: string) => boolean,
): Generator<undefined, { key: string; count: number; isExact: boolean }[]> {
  const { scope, measurement, filter } = selected;
  const counts: { key: string; count: number; isExact: boolean }[] = [];
  if (!isWhole(filter)) {
    for (const { key } of yield* heldTagValues(selected, isWanted)) {
      const last = counts.at(-1);
      if (last?.key === key) last.count++;
      else counts.push({ key, count: 1, isExact: true });
    }
    return counts;
  }
  for (const { key, column } of measurement.sortedTagColumns()) {
    if (!isWanted(key)) continue;
    const cardinality = yield* scope.database.index.tagCardinality(measurement, column);
    if (cardinality.count > 0) counts.push({ key, ...cardinality });
  }
  return counts;
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
      const test = textMatcher(match.pattern);
      return (key) => test(key) === (match.operator === '=~');
    }
  }
}

function* seriesBatches(
  { index }: DatabaseView,
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
