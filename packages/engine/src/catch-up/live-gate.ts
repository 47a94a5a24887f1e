// Sits between the router and a task that catches up: holds back the points of the stream until the
// task has received the missed ones, and then drops those that it already has.
import { deferred } from '@tidemark/core';
import type { Clock, Deferred, Timestamp } from '@tidemark/core';
import type { BatchTaker, PointBatch, RunningTask } from '@tidemark/runtime';
import type { PointConsumer } from '../ingest/point-router.ts';
import type { ReadPoints } from './read-points.ts';

type Mode =
  /** Points wait in the router, as for a task that is behind. */
  | 'held'
  /** The task gets the waiting points, which advance its time. */
  | 'draining'
  | 'live'
  /** The engine stops: waiting points are in the database and are read after the next start. */
  | 'dropping';

export class LiveGate implements PointConsumer {
  readonly #task: RunningTask;
  readonly #clock: Clock;
  readonly #latenessNanos: bigint;
  #mode: Mode = 'live';
  #opening: Deferred = deferred();
  #read: ReadPoints | undefined;
  #readUntil: Timestamp = 0n;
  /** Batches that were in progress when the gate was closed. */
  #strays: PointBatch[] = [];
  droppedCount = 0;

  /**
   * Points that were read may also come from the stream up to `latenessNanos` after the task is
   * live.
   */
  constructor(task: RunningTask, clock: Clock, latenessNanos: bigint) {
    this.#task = task;
    this.#clock = clock;
    this.#latenessNanos = latenessNanos;
    task.onError(() => this.#opening.resolve());
  }

  get taker(): BatchTaker | undefined {
    return this.#task.taker;
  }

  get measurements(): ReadonlySet<string> {
    return this.#task.measurements;
  }

  get error(): string | undefined {
    return this.#task.error;
  }

  ready(): Promise<void> | undefined {
    const isHeld = this.#mode === 'held' && this.#task.error === undefined;
    return isHeld ? this.#opening.promise : this.#task.ready();
  }

  processed(): Promise<void> | undefined {
    return this.#mode === 'held' ? undefined : this.#task.processed();
  }

  push(batch: PointBatch): void {
    switch (this.#mode) {
      case 'held':
        this.#strays.push(batch);
        break;
      case 'dropping':
        this.droppedCount += batch.rowCount;
        break;
      default:
        this.#pass(batch);
    }
  }

  get isHeld(): boolean {
    return this.#mode === 'held';
  }

  hold(): void {
    if (this.#mode === 'held') return;
    this.#mode = 'held';
    this.#opening = deferred();
  }

  /** The task has been given these points; the waiting ones follow. */
  drain(read: ReadPoints): void {
    this.#read = read;
    this.#open('draining');
  }

  /** The task's time is the machine's from now on. */
  goLive(): void {
    this.#readUntil = this.#clock.now() + this.#latenessNanos;
    this.#open('live');
  }

  /** Drops waiting points and all later ones. */
  drop(): void {
    this.#open('dropping');
  }

  #open(mode: Mode): void {
    this.#mode = mode;
    const strays = this.#strays;
    this.#strays = [];
    for (const batch of strays) this.push(batch);
    this.#opening.resolve();
  }

  #pass(batch: PointBatch): void {
    const now = this.#read === undefined ? 0n : this.#clock.now();
    const isLive = this.#mode === 'live';
    if (isLive && now > this.#readUntil) this.#read = undefined;
    const left = this.#read === undefined ? batch : this.#read.without(batch);
    if (left === undefined) return;
    // Points of the future must not move the time beyond the present.
    if (isLive || left.times.some((time) => time > now)) this.#task.push(left);
    else this.#task.pushDue(left, { offset: 0n });
  }
}
