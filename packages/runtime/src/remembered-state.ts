// The stored state of an event in its topic.
import type { Timestamp } from '@tidemark/core';
import type { EventCause } from './event-cause.ts';

export type RememberedState = {
  readonly level: 'OK' | 'INFO' | 'WARNING' | 'CRITICAL';
  readonly time: Timestamp;
  readonly durationNanos: bigint;
  /** Number of the record of the log of points that caused it, if one did. */
  readonly record?: number | undefined;
};

/** A state, or the event that sets it. */
export type StateSource = RememberedState & { readonly cause?: EventCause | undefined };

/** Number of the record of the log of points that a state comes from, if there is one. */
export function recordOf({ cause, record }: StateSource): number | undefined {
  return cause?.record ?? record;
}

/** The remembered part of an event. */
export function rememberedState(source: StateSource): RememberedState {
  const { level, time, durationNanos } = source;
  return { level, time, durationNanos, record: recordOf(source) };
}
