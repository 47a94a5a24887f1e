// Points as passed on by listeners.
import type { Timestamp } from '@tidemark/core';
import type { LineFieldValue } from '@tidemark/line-protocol';

/** A point of any protocol. */
export type ListenerPoint = {
  readonly measurement: string;
  readonly tags: readonly (readonly [string, string])[];
  readonly fields: readonly (readonly [string, LineFieldValue])[];
  readonly time: Timestamp;
};
