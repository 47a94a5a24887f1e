// The path of every write, whatever its protocol: target, limits, storage, counters, subscribers.
import type { Clock, Precision, Timestamp } from '@tidemark/core';
import type { NewPoint, PointStorage, WriteOutcome } from '@tidemark/storage-api';

import type { Catalog } from '../catalog/catalog.ts';
import type { Database, RetentionPolicy } from '../catalog/model.ts';
import { databaseNotFound, WRITE_TIMEOUT } from '../compat/messages.ts';
import type { WriteCounters } from '../stats/statistics.ts';
import { Deadlines } from './deadlines.ts';
import { DatabaseMissing, policyRef, WriteFailed, writeTarget } from './policy-ref.ts';
import type { SeriesLimits } from './policy-ref.ts';

/** The written data, as subscribers get it. */
export type AcceptedWrite = {
  readonly database: string;
  readonly retentionPolicy: RetentionPolicy;
} & (
  | {
      readonly kind: 'lines';
      readonly body: Uint8Array;
      readonly precision: Precision;
      readonly now: Timestamp;
      /** Some lines could not be parsed. */
      readonly hasErrors: boolean;
    }
  | { readonly kind: 'points'; readonly points: readonly NewPoint[] }
);

/** Receives accepted writes. `publish` returns at once. */
export interface WriteSubscriber {
  /** Whether there are subscribers to this policy: only then is a copy made. */
  hasSubscribers(policy: RetentionPolicy): boolean;
  publish(write: AcceptedWrite): void;
}

export type WriteServiceOptions = {
  readonly catalog: Catalog;
  readonly storage: PointStorage;
  readonly clock: Clock;
  readonly limits: SeriesLimits;
  /** 0 is no limit. */
  readonly timeoutMs: number;
  readonly counters: WriteCounters;
};

export type WriteTarget = { readonly database: string; readonly retentionPolicy: string };

export class WriteService {
  readonly #options: WriteServiceOptions;
  readonly #deadlines: Deadlines;
  #subscriber: WriteSubscriber | undefined;
  /** By name of the database. */
  readonly #lastWrites = new Map<string, Timestamp>();

  constructor(options: WriteServiceOptions) {
    this.#options = options;
    this.#deadlines = new Deadlines(options.clock, options.timeoutMs);
  }

  setSubscriber(subscriber: WriteSubscriber): void {
    this.#subscriber = subscriber;
  }

  /** When the database last accepted points; `undefined` when it has not since the start. */
  lastWrite(database: string): Timestamp | undefined {
    return this.#lastWrites.get(database);
  }

  /** A buffer for a body that is then passed to `writeLines`. */
  bodyBuffer(sizeBytes: number): Uint8Array {
    return this.#options.storage.bodyBuffer(sizeBytes);
  }

  /** Throws `DatabaseMissing`: a missing database is reported before a body is read. */
  requireDatabase(name: string): void {
    if (this.#options.catalog.state.databases.has(name)) return;
    throw new DatabaseMissing(databaseNotFound(name));
  }

  /** Throws `DatabaseMissing` or `WriteFailed`. */
  resolve(target: WriteTarget): {
    readonly database: Database;
    readonly policy: RetentionPolicy;
  } {
    return writeTarget(this.#options.catalog.state, target);
  }

  /**
   * Writes line protocol and takes ownership of the body. Resolves when accepted points are durable
   * and visible.
   */
  async writeLines(request: {
    readonly target: WriteTarget;
    readonly body: Uint8Array;
    readonly precision: Precision;
    readonly isDetailed: boolean;
    /** Whether subscribers get the written data; not for imported data. */
    readonly isNews: boolean;
  }): Promise<WriteOutcome> {
    const { clock, storage } = this.#options;
    const { database, policy } = this.resolve(request.target);
    const now = clock.now();
    const isWanted = request.isNews && this.#subscriber?.hasSubscribers(policy) === true;
    const copy = isWanted ? request.body.slice() : undefined;
    const outcome = await this.#measured(
      storage.writeLines({
        policy: policyRef(database, policy, { now, limits: this.#options.limits }),
        body: request.body,
        precision: request.precision,
        now,
        isDetailed: request.isDetailed,
      }),
    );
    this.#remember(database.name, outcome, now);
    if (copy !== undefined && outcome.pointsWritten > 0) {
      this.#subscriber?.publish({
        kind: 'lines',
        database: database.name,
        retentionPolicy: policy,
        body: copy,
        precision: request.precision,
        now,
        hasErrors: outcome.parseErrors.length > 0,
      });
    }
    return outcome;
  }

  /** Writes points that were made inside the process. */
  async writePoints(target: WriteTarget, points: readonly NewPoint[]): Promise<WriteOutcome> {
    const { clock, storage } = this.#options;
    const { database, policy } = this.resolve(target);
    const now = clock.now();
    const outcome = await this.#measured(
      storage.writePoints({
        policy: policyRef(database, policy, { now, limits: this.#options.limits }),
        points,
      }),
    );
    this.#remember(database.name, outcome, now);
    if (outcome.pointsWritten > 0 && this.#subscriber?.hasSubscribers(policy) === true) {
      this.#subscriber.publish({
        kind: 'points',
        database: database.name,
        retentionPolicy: policy,
        points,
      });
    }
    return outcome;
  }

  #remember(database: string, { pointsWritten }: WriteOutcome, now: Timestamp): void {
    if (pointsWritten === 0) return;
    const { databases } = this.#options.catalog.state;
    // Names of dropped databases go when the next one is added.
    if (!this.#lastWrites.has(database)) {
      for (const name of this.#lastWrites.keys()) {
        if (!databases.has(name)) this.#lastWrites.delete(name);
      }
    }
    this.#lastWrites.set(database, now);
  }

  /**
   * Counts a write and its outcome. One promise for all of it, because each costs a small write a
   * hundredth. Storage may still accept a write later than `coordinator.write-timeout`.
   */
  #measured(write: Promise<WriteOutcome>): Promise<WriteOutcome> {
    const { counters, timeoutMs } = this.#options;
    counters.req++;
    return new Promise((resolve, reject) => {
      let isOver = false;
      const fail = (error: Error): void => {
        if (!isOver) counters.writeError++;
        isOver = true;
        reject(error);
      };
      const end =
        timeoutMs === 0
          ? undefined
          : this.#deadlines.add(() => {
              counters.writeTimeout++;
              fail(new WriteFailed(WRITE_TIMEOUT, { hint: 'see coordinator.write-timeout' }));
            });
      write.then(
        (outcome) => {
          end?.();
          if (isOver) return;
          const dropped = outcome.dropped?.count ?? 0;
          counters.pointReq += outcome.pointsWritten + dropped;
          counters.pointReqLocal += outcome.pointsWritten + dropped;
          counters.writeDrop += dropped;
          counters.writeOk++;
          resolve(outcome);
        },
        (error: unknown) => {
          end?.();
          fail(error as Error);
        },
      );
    });
  }
}
