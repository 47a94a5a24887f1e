// The log of points at the coordinator: acknowledged points are kept until every task's saved state
// contains them. Tasks read their points from it, so the order is the same whichever instance
// leads, and a new leader continues from the saved states.
import { randomUUID } from 'node:crypto';
import { InvalidRequest, messageOf, Unavailable, within } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { LogRecord, SharedLog } from '@tidemark/cluster';
import { cutLines } from '@tidemark/line-protocol';
import type { Precision } from '@tidemark/line-protocol';
import { WriteParser } from '@tidemark/runtime';
import type { EventCause, PointBatch, PointInput } from '@tidemark/runtime';
import { opening } from '../opening.ts';
import type { Opening } from '../opening.ts';
import type { Build } from './build.ts';
import { followPoints } from './follow-points.ts';
import { POINTS_NAMED } from '../limits.ts';
import type { Logger } from '../observability/log-hub.ts';
import { LoopedPoints } from './looped-points.ts';
import type { Looped } from './looped-points.ts';
import { encodePointsWithin } from './point-body.ts';
import { printedLines } from './point-lines.ts';
import { batchOfPoints, labelIn, placed, POINTS_LEVEL, readRecord } from './point-record.ts';
import type { PointLabel, ReadRecord } from './point-record.ts';
import { PointRereader } from './point-rereader.ts';
import type { Rereading } from './point-rereader.ts';
import type { UnreadablePoints } from './unreadable-points.ts';

/** Lines as they are stored. */
export type LoggedWrite = {
  readonly body: Uint8Array;
  readonly database: string;
  readonly retentionPolicy: string;
  readonly precision: Precision;
  /** Time of points without one. */
  readonly now: bigint;
};

export type PointLogOptions = {
  readonly log: SharedLog;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly build: Build;
  /** The newest format version that all instances can read. */
  readonly level: () => number;
  /** Stores records that cannot be read. */
  readonly unreadable: UnreadablePoints;
  /** Whether this instance leads at this moment. */
  readonly isLeading: () => boolean;
  /** Ends with the term of this leader. */
  readonly signal: AbortSignal;
  /** How long storing a write is retried; default: until the term ends. */
  readonly patienceMs?: number | undefined;
};

/** Points of one database and policy that did not arrive as lines. */
export type LoggedPoints = {
  readonly database: string;
  readonly retentionPolicy: string;
  readonly points: readonly PointInput[];
  /** Arrival time. */
  readonly now: bigint;
  /** The last row that has caused some of them. */
  readonly cause?: EventCause | undefined;
};

/** One record, before it is appended. */
type Piece = {
  readonly bytes: Uint8Array;
  readonly level: number;
  /** Its points, if they are known already. */
  readonly batch?: PointBatch | undefined;
};

/** A record that was sent and has not been read back. */
type Waiting = {
  readonly id: string;
  /** Its points as they were parsed before they were stored. */
  readonly batch: PointBatch | undefined;
  /** Resolved when the tasks have taken them, as far as they keep up. */
  readonly taken: Opening;
};

/** How long a write waits for tasks to take its points; the log has it already. */
const TAKEN_MS = 1000;

const RETRY_MS = 200;

export type Dispatch = (batch: PointBatch) => Promise<void>;

export class PointLog {
  readonly #options: PointLogOptions;
  readonly #parser = new WriteParser();
  /** Writes of this process that have not been read back yet. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #closed = new AbortController();
  readonly #signal: AbortSignal;
  readonly #rereader: PointRereader;
  readonly #recent: { readonly sequence: number; readonly sizeBytes: number }[] = [];
  #recentBytes = 0;
  readonly #looped: LoopedPoints;
  /** Number of the first record that existed when the term began. */
  #first = 1;
  #dispatched = 0;
  #last = 0;
  #running: Promise<void> | undefined;
  #learning: Promise<void> | undefined;

  constructor(options: PointLogOptions) {
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, this.#closed.signal]);
    this.#looped = new LoopedPoints({
      ...options,
      append: async (looped) => {
        await this.appendPoints({ ...looped, now: options.clock.now() });
      },
      causesKnown: () => (this.#learning ??= this.#learnCauses()),
    });
    const end = (): void => this.#waiting.forEach(({ taken }) => taken.resolve());
    this.#signal.addEventListener('abort', end, { once: true });
    this.#rereader = new PointRereader({
      ...options,
      batchOf: (record) => this.#batchOf(record),
      signal: this.#signal,
    });
  }

  /** Number of the last record that the tasks were given. */
  get dispatched(): number {
    return this.#dispatched;
  }

  /** Number of the last known record. */
  get last(): number {
    return Math.max(this.#last, this.#dispatched);
  }

  /**
   * From this record on, instances that read the log themselves get only the numbers of records; it
   * increases.
   */
  get firstNamed(): number {
    return this.#recent[0]?.sequence ?? 0;
  }

  /** Number of records that this instance has set aside. */
  get unreadableCount(): number {
    return this.#options.unreadable.count;
  }

  /** Before anything is dispatched: the position at which tasks without a state start. */
  async begin(): Promise<void> {
    const { first, last } = await this.#options.log.ends();
    this.#first = first;
    this.#dispatched = last;
  }

  /** Number of missing records of the log after a state that contains it up to `sequence`. */
  missingAfter(sequence: number): number {
    return Math.max(0, this.#first - 1 - sequence);
  }

  /** Begins to pass new records to the tasks, which read earlier ones themselves (`again`). */
  open(dispatch: Dispatch): void {
    this.#signal.throwIfAborted();
    this.#running = followPoints({
      ...this.#options,
      signal: this.#signal,
      last: () => this.#dispatched,
      take: (record) => this.#give(record, dispatch),
    });
  }

  /** Reads what loopback nodes have appended to the log before this process began to follow it. */
  async #learnCauses(): Promise<void> {
    const { log, clock, logger, signal } = this.#options;
    const through = this.#dispatched;
    while (!signal.aborted) {
      try {
        const { first } = await log.ends();
        if (first > through) return;
        for await (const record of log.read({ first, through, signal })) this.#learn(record);
        return;
      } catch (error) {
        if (signal.aborted) return;
        logger('warn', 'failed to read looped-back points', { err: messageOf(error) });
        await clock.sleep(RETRY_MS, signal).catch(() => undefined);
      }
    }
  }

  #learn(record: LogRecord): PointLabel | undefined {
    const label = labelIn(record);
    if (label?.cause === undefined) return label;
    const { db: database, rp: retentionPolicy, cause } = label;
    this.#looped.learn(cause, { database, retentionPolicy });
    return label;
  }

  /** Gives one task a part of the log that it has missed; false when it was ended before. */
  again(rereading: Rereading): Promise<boolean> {
    return this.#rereader.read(rereading);
  }

  /**
   * Stores parsed lines; `batch` are their points. Resolves when they are stored and, soon after,
   * the tasks that keep up have taken them. Throws `Unavailable` when some may not have been
   * stored, `InvalidRequest` when a line is longer than a record may be.
   */
  async append(write: LoggedWrite, batch?: PointBatch): Promise<void> {
    const label = labelOf(write);
    const pieces = cutLines(write.body, this.#roomBeside(label));
    const known = pieces.length === 1 ? batch : undefined;
    await this.#keep(
      label,
      pieces.map((bytes) => ({ bytes, level: 1, batch: known })),
    );
  }

  /**
   * As `append`. Returns how many points were left out: while an instance supports lines only,
   * those that lines cannot represent.
   */
  async appendPoints({ points, cause, ...target }: LoggedPoints): Promise<number> {
    const label = labelOf({ ...target, precision: 'ns', cause });
    const bytesMax = this.#roomBeside(label);
    if (this.#options.level() < POINTS_LEVEL) {
      const { body, count } = printedLines(points);
      const pieces = count === 0 ? [] : cutLines(body, bytesMax);
      await this.#keep(
        label,
        pieces.map((bytes) => ({ bytes, level: 1 })),
      );
      return points.length - count;
    }
    const pieces = encodePointsWithin(points, bytesMax);
    const batch = pieces.length === 1 ? batchOfPoints(target, points) : undefined;
    await this.#keep(
      label,
      pieces.map((bytes) => ({ bytes, level: POINTS_LEVEL, batch })),
    );
    return 0;
  }

  /** Stores points that a loopback node has written, each once. */
  loop(looped: Looped): void {
    this.#looped.add(looped);
  }

  /** Resolves when looped points are stored; `undefined` when they are. */
  loopedKept(): Promise<void> | undefined {
    return this.#looped.kept();
  }

  /** Bytes that a record has left beside this label. */
  #roomBeside(label: Label): number {
    return this.#options.log.bytesMax - Buffer.byteLength(JSON.stringify(label));
  }

  /**
   * One record after another: each is a message, which nothing else can interrupt. What the log has
   * is safe; tasks that keep up are awaited, so that the next request sees their results.
   */
  async #keep(label: Label, pieces: readonly Piece[]): Promise<void> {
    const { log, clock, patienceMs } = this.#options;
    const own = this.#options.signal;
    const signal =
      patienceMs === undefined ? own : AbortSignal.any([own, AbortSignal.timeout(patienceMs)]);
    const bytesMax = this.#roomBeside(label);
    const longest = pieces.reduce((most, { bytes }) => Math.max(most, bytes.length), 0);
    if (longest > bytesMax)
      throw new InvalidRequest(`a point is too long: ${longest} bytes, at most ${bytesMax}`);
    const waiting: Waiting[] = [];
    try {
      for (const [i, { bytes, level, batch }] of pieces.entries()) {
        const own = { id: randomUUID(), batch, taken: opening() };
        waiting.push(own);
        this.#waiting.set(own.id, own);
        // Pieces before the last one may end within the points of a row, so only the last has the
        // cause.
        const cause = i === pieces.length - 1 ? label.cause : undefined;
        const text = JSON.stringify({ id: own.id, ...label, cause } satisfies PointLabel);
        const number = await log.append(bytes, { label: text, level, signal });
        this.#last = Math.max(this.#last, number);
      }
      if (this.#isGiving)
        await within(clock, TAKEN_MS, Promise.all(waiting.map(({ taken }) => taken.promise)));
    } catch (error) {
      if (!signal.aborted || own.aborted) throw error;
      throw new Unavailable('the coordinator of the cluster does not answer', { cause: error });
    } finally {
      for (const { id } of waiting) this.#waiting.delete(id);
    }
  }

  /** Purges everything up to a number, which all saved states contain. */
  async forget(through: number): Promise<void> {
    const { log, logger } = this.#options;
    if (through <= 0) return;
    try {
      await log.purge(through + 1);
    } catch (error) {
      // The log is longer than necessary until the next attempt.
      logger('warn', 'failed to shorten the log of points', { err: messageOf(error) });
    }
  }

  /** Whether new records are passed to the tasks. */
  get #isGiving(): boolean {
    return this.#running !== undefined && !this.#signal.aborted;
  }

  /** Nothing more is dispatched; points that are looped until the term ends are stored. */
  async close(): Promise<void> {
    this.#closed.abort(new Unavailable('the engine stops'));
    await this.#running;
  }

  #give(record: LogRecord, dispatch: Dispatch): void {
    const { sequence } = record;
    const { id, batch } = this.#read(record);
    this.#dispatched = sequence;
    this.#name(record);
    const taken = this.#waiting.get(id ?? '')?.taken;
    if (batch.rowCount === 0) return taken?.resolve();
    dispatch(batch)
      .catch((error: unknown) =>
        this.#options.logger('error', 'failed to give points to tasks', { err: messageOf(error) }),
      )
      .finally(() => taken?.resolve());
  }

  #name({ sequence, bytes }: LogRecord): void {
    this.#recent.push({ sequence, sizeBytes: bytes.length });
    this.#recentBytes += bytes.length;
    while (this.#recentBytes > POINTS_NAMED.value && this.#recent.length > 1)
      this.#recentBytes -= this.#recent.shift()?.sizeBytes ?? 0;
  }

  #batchOf(record: LogRecord): PointBatch {
    return this.#read(record).batch;
  }

  /** Points that this process has sent itself are not parsed again. */
  #read(record: LogRecord): ReadRecord {
    const label = this.#learn(record);
    const known = label === undefined ? undefined : this.#waiting.get(label.id)?.batch;
    if (label !== undefined && known !== undefined)
      return { id: label.id, batch: placed(known, record, label) };
    const { build, unreadable } = this.#options;
    const { problem, ...read } = readRecord(this.#parser, record, { label, build });
    if (problem !== undefined) unreadable.add(record, problem);
    return read;
  }
}

type Label = Omit<PointLabel, 'id'>;

function labelOf({
  database: db,
  retentionPolicy: rp,
  precision,
  now,
  cause,
}: Omit<LoggedWrite, 'body'> & Pick<LoggedPoints, 'cause'>): Label {
  return { db, rp, precision, now: String(now), ...(cause === undefined ? {} : { cause }) };
}
