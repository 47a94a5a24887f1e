// A remote read: matchers become a scan of the field `value` of the measurements that are named.
import { MAX_TIME, MIN_TIME, NANOS_PER_MILLISECOND, floorDiv } from '@tidemark/core';
import type { TimeRange } from '@tidemark/core';
import { isPause, memoryLimitExceeded, textMatcher } from '@tidemark/query';
import type { Predicate, QueryMemory, SourceSnapshot, Steps } from '@tidemark/query';

import type { Label, Matcher, RemoteQuery, RemoteSeries, Sample } from './messages.ts';
import { METRIC_LABEL, VALUE_FIELD } from './points.ts';

export type ReadTarget = { readonly database: string; readonly retentionPolicy: string };

export type ReadContext = {
  readonly target: ReadTarget;
  readonly signal: AbortSignal;
  readonly memory: QueryMemory;
  /** `coordinator.query-memory-limit`; 0 is no limit. */
  readonly maxQueryMemoryBytes: number;
};

/** A sample as it is held and as it is encoded, and what a series takes besides (measured). */
const SAMPLE_BYTES = 128;
const SERIES_BYTES = 512;

/** What the samples of a request take; all of them are held until the answer is encoded. */
class HeldSamples {
  readonly #context: ReadContext;
  #bytes = 0;

  constructor(context: ReadContext) {
    this.#context = context;
  }

  /** Throws when a query may not hold so much. */
  hold(bytes: number): void {
    const { maxQueryMemoryBytes, memory } = this.#context;
    this.#bytes += bytes;
    if (maxQueryMemoryBytes > 0 && this.#bytes > maxQueryMemoryBytes) {
      throw memoryLimitExceeded(maxQueryMemoryBytes);
    }
    if (this.#bytes > memory.freeBytes) memory.ask();
  }
}

/** Runs the queries of a request, on one view of the data. */
export function* runRemoteQueries(
  source: { snapshot(): SourceSnapshot },
  queries: readonly RemoteQuery[],
  context: ReadContext,
): Steps<(readonly RemoteSeries[])[]> {
  const snapshot = source.snapshot();
  try {
    const results = [];
    const held = new HeldSamples(context);
    for (const query of queries) {
      results.push(yield* runRemoteQuery(snapshot, query, { ...context, held }));
    }
    return results;
  } finally {
    snapshot.close();
  }
}

function* runRemoteQuery(
  snapshot: SourceSnapshot,
  query: RemoteQuery,
  context: ReadContext & { readonly held: HeldSamples },
): Steps<readonly RemoteSeries[]> {
  const timeRange = rangeOf(query);
  const where = predicateOf(query.matchers.filter(({ name }) => name !== METRIC_LABEL));
  const series: RemoteSeries[] = [];
  for (const measurement of yield* measurementsOf(snapshot, query, context)) {
    const batches = snapshot.scan(
      {
        source: { ...context.target, measurement },
        timeRange,
        where,
        descending: false,
        groupBy: 'all',
        fields: [{ name: VALUE_FIELD, type: 'float' }],
      },
      { signal: context.signal },
    );
    let key: string | undefined;
    let samples: Sample[] = [];
    for (const batch of batches) {
      if (isPause(batch)) {
        yield batch;
        continue;
      }
      if (batch.seriesKey !== key) {
        key = batch.seriesKey;
        samples = [];
        series.push({ labels: labelsOf(measurement, batch.tags), samples });
        context.held.hold(SERIES_BYTES + 2 * key.length);
      }
      context.held.hold(batch.times.length * SAMPLE_BYTES);
      yield undefined; // Whoever has asked for memory waits for it here.
      appendSamples(batch, samples);
    }
  }
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
  snapshot: SourceSnapshot,
  query: RemoteQuery,
  { target, signal }: ReadContext,
): Steps<readonly string[]> {
  const matchers = query.matchers.filter(({ name }) => name === METRIC_LABEL);
  // Points that came another way do not have their name as a tag too: sources can not tell.
  const isNamed = (measurement: string): boolean =>
    matchers.every((matcher) => fits(measurement, matcher));
  const exact = matchers.find(({ kind }) => kind === '=');
  if (exact !== undefined) return [exact.value].filter(isNamed);
  const pattern = matchers.find(({ kind }) => kind === '=~')?.value;
  const filter = { ...target, measurementPattern: pattern && anchored(pattern) };
  const names: string[] = [];
  for (const batch of snapshot.schema({ kind: 'measurements', filter }, { signal })) {
    if (isPause(batch)) yield batch;
    else if (batch.kind === 'measurements') names.push(...batch.names.filter(isNamed));
  }
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

function appendSamples(
  batch: { readonly times: BigInt64Array; readonly columns: readonly { readonly type: string }[] },
  into: Sample[],
): void {
  const column = batch.columns[0] as
    | { readonly values: Float64Array; readonly valid: Uint8Array | undefined }
    | undefined;
  if (column === undefined) return;
  for (let i = 0; i < batch.times.length; i++) {
    if (column.valid !== undefined && column.valid[i] !== 1) continue;
    const timestampMs = floorDiv(batch.times[i] ?? 0n, NANOS_PER_MILLISECOND);
    into.push({ value: column.values[i] ?? 0, timestampMs });
  }
}
