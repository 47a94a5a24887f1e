// What a topic remembers of an event.
import type { Timestamp } from '@tidemark/core';

export type RememberedState = {
  readonly level: 'OK' | 'INFO' | 'WARNING' | 'CRITICAL';
  readonly time: Timestamp;
  readonly durationNanos: bigint;
};

/** Of an event, what is remembered and no more. */
export function rememberedState(event: RememberedState): RememberedState {
  const { level, time, durationNanos } = event;
  return { level, time, durationNanos };
}
