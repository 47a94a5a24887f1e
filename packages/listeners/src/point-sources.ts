// Sources of points: opened, counted and closed together. A source listens on a socket, or fetches
// points as a consumer of a queue does; each has a batcher, which tells it what became of its
// points.
import { formatRfc3339 } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { Batcher } from './batcher.ts';
import type { ListenerCounters, ListenerLog, ListenerSink } from './batcher.ts';

export type PointSourcesOptions = {
  readonly writer: ListenerSink;
  readonly clock: Clock;
  readonly log: ListenerLog;
  /** Called before a source opens: makes sure that its database can be written to. */
  readonly prepare: (database: string) => Promise<void>;
  /** Called for input that could not be read or stored. `time` is RFC 3339. */
  readonly onRejected: (
    origin: { readonly time: string; readonly source: string; readonly database: string },
    rejected: readonly RejectedInput[],
  ) => void;
};

/** Invalid input, or points that could not be stored. */
export type RejectedInput = {
  readonly lineNumber?: number | undefined;
  readonly text: string;
  readonly reason: string;
  /** Default 1. */
  readonly count?: number | undefined;
};

/** Where the points of a source go, and in which batches. */
export type SourceTarget = {
  readonly database: string;
  readonly retentionPolicy: string;
  readonly batchSize: number;
  readonly batchPending: number;
  readonly batchTimeoutMs: number;
};

/** What a source passes its input to. */
export type Intake = {
  readonly batcher: Batcher;
  /** Counts and reports input that is not a point. `sender` is an address. */
  readonly unreadable: (sender: string, rejected: readonly RejectedInput[]) => void;
};

/** A source that is open. */
export type OpenSource = {
  /** The address as statistics show it. */
  readonly address: string;
  /** Ends it. The points that it has added are written afterwards. */
  close(): Promise<void>;
};

/** Counters of one source. */
export type SourceStatistics = {
  readonly kind: string;
  readonly bind: string;
  readonly counters: Readonly<ListenerCounters>;
};

export class PointSources {
  readonly #options: PointSourcesOptions;
  readonly #open: {
    readonly kind: string;
    readonly batcher: Batcher;
    readonly source: OpenSource;
  }[] = [];

  constructor(options: PointSourcesOptions) {
    this.#options = options;
  }

  /** In the order in which they were opened. */
  statistics(): readonly SourceStatistics[] {
    return this.#open.map(({ kind, batcher, source }) => ({
      kind,
      bind: source.address,
      counters: batcher.counters,
    }));
  }

  /** Opens a source. When `start` rejects, the sources before it stay open: call `close`. */
  async open<Source extends OpenSource>(
    kind: string,
    target: SourceTarget,
    start: (intake: Intake) => Promise<Source>,
  ): Promise<Source> {
    const { clock, log, writer, prepare } = this.#options;
    const { database, retentionPolicy } = target;
    await prepare(database);
    const batcher = new Batcher({
      writer,
      clock,
      log,
      target: { database, retentionPolicy },
      batchSize: target.batchSize,
      maxPending: target.batchPending,
      timeoutMs: target.batchTimeoutMs,
      onDropped: (count, reason) =>
        this.#reject({ source: kind, database }, [{ text: '', reason, count }]),
    });
    const source = await start({
      batcher,
      unreadable: (sender, rejected) => {
        for (const { count = 1 } of rejected) batcher.counters.pointsParseFail += count;
        this.#reject({ source: `${kind}:${sender}`, database }, rejected);
      },
    });
    this.#open.push({ kind, batcher, source });
    return source;
  }

  /** Closes all sources, each with its points written. */
  async close(): Promise<void> {
    for (const { source, batcher } of this.#open.splice(0)) {
      await source.close();
      await batcher.close();
    }
  }

  #reject(
    origin: { readonly source: string; readonly database: string },
    rejected: readonly RejectedInput[],
  ): void {
    if (rejected.length === 0) return;
    this.#options.onRejected(
      { ...origin, time: formatRfc3339(this.#options.clock.now()) },
      rejected,
    );
  }
}
