// What a topic remembers of an event.
import type { Timestamp } from '@tidemark/core';
import type { EventCause } from './event-cause.ts';

export type RememberedState = {
  readonly level: 'OK' | 'INFO' | 'WARNING' | 'CRITICAL';
  readonly time: Timestamp;
  readonly durationNanos: bigint;
  /** Number of the record of the log of points that caused it, if one did. */
  readonly record?: number | undefined;
};

/** Of an event, what is remembered and no more. */
export function rememberedState(
  event: RememberedState & { readonly cause?: EventCause | undefined },
): RememberedState {
  const { level, time, durationNanos, cause } = event;
  return { level, time, durationNanos, record: cause?.record ?? event.record };
}
