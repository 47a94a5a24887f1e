// Recordings: data of the stream, results of a task's queries, or the result of one query, kept in
// a file.
import { makeDirectory, PRIVATE_DIRECTORY } from '@tidemark/process';
import { rm } from 'node:fs/promises';
import { formatRfc3339, InvalidRequest, NotFound } from '@tidemark/core';
import type { Clock, Timestamp } from '@tidemark/core';
import { measurementsOf } from '@tidemark/pipeline';
import type { EdgeType } from '@tidemark/pipeline';
import type { PointBatch } from '@tidemark/runtime';
import { recordingFile, sizeOf } from '../cluster/recording-exchange.ts';
import type { RecordingExchange } from '../cluster/recording-exchange.ts';
import { queryNodesOf } from '../batch/query-nodes.ts';
import type { BatchScheduler } from '../batch/batch-scheduler.ts';
import type { Clusters } from '../database/clusters.ts';
import { databasesOfQuery, sourceOf } from '../database/query-text.ts';
import { idOrRandom } from '../ids.ts';
import type { Metadata } from '../store/metadata.ts';
import type { PointConsumer, PointRouter } from '../ingest/point-router.ts';
import type { RecordingRecord, TaskRecord } from '../store/records.ts';
import type { TaskChecks } from '../tasks/task-checks.ts';
import { databasesOf } from '../tasks/task-databases.ts';
import type { TaskService } from '../tasks/task-service.ts';
import { mergedTicks } from './batch-ticks.ts';
import { JobStore } from './job-store.ts';
import type { JobControl } from './job-store.ts';
import { pointsOfSeries, recordedPoints } from './points.ts';
import { RecordingWriter } from './recording-file.ts';

export type RecordingsOptions = {
  readonly metadata: Metadata;
  readonly directory: string;
  readonly runningMax: number;
  /** Hides secrets in errors. */
  readonly redact: (text: string) => string;
  readonly clock: Clock;
  readonly router: PointRouter;
  readonly clusters: Clusters;
  readonly scheduler: BatchScheduler;
  readonly tasks: TaskService;
  readonly checks: TaskChecks;
  /** Files of other instances of the cluster. */
  readonly exchange?: RecordingExchange | undefined;
};

/**
 * The end of the recording of a stream. A time before the engine's clock refers to the points: the
 * first later one ends the recording. A duration always counts by the engine's clock.
 */
export type StreamEnd =
  | { readonly kind: 'time'; readonly stop: Timestamp }
  | { readonly kind: 'duration'; readonly durationMs: number };

export class Recordings {
  readonly #options: RecordingsOptions;
  readonly #store: JobStore<RecordingRecord>;

  constructor(options: RecordingsOptions) {
    this.#options = options;
    makeDirectory(options.directory, { setting: 'replay.dir', mode: PRIVATE_DIRECTORY });
    this.#store = new JobStore(
      options.metadata.table<RecordingRecord>('recordings'),
      options.clock,
      { kind: 'recording', runningMax: options.runningMax, redact: options.redact },
    );
  }

  open(): Promise<void> {
    return this.#store.open();
  }

  list(): readonly RecordingRecord[] {
    return this.#store.list();
  }

  require(id: string): RecordingRecord {
    const record = this.#store.get(id);
    if (record === undefined)
      throw new NotFound(`no recording exists with the id ${JSON.stringify(id)}`);
    return record;
  }

  /**
   * File of a finished recording; `undefined` when there is none. If another instance has it, it is
   * copied here first.
   */
  async file(id: string, signal?: AbortSignal): Promise<string | undefined> {
    const { exchange } = this.#options;
    const path = this.#path(id);
    if ((await sizeOf(path)) !== undefined) return path;
    const instance = this.#store.get(id)?.instance;
    if (exchange === undefined || instance === undefined || instance === exchange.self)
      return undefined;
    await exchange.fetch({ id, instance }, path, signal);
    return path;
  }

  #path(id: string): string {
    return recordingFile(this.#options.directory, id);
  }

  async delete(id: string): Promise<void> {
    await this.#store.delete(id);
    const path = this.#path(id);
    await rm(path, { force: true });
    await this.#options.exchange?.remove(path);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  /** Records what a stream task receives from now on. */
  async recordStream(input: {
    readonly id: string;
    readonly task: string;
    readonly end: StreamEnd;
  }): Promise<RecordingRecord> {
    const id = idOrRandom(input.id, 'recording');
    const task = this.#options.tasks.require(input.task);
    const record = this.#record(id, 'stream', databasesOf(task));
    await this.#store.start(record, (control) =>
      this.#streamUntil(id, { task, end: input.end }, control),
    );
    return record;
  }

  /** Records the answers to a batch task's queries between two times. */
  async recordBatch(input: {
    readonly id: string;
    readonly task: string;
    readonly start: Timestamp;
    readonly stop: Timestamp;
  }): Promise<RecordingRecord> {
    const id = idOrRandom(input.id, 'recording');
    const task = this.#options.tasks.require(input.task);
    if (task.type !== 'batch')
      throw new InvalidRequest(`cannot record batch of stream task: ${task.id}`);
    const nodes = queryNodesOf(this.#options.checks.startableOf(task).pipeline);
    const record = this.#record(id, 'batch', databasesOf(task));
    await this.#store.start(record, (control) =>
      this.#write(id, 'batch', async (writer) => {
        for (const { node, index, tick, range } of mergedTicks(nodes, input)) {
          const series = await this.#options.scheduler.query(node, range, control.signal);
          control.signal.throwIfAborted();
          await writer.result({ query: index, stop: range.stop, series });
          control.progress(Number(tick - input.start) / Number(input.stop - input.start));
        }
      }),
    );
    return record;
  }

  /** Records the answer to one query, as points or as batches. */
  async recordQuery(input: {
    readonly id: string;
    readonly type: EdgeType;
    readonly query: string;
    readonly cluster: string;
  }): Promise<RecordingRecord> {
    const id = idOrRandom(input.id, 'recording');
    this.#options.clusters.cluster(input.cluster);
    const record = this.#record(id, input.type, databasesOfQuery(input.query));
    await this.#store.start(record, ({ signal }) =>
      this.#write(id, input.type, async (writer) => {
        const source = sourceOf(input.query);
        const series = await this.#options.clusters.query(input.cluster, input.query, signal);
        if (input.type === 'batch') {
          await writer.result({ query: 0, stop: this.#options.clock.now(), series });
          return;
        }
        for (const point of pointsOfSeries(series, source)) await writer.point(point);
      }),
    );
    return record;
  }

  #record(id: string, type: EdgeType, databases: readonly string[]): RecordingRecord {
    const date = formatRfc3339(this.#options.clock.now());
    const instance = this.#options.exchange?.self;
    return {
      id,
      type,
      sizeBytes: 0,
      date,
      error: '',
      status: 'running',
      progress: 0,
      databases,
      ...(instance === undefined ? {} : { instance }),
    };
  }

  async #write(
    id: string,
    type: EdgeType,
    fill: (writer: RecordingWriter) => Promise<void>,
  ): Promise<Partial<RecordingRecord>> {
    const writer = new RecordingWriter(this.#path(id), type);
    try {
      await fill(writer);
      return { sizeBytes: await writer.finish() };
    } catch (error) {
      await writer.abandon();
      throw error;
    }
  }

  #streamUntil(
    id: string,
    { task, end }: { readonly task: TaskRecord; readonly end: StreamEnd },
    { signal, progress }: JobControl,
  ): Promise<Partial<RecordingRecord>> {
    const { clock, router, checks } = this.#options;
    const started = clock.now();
    const stop =
      end.kind === 'time' ? end.stop : started + BigInt(Math.round(end.durationMs * 1e6));
    // A stop in the past can only refer to the times of the points.
    const isDataTime = end.kind === 'time' && stop <= started;
    const measurements = measurementsOf(checks.definitionOf(task).pipeline);
    return this.#write(id, 'stream', async (writer) => {
      const ended = new AbortController();
      const tap = new StreamTap(writer, {
        measurements,
        stop: isDataTime ? stop : undefined,
        onStop: () => ended.abort(),
      });
      const route = router.add(task.dbrps, tap);
      const limit = AbortSignal.any([signal, ended.signal, writer.failed]);
      try {
        while (!limit.aborted && (isDataTime || clock.now() < stop)) {
          const restMs = isDataTime ? 1000 : Number(stop - clock.now()) / 1e6;
          await clock.sleep(Math.min(1000, Math.max(1, restMs)), limit).catch(() => undefined);
          if (!isDataTime) progress(Number(clock.now() - started) / Number(stop - started));
        }
      } finally {
        await route.close();
      }
      signal.throwIfAborted();
    });
  }
}

/** Writes what the router gives it. */
class StreamTap implements PointConsumer {
  readonly error = undefined;
  readonly #writer: RecordingWriter;
  readonly #options: {
    readonly measurements: ReadonlySet<string>;
    /** The first point after this time ends the recording. */
    readonly stop: Timestamp | undefined;
    readonly onStop: () => void;
  };
  #pressure: Promise<unknown> | undefined;
  #isStopped = false;

  constructor(
    writer: RecordingWriter,
    options: {
      readonly measurements: ReadonlySet<string>;
      readonly stop: Timestamp | undefined;
      readonly onStop: () => void;
    },
  ) {
    this.#writer = writer;
    this.#options = options;
  }

  ready(): Promise<void> | undefined {
    const pressure = this.#pressure;
    if (pressure === undefined) return undefined;
    const settled = (): void => {
      this.#pressure = undefined;
    };
    // A failing disk ends the recording, which reports the reason; writers of points are not
    // affected.
    return pressure.then(settled, () => {
      this.#isStopped = true;
      settled();
    });
  }

  /** It raises no alerts. */
  processed(): undefined {
    return undefined;
  }

  push(batch: PointBatch): void {
    const { measurements, stop, onStop } = this.#options;
    if (this.#isStopped) return;
    for (const point of recordedPoints(batch, measurements)) {
      if (stop !== undefined && point.time > stop) {
        this.#isStopped = true;
        onStop();
        return;
      }
      this.#pressure = this.#writer.point(point) ?? this.#pressure;
    }
  }
}
