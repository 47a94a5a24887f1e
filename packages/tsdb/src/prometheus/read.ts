// A remote read: matchers become a scan of the field `value` of the selected measurements.
import { MAX_TIME, MIN_TIME, NANOS_PER_MILLISECOND } from '@tidemark/core';
import type { TimeRange } from '@tidemark/core';
import { executeSeries, ExecutionContext, flatMapBatches, textMatcher } from '@tidemark/query';
import type { QueryContext, RowBatch, SeriesRead, Steps } from '@tidemark/query';

import { LabelEncoder, sampleFields } from './messages.ts';
import type { EncodedSeries, Label, Matcher, RemoteQuery } from './messages.ts';
import { METRIC_LABEL, VALUE_FIELD } from './points.ts';

export type ReadTarget = { readonly database: string; readonly retentionPolicy: string };

/** Sizes of a sample, and of a series besides its labels. */
const SAMPLE_BYTES = 24;
const SERIES_BYTES = 512;
const TIME = 'time';

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
  { matchers, ...query }: RemoteQuery,
  target: ReadTarget,
  execution: ExecutionContext,
): Steps<readonly EncodedSeries[]> {
  const names = matchers.filter(({ name }) => name === METRIC_LABEL);
  const times = matchers.filter(({ name }) => name.toLowerCase() === TIME);
  // No series has a tag of this name.
  if (!times.every((matcher) => fits('', matcher))) return [];
  const others = matchers.filter((matcher) => !names.includes(matcher) && !times.includes(matcher));
  const batches = executeSeries(
    {
      source: { ...target, ...measurementsOf(names) },
      // Points that came another way do not have their name as a tag too: sources cannot tell.
      isRead: (measurement) => names.every((matcher) => fits(measurement, matcher)),
      field: VALUE_FIELD,
      range: rangeOf(query),
      tags: others.map(({ kind, name, value }) => ({
        key: name,
        operator: kind,
        value: kind === '=' || kind === '!=' ? value : anchored(value),
      })),
    },
    execution,
  );
  const read = new ReadSeries(execution);
  yield* flatMapBatches(batches, (batch) => read.add(batch));
  return read.series;
}

class ReadSeries {
  readonly series: EncodedSeries[] = [];
  readonly #execution: ExecutionContext;
  readonly #encoder = new LabelEncoder();
  #key: string | undefined;
  #samples: Uint8Array[] = [];

  constructor(execution: ExecutionContext) {
    this.#execution = execution;
  }

  *add({ group, times, columns }: RowBatch): Steps {
    if (group.series !== undefined && group.series.key !== this.#key) {
      this.#key = group.series.key;
      this.#samples = [];
      const labels = this.#encoder.fields(labelsOf(group.name, group.series.tags));
      this.series.push({ labels, samples: this.#samples });
      this.#execution.hold(SERIES_BYTES + labels.length);
    }
    this.#execution.hold(times.length * SAMPLE_BYTES);
    yield undefined; // Whoever has asked for memory waits for it here.
    const [column] = columns;
    if (column?.type === 'float') this.#samples.push(sampleFields(times, column));
  }
}

function rangeOf({ startMs, endMs }: Pick<RemoteQuery, 'startMs' | 'endMs'>): TimeRange {
  const clamp = (time: bigint): bigint =>
    time < MIN_TIME ? MIN_TIME : time > MAX_TIME ? MAX_TIME : time;
  return {
    start: clamp(startMs * NANOS_PER_MILLISECOND),
    end: clamp(endMs * NANOS_PER_MILLISECOND),
  };
}

/** Regular expressions of Prometheus match whole values. */
const anchored = (pattern: string): string => `^(?:${pattern})$`;

/** An exact name needs no search; that of a system source only a pattern may have. */
function measurementsOf(
  matchers: readonly Matcher[],
): Pick<SeriesRead['source'], 'name' | 'pattern'> {
  const exact = matchers.find(({ kind }) => kind === '=')?.value;
  if (exact !== undefined && !exact.startsWith('_')) return { name: exact };
  const pattern =
    exact?.replaceAll(/[^\w]/g, '\\$&') ?? matchers.find(({ kind }) => kind === '=~')?.value;
  return { pattern: anchored(pattern ?? '.*') };
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
