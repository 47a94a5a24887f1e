// The lease: its holder is the one front end that runs work which must not run twice. Front ends
// agree on the holder in the shared log; it loses the lease when its heartbeats stop. Each front
// end measures times by its own monotonic clock, so that clocks may differ.
import { randomUUID } from 'node:crypto';

import type { Clock } from '@tidemark/core';
import type { StorageLog } from '@tidemark/storage-api';

import type { Cluster } from '../cluster/cluster.ts';
import { LIMITS } from '../limits.ts';
import { FailureLog, PeriodicJob } from '../periodic-job.ts';
import { RowReader, RowWriter } from '../sql/row-binary.ts';
import { sqlText } from '../sql/literals.ts';
import { BEATS_TABLE } from '../sql/tables.ts';
import type { SharedState } from './shared-state.ts';

export type LeaseParts = {
  readonly cluster: Cluster;
  readonly state: SharedState;
  readonly clock: Clock;
  readonly log: StorageLog;
};

export class Lease {
  readonly #parts: LeaseParts;
  readonly #id = randomUUID();
  readonly #jobs: readonly PeriodicJob[];
  #beat = 0n;
  /** Monotonic: no other front end takes the lease before. */
  #heldUntilMs = -Infinity;
  /** The last heartbeat of the holder that this front end has seen, and when it was new. */
  #seen = { holder: '', beat: -1n, atMs: 0 };
  #held: AbortController | undefined;

  constructor(parts: LeaseParts) {
    this.#parts = parts;
    const what = 'take or renew the lease for exclusive work';
    const job = (everyMs: number, work: () => Promise<void>): PeriodicJob =>
      new PeriodicJob({ ...parts, what, everyMs, work });
    this.#jobs = [
      job(LIMITS.beatMs.value, () => this.#step()),
      job(LIMITS.expireMs.value, () => Promise.resolve(this.#update())),
    ];
  }

  /** Aborted when the lease is lost; `undefined` while this front end does not have it. */
  get signal(): AbortSignal | undefined {
    this.#update();
    return this.#held?.signal;
  }

  /** Gives the lease back. */
  async close(): Promise<void> {
    await Promise.all(this.#jobs.map((job) => job.close()));
    const { state, log } = this.#parts;
    this.#heldUntilMs = -Infinity;
    this.#update();
    if (state.leader !== this.#id) return;
    try {
      await state.agree(() =>
        state.leader === this.#id ? { kind: 'leader', holder: '' } : undefined,
      );
    } catch (error) {
      // The others take the lease when it expires.
      new FailureLog(log, 'give the lease back').failed(error);
    }
  }

  #update(): void {
    const isHeld =
      this.#parts.state.leader === this.#id && this.#parts.clock.monotonicMs() < this.#heldUntilMs;
    if (isHeld) this.#held ??= new AbortController();
    else if (this.#held !== undefined) {
      this.#held.abort(new Error('another front end has the lease'));
      this.#held = undefined;
    }
  }

  async #step(): Promise<void> {
    const { state, clock } = this.#parts;
    const { leader } = state;
    if (leader === this.#id) return this.#renew();
    if (leader !== '') {
      const beat = await this.#beatOf(leader);
      const nowMs = clock.monotonicMs();
      if (leader !== this.#seen.holder || beat !== this.#seen.beat)
        this.#seen = { holder: leader, beat, atMs: nowMs };
      if (nowMs - this.#seen.atMs < LIMITS.leaseMs.value) return;
    }
    await state.agree(() =>
      state.leader === leader ? { kind: 'leader', holder: this.#id } : undefined,
    );
    if (state.leader === this.#id) await this.#renew();
  }

  /**
   * The holder gives up before others may take over, because they measure from when they see the
   * heartbeat.
   */
  async #renew(): Promise<void> {
    const { cluster, clock } = this.#parts;
    const startedMs = clock.monotonicMs();
    const row = new RowWriter();
    row.text(this.#id);
    row.uint64(++this.#beat);
    const into = `${cluster.table(BEATS_TABLE)} (holder, beat) FORMAT RowBinary`;
    await cluster.insert('all nodes', { into, rows: row.finish() });
    this.#heldUntilMs = startedMs + LIMITS.leaseMs.value * HELD_SHARE;
    this.#update();
  }

  async #beatOf(holder: string): Promise<bigint> {
    const { cluster } = this.#parts;
    const reader = new RowReader(
      await cluster.rowsOfAny(
        `SELECT max(beat) FROM ${cluster.table(BEATS_TABLE)} WHERE holder = ${sqlText(holder)}`,
        // Reads every acknowledged heartbeat, whichever replica answers.
        { settings: cluster.quorum > 1 ? { select_sequential_consistency: 1 } : {} },
      ),
    );
    return reader.hasMore ? reader.uint64() : 0n;
  }
}

/** The holder keeps the lease for this share of `LIMITS.leaseMs` after a heartbeat. */
const HELD_SHARE = 0.6;
