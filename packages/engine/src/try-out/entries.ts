// The input of a try-out, in the form of recordings: points of a stream as lines, query answers as
// results.
import { InvalidRequest, NotFound } from '@tidemark/core';
import type { Clock, Timestamp } from '@tidemark/core';
import { printLine } from '@tidemark/line-protocol';
import { queryNodesOf } from '../batch/query-nodes.ts';
import type { BatchScheduler } from '../batch/batch-scheduler.ts';
import { MissedPoints, wantedOf } from '../catch-up/missed-points.ts';
import type { MissedPoint, Range } from '../catch-up/missed-points.ts';
import { AnswerTooLarge } from '../database/clusters.ts';
import type { Clusters } from '../database/clusters.ts';
import { mergedTicks } from '../jobs/batch-ticks.ts';
import { readRecording } from '../jobs/recording-file.ts';
import type { RecordedPoint, RecordedResult } from '../jobs/recording-file.ts';
import type { Recordings } from '../jobs/recordings.ts';
import type { Definition } from '../tasks/definition.ts';
import { typedPoints } from './input.ts';
import type { TryOutSource } from './input.ts';

export type Entry = RecordedPoint | RecordedResult;

export type EntriesOptions = {
  readonly clock: Clock;
  readonly clusters: Clusters;
  readonly scheduler: BatchScheduler;
  readonly recordings: Recordings;
};

/** Opens the data; throws `InvalidRequest` or `NotFound` when it does not fit the task. */
export function entriesOf(
  source: TryOutSource,
  definition: Definition,
  options: EntriesOptions,
): (signal: AbortSignal) => AsyncIterable<Entry> {
  const { type, pipeline, dbrps } = definition;
  switch (source.kind) {
    case 'recording':
      return recorded(source.recording, definition, options);
    case 'database':
      return type === 'batch'
        ? (signal) => answers(definition, { source, scheduler: options.scheduler, signal })
        : (signal) =>
            stored(new MissedPoints(options.clusters, wantedOf(pipeline, dbrps)), source, signal);
    case 'points': {
      if (type === 'batch') {
        throw new InvalidRequest(
          'the script asks a database and takes no points; try it on a span of time of the database, or on a recording',
        );
      }
      const dbrp = dbrps[0] ?? { db: '', rp: '' };
      const points = typedPoints(source, { dbrp, now: options.clock.now() });
      // oxlint-disable-next-line typescript/require-await
      return async function* typed() {
        yield* points;
      };
    }
  }
}

function recorded(
  id: string,
  { type }: Definition,
  { recordings }: EntriesOptions,
): (signal: AbortSignal) => AsyncIterable<Entry> {
  const recording = recordings.require(id);
  if (recording.type !== type) {
    throw new InvalidRequest(
      `recording ${id} is of a ${recording.type} task, but the script makes a ${type} task`,
    );
  }
  if (recording.status === 'running') {
    throw new InvalidRequest(`recording is not finished: ${id}`);
  }
  return async function* entries(signal) {
    const path = await recordings.file(id, signal);
    if (path === undefined) throw new NotFound(`recording ${id} has no data`);
    yield* readRecording(path, () => undefined);
  };
}

async function* answers(
  { pipeline }: Definition,
  {
    source,
    scheduler,
    signal,
  }: {
    readonly source: TryOutSource & { readonly kind: 'database' };
    readonly scheduler: BatchScheduler;
    readonly signal: AbortSignal;
  },
): AsyncIterable<RecordedResult> {
  for (const { node, index, range } of mergedTicks(queryNodesOf(pipeline), source)) {
    const series = await scheduler.query(node, range, signal);
    yield { query: index, stop: range.stop, series };
  }
}

/** Points of the database, in parts that are small enough for one answer each. */
async function* stored(
  points: MissedPoints,
  { start, stop }: { readonly start: Timestamp; readonly stop: Timestamp },
  signal: AbortSignal,
): AsyncIterable<RecordedPoint> {
  let found: readonly MissedPoint[];
  try {
    found = await points.read({ start, stop } satisfies Range, signal);
  } catch (error) {
    if (!(error instanceof AnswerTooLarge) || stop - start < 2n) throw error;
    const middle = start + (stop - start) / 2n;
    yield* stored(points, { start, stop: middle }, signal);
    yield* stored(points, { start: middle, stop }, signal);
    return;
  }
  for (const { dbrp, name, tags, fields, time } of found) {
    const line = printLine({ measurement: name, tags, fields, time });
    if (line !== undefined) yield { database: dbrp.db, retentionPolicy: dbrp.rp, line };
  }
}
