// SeriesSource.schema over a snapshot: names, keys, values and series, sorted bytewise, without
// duplicates.
import { compareBytes, escapeMeasurement, textBytes } from '@tidemark/core';
import type { FieldType } from '@tidemark/core';
import { sortedByKey, sortedByTags } from '@tidemark/kernels';
import type { SchemaBatch, SchemaFilter, SchemaRequest, SeriesOrder } from '@tidemark/query';
import { tagKeyTest } from '@tidemark/query/regex';

import { shardOverlaps } from '../columns/overlaps.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { MeasurementIndex } from '../series/measurement-index.ts';
import { partOf } from '../series/ordinal-set.ts';
import { measurementsInSteps } from '../series/select.ts';
import {
  countMatching,
  matchingOrdinals,
  matchingTagKeys,
  matchingSymbols,
  inOrder,
  matchesAny,
  SeenValues,
} from './matching-series.ts';
import type { Scope, Selected } from './matching-series.ts';
import { hasSeriesOf, namesOf } from './names.ts';
import { requireDatabase, requireShards } from './damaged-data.ts';
import type { OnPartial, ReadOptions } from './damaged-data.ts';
import type { RequestMemory } from './request-memory.ts';
import { sortInSteps } from '../schedule/steps.ts';

/** Entries per batch, and their size. A batch is also one message to another thread. */
const BATCH_ENTRIES = 2048;
const BATCH_BYTES = 256 << 10;

export function* schema(
  snapshot: Snapshot,
  request: SchemaRequest,
  { memory, onPartial }: Omit<ReadOptions, 'counters'>,
): Generator<SchemaBatch | undefined> {
  const scope = scopeOf(snapshot, request.filter, onPartial);
  if (request.kind === 'cardinality') {
    yield yield* cardinality(scope, request, memory);
    return;
  }
  if (scope === undefined) return;
  let names: string[] = [];
  const seen = new SeenValues();
  for (const measurement of yield* measurementsInSteps(scope.database.index, request.filter)) {
    const selected: Selected = { scope, measurement, filter: request.filter, memory, seen };
    yield undefined;
    if (request.kind !== 'measurements') {
      yield* ofMeasurement(selected, request);
      continue;
    }
    if (!(yield* matchesAny(selected))) continue;
    names.push(measurement.name);
    if (names.length < BATCH_ENTRIES) continue;
    yield { kind: 'measurements', names };
    names = [];
  }
  if (names.length > 0) yield { kind: 'measurements', names };
}

type OfMeasurement = Exclude<SchemaRequest, { kind: 'cardinality' | 'measurements' }>;

function* ofMeasurement(
  selected: Selected,
  request: OfMeasurement,
): Generator<SchemaBatch | undefined> {
  const { scope, measurement } = selected;
  const { name } = measurement;
  switch (request.kind) {
    case 'names': {
      const { fields, ...rest } = yield* namesOf(selected);
      for (const piece of pieces(fields)) yield { ...rest, fields: piece };
      break;
    }
    case 'fields':
      if (!(yield* matchesAny(selected))) return;
      for (const fields of pieces(yield* fieldsOf(scope, measurement))) {
        yield { kind: 'fields', measurement: name, fields };
      }
      break;
    case 'tag-keys':
      for (const keys of pieces(yield* matchingTagKeys(selected))) {
        yield { kind: 'tag-keys', measurement: name, keys };
      }
      break;
    case 'tag-values':
      yield* tagValues(selected, request);
      break;
    case 'tag-cardinality': {
      const keys = yield* countTagValues(selected, tagKeyTest(request.keys));
      if (keys.length > 0) yield { kind: 'tag-cardinality', measurement: name, keys };
      break;
    }
    case 'series':
      yield* seriesKeys(selected, request.order ?? 'tags');
      break;
    case 'series-cardinality': {
      const count = yield* countSeries(selected);
      if (count > 0) yield { kind: 'series-cardinality', measurement: name, count };
      break;
    }
  }
}

function* pieces<T>(entries: readonly T[]): Iterable<readonly T[]> {
  for (let at = 0; at < entries.length; at += BATCH_ENTRIES) {
    yield entries.length <= BATCH_ENTRIES ? entries : entries.slice(at, at + BATCH_ENTRIES);
  }
}

function scopeOf(
  snapshot: Snapshot,
  filter: SchemaFilter,
  onPartial: OnPartial,
): Scope | undefined {
  requireDatabase(snapshot, filter.database, onPartial);
  const database = snapshot.databases.get(filter.database);
  if (database === undefined) return undefined;
  const { timeRange } = filter;
  const shards = snapshot.shards.filter(({ shard: { descriptor: d } }) => {
    if (d.database !== filter.database) return false;
    if (filter.retentionPolicy !== undefined && d.retentionPolicy !== filter.retentionPolicy) {
      return false;
    }
    return timeRange === undefined || shardOverlaps(d, timeRange);
  });
  requireShards(snapshot, shards, onPartial);
  return { database, shards };
}

function* cardinality(
  scope: Scope | undefined,
  { filter, of }: Extract<SchemaRequest, { kind: 'cardinality' }>,
  memory: RequestMemory,
): Generator<undefined, SchemaBatch> {
  let count = 0;
  if (scope !== undefined) {
    const seen = new SeenValues();
    for (const measurement of yield* measurementsInSteps(scope.database.index, filter)) {
      const series = yield* countSeries({ scope, measurement, filter, memory, seen });
      count += of === 'series' ? series : Math.min(series, 1);
    }
  }
  return { kind: 'cardinality', count, isExact: true };
}

function* countSeries(selected: Selected): Generator<undefined, number> {
  const { measurement } = selected;
  return isWhole(selected) ? measurement.liveSeries : yield* countMatching(selected);
}

/** Fields of a measurement, in the shards that have series of it. */
function* fieldsOf(
  scope: Scope,
  measurement: MeasurementIndex,
): Generator<undefined, { name: string; type: FieldType }[]> {
  const fields: { name: string; type: FieldType }[] = [];
  const seen = new Set<string>();
  for (const view of scope.shards) {
    if (!(yield* hasSeriesOf(measurement, view))) continue;
    for (const [name, type] of view.shard.fields.of(measurement.id)) {
      if (seen.has(`${type} ${name}`)) continue;
      seen.add(`${type} ${name}`);
      fields.push({ name, type });
    }
  }
  return yield* sortInSteps(
    fields,
    (a, b) => compareBytes(a.name, b.name) || compareBytes(a.type, b.type),
  );
}

/**
 * Whether all series of a measurement are selected. Their number is known without visiting them.
 */
function isWhole({ scope, filter }: Selected): boolean {
  const { where, timeRange, retentionPolicy } = filter;
  const isFiltered = [where, timeRange, retentionPolicy].some((part) => part !== undefined);
  return !isFiltered && !scope.database.hidesSeries;
}

function* countTagValues(
  selected: Selected,
  isWanted: (key: string) => boolean,
): Generator<undefined, { key: string; count: number; isExact: boolean }[]> {
  const { scope, measurement } = selected;
  const counts: { key: string; count: number; isExact: boolean }[] = [];
  if (!isWhole(selected)) {
    for (const each of matchingSymbols(selected, isWanted)) {
      if (each === undefined) yield undefined;
      else counts.push({ key: each.key, count: each.symbols.length, isExact: true });
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

function* tagValues(
  selected: Selected,
  { keys, limitPerMeasurement }: Extract<SchemaRequest, { kind: 'tag-values' }>,
): Generator<SchemaBatch | undefined> {
  const { scope, measurement } = selected;
  const { index } = scope.database;
  let left = limitPerMeasurement ?? Number.POSITIVE_INFINITY;
  for (const each of matchingSymbols(selected, tagKeyTest(keys))) {
    if (each === undefined) {
      yield undefined;
      continue;
    }
    const symbols = yield* inOrder(selected, each.symbols);
    const end = Math.min(left, symbols.length);
    const { name } = measurement;
    for (let at = 0; at < end; at += BATCH_ENTRIES) {
      const part = partOf(symbols, at, Math.min(end, at + BATCH_ENTRIES));
      for (const values of readTexts(part, (id) => index.symbolOnce(id))) {
        yield { kind: 'tag-values', measurement: name, key: each.key, values };
      }
    }
    left -= end;
    if (left === 0) return;
  }
}

/**
 * Bytes of a series while they are sorted: its id, a copy of the list, and two numbers in the
 * kernel's memory.
 */
const SORTED_SERIES_BYTES = 16;

function* seriesKeys(selected: Selected, order: SeriesOrder): Generator<SchemaBatch | undefined> {
  const { scope, measurement, memory } = selected;
  const { index } = scope.database;
  const ordinals = yield* matchingOrdinals(selected);
  memory.check(ordinals.length * SORTED_SERIES_BYTES, 'order of series');
  const ids = ordinals.map((ordinal) => measurement.seriesId(ordinal));
  const sorted = yield* (order === 'tags' ? sortedByTags : sortedByKey)(index.keys, ids);
  const prefix = escapeMeasurement(measurement.name);
  for (let at = 0; at < sorted.length; at += BATCH_ENTRIES) {
    const part = sorted.subarray(at, at + BATCH_ENTRIES);
    for (const keys of readTexts(part, (id) => prefix + index.tagsText(id))) {
      yield { kind: 'series', measurement: measurement.name, keys };
    }
  }
}

/** Reads texts by id, in lists of limited size. */
function* readTexts(ids: Uint32Array, read: (id: number) => string): Iterable<readonly string[]> {
  let texts: string[] = [];
  let bytes = 0;
  for (const id of ids) {
    const text = read(id);
    texts.push(text);
    bytes += textBytes(text);
    if (bytes < BATCH_BYTES) continue;
    yield texts;
    texts = [];
    bytes = 0;
  }
  if (texts.length > 0) yield texts;
}
