// SeriesSource.schema: look-ups in the series tables of all shards.
import { compareBytes } from '@tidemark/core';
import { compareSeriesKeys } from '@tidemark/query';
import type { Operator, RequestOptions, SchemaBatch, SchemaRequest } from '@tidemark/query';

import { LookUp } from './look-up.ts';
import type { TagPair } from './look-up.ts';
import type { ReadParts } from './scan.ts';

/** Entries of one batch. */
const BATCH_ENTRIES = 4096;

export function* schema(
  parts: ReadParts,
  request: SchemaRequest,
  options: RequestOptions,
): Operator<SchemaBatch> {
  const look = new LookUp(parts, request.filter, options);
  switch (request.kind) {
    case 'names':
      yield* look.names();
      return;
    case 'measurements': {
      const names = yield* look.measurements();
      for (const piece of pieces(names)) yield { kind: request.kind, names: piece };
      return;
    }
    case 'fields':
      for (const measurement of yield* look.measurements()) {
        const fields = look.fieldsOf(measurement);
        for (const piece of pieces(fields))
          yield { kind: request.kind, measurement, fields: piece };
      }
      return;
    case 'tag-keys':
      for (const [measurement, keys] of yield* look.tagKeys()) {
        for (const piece of pieces(keys)) yield { kind: request.kind, measurement, keys: piece };
      }
      return;
    case 'tag-values':
      for (const [measurement, pairs] of yield* look.tagPairs(request)) {
        for (const { key, values } of byKey(pairs.slice(0, request.limitPerMeasurement))) {
          for (const piece of pieces(values))
            yield { kind: request.kind, measurement, key, values: piece };
        }
      }
      return;
    case 'tag-cardinality':
      for (const [measurement, pairs] of yield* look.tagPairs(request)) {
        const keys = byKey(pairs).map(({ key, values }) => ({
          key,
          count: values.length,
          isExact: true,
        }));
        if (keys.length > 0) yield { kind: request.kind, measurement, keys };
      }
      return;
    case 'series': {
      const compare = request.order === 'key' ? compareBytes : compareSeriesKeys;
      for (const [measurement, found] of yield* look.series()) {
        const keys = found.sort(compare);
        for (const piece of pieces(keys)) yield { kind: request.kind, measurement, keys: piece };
      }
      return;
    }
    case 'series-cardinality':
      for (const [measurement, count] of yield* look.counts())
        yield { kind: request.kind, measurement, count };
      return;
    case 'cardinality': {
      const counts = yield* look.counts();
      const series = counts.reduce((sum, [, count]) => sum + count, 0);
      const count = request.of === 'series' ? series : counts.length;
      yield { kind: request.kind, count, isExact: true };
    }
  }
}

function byKey(pairs: readonly TagPair[]) {
  const keys: { readonly key: string; readonly values: string[] }[] = [];
  for (const { key, value } of pairs) {
    const last = keys.at(-1);
    if (last?.key === key) last.values.push(value);
    else keys.push({ key, values: [value] });
  }
  return keys;
}

function* pieces<T>(entries: readonly T[]): Iterable<readonly T[]> {
  for (let at = 0; at < entries.length; at += BATCH_ENTRIES)
    yield entries.slice(at, at + BATCH_ENTRIES);
}
