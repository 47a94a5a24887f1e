// How a stop of the engine spends its time, so that one task that is stuck costs neither the states
// of the others nor events that could be delivered.
import type { Clock } from '@tidemark/core';
import { STOP_IDLE_MS, STOP_MS } from './limits.ts';

/** The share of a stop by whose end each step is over. */
const ENDS = {
  /** Tasks take what waits for them, and writes wait for that. */
  writes: 0.45,
  /** Requests are answered, and tasks catch up. */
  points: 0.5,
  /** What tasks have sent is answered. */
  outputs: 0.6,
  /** States of tasks are saved. */
  states: 0.75,
  /** Tasks end. */
  tasks: 0.875,
  /** Alerts are delivered. */
  deliveries: 1,
} as const;

export type StopStep = keyof typeof ENDS;

export class StopTime {
  readonly #clock: Clock;
  readonly #limitMs: () => number;
  #begunMs: number | undefined;
  /** The saved states of all tasks are as new as their events. */
  areStatesSaved = false;

  /** `limitMs` tells how long a stop may take; no longer than `STOP_MS` in any case. */
  constructor(clock: Clock, limitMs: () => number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  /** Milliseconds that are left for a step; the first call begins the stop. */
  leftFor(step: StopStep): number {
    const nowMs = this.#clock.monotonicMs();
    const elapsedMs = nowMs - (this.#begunMs ??= nowMs);
    return Math.max(0, Math.min(this.#limitMs(), STOP_MS) * ENDS[step] - elapsedMs);
  }

  /** How long a task that ends may make no progress: `configuredMs`, or less during a stop. */
  idleMs(configuredMs: number): number {
    return this.#begunMs === undefined ? configuredMs : Math.min(configuredMs, STOP_IDLE_MS);
  }
}
