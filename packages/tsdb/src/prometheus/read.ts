// A remote read: matchers become a scan of the field `value` of the selected measurements.
import { MAX_TIME, MIN_TIME, NANOS_PER_MILLISECOND, textBytes } from '@tidemark/core';
import type { TimeRange } from '@tidemark/core';
import {
  executeSeries,
  ExecutionContext,
  flatMapBatches,
  forEachBatch,
  textMatcher,
} from '@tidemark/query';
import type { Predicate, QueryContext, Steps } from '@tidemark/query';

import { labelFields, sampleFields } from './messages.ts';
import type { EncodedSeries, Label, Matcher, RemoteQuery } from './messages.ts';
import { METRIC_LABEL, VALUE_FIELD } from './points.ts';

export type ReadTarget = { readonly database: string; readonly retentionPolicy: string };

/**
 * Sizes of a sample (in memory, in the answer and packed) and of a series, and how many copies of
 * its labels there are.
 */
const SAMPLE_BYTES = 64;
const SERIES_BYTES = 512;
const LABEL_COPIES = 4;

/** Runs the queries of a request; all samples are held until the answer is sent. */
export function* runRemoteQueries(
  queries: readonly RemoteQuery[],
  target: ReadTarget,
  context: QueryContext,
): Steps<(readonly EncodedSeries[])[]> {
  const execution = new ExecutionContext(context);
  const results = [];
  for (const query of queries) results.push(yield* runRemoteQuery(query, target, execution));
  return results;
}

function* runRemoteQuery(
  query: RemoteQuery,
  target: ReadTarget,
  execution: ExecutionContext,
): Steps<readonly EncodedSeries[]> {
  const names = yield* measurementsOf(query, target, execution.query);
  const batches = executeSeries(
    {
      measurements: names.map((measurement) => ({ ...target, measurement })),
      field: { name: VALUE_FIELD, type: 'float' },
      range: rangeOf(query),
      where: predicateOf(query.matchers.filter(({ name }) => name !== METRIC_LABEL)),
    },
    execution,
  );
  const series: EncodedSeries[] = [];
  let key: string | undefined;
  let samples: Uint8Array[] = [];
  yield* flatMapBatches(batches, function* ({ group, times, columns }): Steps {
    if (group.series !== undefined && group.series.key !== key) {
      key = group.series.key;
      samples = [];
      series.push({ labels: labelFields(labelsOf(group.name, group.series.tags)), samples });
      execution.hold(SERIES_BYTES + LABEL_COPIES * textBytes(key));
    }
    execution.hold(times.length * SAMPLE_BYTES);
    yield undefined; // Whoever has asked for memory waits for it here.
    const [column] = columns;
    if (column?.type === 'float') samples.push(sampleFields(times, column));
  });
  return series;
}

function rangeOf({ startMs, endMs }: RemoteQuery): TimeRange {
  const clamp = (time: bigint): bigint =>
    time < MIN_TIME ? MIN_TIME : time > MAX_TIME ? MAX_TIME : time;
  return {
    start: clamp(startMs * NANOS_PER_MILLISECOND),
    end: clamp(endMs * NANOS_PER_MILLISECOND),
  };
}

/** Regular expressions of Prometheus match whole values. */
const anchored = (pattern: string): string => `^(?:${pattern})$`;

function predicateOf(matchers: readonly Matcher[]): Predicate | undefined {
  let predicate: Predicate | undefined;
  for (const { kind, name, value } of matchers) {
    const leaf: Predicate =
      kind === '=' || kind === '!='
        ? { kind: 'tag', key: name, operator: kind, value }
        : { kind: 'tag-regex', key: name, operator: kind, pattern: anchored(value) };
    predicate = predicate === undefined ? leaf : { kind: 'and', left: predicate, right: leaf };
  }
  return predicate;
}

/** An exact name needs no look-up; anything else asks the schema. */
function* measurementsOf(
  query: RemoteQuery,
  target: ReadTarget,
  { snapshot, signal }: QueryContext,
): Steps<readonly string[]> {
  const matchers = query.matchers.filter(({ name }) => name === METRIC_LABEL);
  // Points of other protocols do not have their name as a tag too: sources cannot tell.
  const isNamed = (measurement: string): boolean =>
    matchers.every((matcher) => fits(measurement, matcher));
  const exact = matchers.find(({ kind }) => kind === '=');
  if (exact !== undefined) return [exact.value].filter(isNamed);
  const pattern = matchers.find(({ kind }) => kind === '=~')?.value;
  const filter = { ...target, measurementPattern: pattern && anchored(pattern) };
  const names: string[] = [];
  yield* forEachBatch(snapshot.schema({ kind: 'measurements', filter }, { signal }), (batch) => {
    if (batch.kind === 'measurements') names.push(...batch.names.filter(isNamed));
  });
  return names;
}

function fits(text: string, { kind, value }: Matcher): boolean {
  const isMatch =
    kind === '=' || kind === '!=' ? text === value : textMatcher(anchored(value))(text);
  return isMatch === (kind === '=' || kind === '=~');
}

function labelsOf(measurement: string, tags: ReadonlyMap<string, string>): readonly Label[] {
  const all = new Map(tags).set(METRIC_LABEL, measurement);
  return [...all]
    .map(([name, value]) => ({ name, value }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
