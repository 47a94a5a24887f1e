// The log of points at the coordinator: acknowledged points are kept until every task's saved state
// contains them. Tasks read their points from it, so the order is the same whichever instance
// leads, and a new leader continues from the saved states.
import { randomUUID } from 'node:crypto';
import { deferred, InvalidRequest, messageOf, Unavailable, within } from '@tidemark/core';
import type { Clock, Deferred, Precision } from '@tidemark/core';
import type { LogRecord, SharedLog } from '@tidemark/cluster';
import { cutLines } from '@tidemark/line-protocol';
import { WriteParser } from '@tidemark/runtime';
import type { PointBatch, PointInput } from '@tidemark/runtime';
import type { Build } from './build.ts';
import { followPoints } from './follow-points.ts';
import { POINTS_NAMED } from '../limits.ts';
import type { Logger } from '../observability/log-hub.ts';
import { LoopedPoints } from './looped-points.ts';
import type { Looped, LoopedRecord, LoopedTo } from './looped-points.ts';
import { encodePointsWithin } from './point-body.ts';
import { printedLines } from './point-lines.ts';
import { batchOfPoints, labelIn, placed, POINTS_LEVEL, readRecord } from './point-record.ts';
import type { PointLabel } from './point-record.ts';
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
  /** The highest format level that all instances support. */
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
};

/** One record, before it is appended. */
type Piece = {
  readonly bytes: Uint8Array;
  readonly level: number;
  /** Its points, if they are known already. */
  readonly batch?: PointBatch | undefined;
  /** The position of the last of its points, if a loopback node wrote them. */
  readonly to?: LoopedTo | undefined;
};

/** A record that was sent and has not been read back. */
type Waiting = {
  readonly id: string;
  /** Its points as they were parsed before they were stored. */
  readonly batch: PointBatch | undefined;
  /** Resolved when the tasks have taken them, as far as they keep up. */
  readonly taken: Deferred;
};

/** How long a write waits for tasks to take its points; the log has it already. */
const TAKEN_MS = 1000;

const RETRY_MS = 200;

/** Subject of the points of loopback nodes. */
const LOOPED = 'looped';

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
  #forgetting: Promise<void> | undefined;
  /** The last record up to which all looped points are known; those that are dispatched are. */
  #learned: number | undefined;

  constructor(options: PointLogOptions) {
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, this.#closed.signal]);
    this.#looped = new LoopedPoints({
      ...options,
      append: (record, after) => this.#appendLooped(record, after),
      learn: () => this.#learnLooped(),
    });
    const end = (): void => this.#waiting.forEach(({ taken }) => taken.resolve());
    this.#signal.addEventListener('abort', end, { once: true });
    this.#rereader = new PointRereader({
      ...options,
      batchOf: (record) => this.#read(record, this.#learn(record)),
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

  #learn(record: LogRecord): PointLabel | undefined {
    const label = labelIn(record);
    if (label?.cause === undefined) return label;
    const { db: database, rp: retentionPolicy, cause } = label;
    this.#looped.learn({ cause, count: label.count ?? Infinity }, { database, retentionPolicy });
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
  async appendPoints({ points, ...target }: LoggedPoints): Promise<number> {
    const label = labelOf({ ...target, precision: 'ns' });
    const { pieces, leftCount } = this.#piecesOf(target, points, this.#roomBeside(label));
    await this.#keep(label, pieces);
    return leftCount;
  }

  #piecesOf(
    target: Pick<PointBatch, 'database' | 'retentionPolicy'>,
    points: readonly PointInput[],
    bytesMax: number,
  ): { readonly pieces: readonly CountedPiece[]; readonly leftCount: number } {
    if (this.#options.level() < POINTS_LEVEL) {
      const { body, count } = printedLines(points);
      const bodies = count === 0 ? [] : cutLines(body, bytesMax);
      // Where a body ends among the points is unknown, but for the last one.
      const pieces = bodies.map((bytes, i) => {
        const isLast = i === bodies.length - 1;
        return { bytes, level: 1, count: isLast ? points.length : 0 };
      });
      return { pieces, leftCount: points.length - count };
    }
    const bodies = encodePointsWithin(points, bytesMax);
    const batch = bodies.length === 1 ? batchOfPoints(target, points) : undefined;
    const pieces = bodies.map((body) => ({ ...body, level: POINTS_LEVEL, batch }));
    return { pieces, leftCount: 0 };
  }

  /** Stores points that a loopback node has written, each once. */
  loop(looped: Looped): void {
    this.#looped.add(looped);
  }

  async #appendLooped({ points, ...target }: LoopedRecord, after: number): Promise<number> {
    const label = labelOf({ ...target, precision: 'ns', now: this.#options.clock.now() });
    const unit = points.at(-1)?.cause?.unit;
    const longest = { cause: unit === undefined ? undefined : { unit, ...LAST }, ...LAST };
    const inputs = points.map(({ point }) => point);
    const { pieces } = this.#piecesOf(target, inputs, this.#roomBeside({ ...label, ...longest }));
    let at = 0;
    const placedPieces = pieces.map((piece): Piece => {
      at += piece.count;
      const { cause, count = 0 } = piece.count === 0 ? {} : (points[at - 1] ?? {});
      return { ...piece, to: cause === undefined ? undefined : { cause, count } };
    });
    return (await this.#keep(label, placedPieces, after)) ?? after;
  }

  /** See `LoopedPoints`. Each record is read once. */
  async #learnLooped(): Promise<number | undefined> {
    const { log, clock, logger, signal } = this.#options;
    const label = labelOf({ database: '', retentionPolicy: '', precision: 'ns', now: clock.now() });
    const text = JSON.stringify({ id: randomUUID(), ...label } satisfies PointLabel);
    while (!signal.aborted) {
      try {
        const options = { label: text, subject: LOOPED, signal };
        const last = await log.append(new Uint8Array(), options);
        this.#last = Math.max(this.#last, last);
        const learned = this.#learned === undefined ? 0 : Math.max(this.#learned, this.#dispatched);
        const first = Math.max((await log.ends()).first, learned + 1);
        if (first < last)
          for await (const record of log.read({ first, through: last, signal }))
            this.#learn(record);
        this.#learned = last;
        return last;
      } catch (error) {
        if (signal.aborted) break;
        logger('warn', 'failed to read looped-back points', { err: messageOf(error) });
        await clock.sleep(RETRY_MS, signal).catch(() => undefined);
      }
    }
    return undefined;
  }

  /** Resolves when looped points are stored; `undefined` when they are. */
  loopedKept(): Promise<void> | undefined {
    return this.#looped.kept();
  }

  /** Bytes that a record has left beside this label. */
  #roomBeside(label: Omit<PointLabel, 'id'>): number {
    return this.#options.log.bytesMax - Buffer.byteLength(JSON.stringify(label));
  }

  /**
   * One record after another: each is a message, which nothing else can interrupt. What the log has
   * is safe; tasks that keep up are awaited, so that the next request sees their results. With
   * `after` they are looped ones behind that one. Returns the number of the last record.
   */
  async #keep(label: Label, pieces: readonly Piece[], after?: number): Promise<number | undefined> {
    const { log, clock, patienceMs } = this.#options;
    const own = this.#options.signal;
    const signal =
      patienceMs === undefined ? own : AbortSignal.any([own, AbortSignal.timeout(patienceMs)]);
    const bytesMax = this.#roomBeside(label);
    const longest = pieces.reduce((most, { bytes }) => Math.max(most, bytes.length), 0);
    if (longest > bytesMax)
      throw new InvalidRequest(`a point is too long: ${longest} bytes, at most ${bytesMax}`);
    const waiting: Waiting[] = [];
    let last = after;
    try {
      for (const { bytes, level, batch, to } of pieces) {
        const own = { id: randomUUID(), batch, taken: deferred() };
        waiting.push(own);
        this.#waiting.set(own.id, own);
        const text = JSON.stringify({ id: own.id, ...label, ...to } satisfies PointLabel);
        const expected = after === undefined ? {} : { subject: LOOPED, after: last };
        last = await log.append(bytes, { label: text, level, signal, ...expected });
        this.#last = Math.max(this.#last, last);
      }
      if (this.#isGiving)
        await within(clock, TAKEN_MS, Promise.all(waiting.map(({ taken }) => taken.promise)));
      return last;
    } catch (error) {
      if (!signal.aborted || own.aborted) throw error;
      throw new Unavailable('the coordinator of the cluster does not answer', { cause: error });
    } finally {
      for (const { id } of waiting) this.#waiting.delete(id);
    }
  }

  /**
   * Purges everything up to a number, which all saved states contain, in the background: a
   * coordinator that deletes one record after the other needs a while. Does nothing while it
   * purges.
   */
  forget(through: number): void {
    if (through > 0) this.#forgetting ??= this.#purge(through); // Never rejects.
  }

  async #purge(through: number): Promise<void> {
    const { log, logger } = this.#options;
    try {
      await log.purge(through + 1, this.#signal);
    } catch (error) {
      // The log is longer than necessary until the next attempt.
      logger('warn', 'failed to shorten the log of points', { err: messageOf(error) });
    }
    this.#forgetting = undefined;
  }

  /** Whether new records are passed to the tasks. */
  get #isGiving(): boolean {
    return this.#running !== undefined && !this.#signal.aborted;
  }

  /** Nothing more is dispatched; points that are looped until the term ends are stored. */
  async close(): Promise<void> {
    this.#closed.abort(new Unavailable('the engine stops'));
    await this.#running;
    await this.#forgetting;
  }

  #give(record: LogRecord, dispatch: Dispatch): void {
    const label = this.#learn(record);
    const own = this.#waiting.get(label?.id ?? '');
    // Points that this process has sent are not parsed again. The thread that gets them may take
    // them over: those who read the record again parse it.
    const sent = own?.batch;
    const batch = sent === undefined ? this.#read(record, label) : placed(sent, record, label);
    this.#dispatched = record.sequence;
    this.#name(record);
    const taken = own?.taken;
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

  #read(record: LogRecord, label: PointLabel | undefined): PointBatch {
    const { build, unreadable } = this.#options;
    const { problem, batch } = readRecord(this.#parser, record, { label, build });
    if (problem !== undefined) unreadable.add(record, problem);
    return batch;
  }
}

type Label = Omit<PointLabel, 'id' | 'cause' | 'count'>;

/** `count`: how many points it has; 0 when that is unknown. */
type CountedPiece = Piece & { readonly count: number };

/** Numbers as long as they can be. */
const LAST = {
  record: Number.MAX_SAFE_INTEGER,
  row: Number.MAX_SAFE_INTEGER,
  count: Number.MAX_SAFE_INTEGER,
};

function labelOf({
  database: db,
  retentionPolicy: rp,
  precision,
  now,
}: Omit<LoggedWrite, 'body'>): Label {
  return { db, rp, precision, now: String(now) };
}
