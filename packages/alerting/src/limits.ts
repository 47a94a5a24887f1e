// Limits of alerting.
import type { Limit, SettingLimit } from '@tidemark/core';

export const QUEUE_LENGTH: SettingLimit = {
  setting: 'alert.topic-buffer-length',
  value: 5000,
  unit: 'count',
  reason: 'events of one handler that wait for delivery in memory; more wait on disk',
};

export const OUTBOX_LENGTH: Limit = {
  value: 1_000_000,
  unit: 'count',
  reason:
    'events of one handler that wait on disk, about a gigabyte; more are refused, counted and logged',
};

export const UNSTORED_BYTES: Limit = {
  value: 64 * 1024 * 1024,
  unit: 'bytes',
  reason:
    'events that wait in memory for a disk that takes nothing; more are delivered at once or lost',
};

export const STORE_RETRY_DELAY: Limit = {
  value: 1000,
  unit: 'ms',
  reason: 'soon enough after space was freed; a try on a full disk costs next to nothing',
};

/** OK events older than this are dropped at a clean end; others are kept forever. */
export const OK_EVENT_AGE: Limit = {
  value: 7 * 24 * 3_600_000,
  unit: 'ms',
  reason: 'ids that come and go, such as those of containers, must not gather in topics',
};

export const QUEUE_LENGTH_MIN = 1000;

export const RETRY_DELAY_FIRST: Limit = {
  value: 1000,
  unit: 'ms',
  reason: 'long enough for a restarting receiver, short enough to go unnoticed',
};

export const RETRY_DELAY_MAX: Limit = {
  value: 300_000,
  unit: 'ms',
  reason: 'a receiver that was away for hours is found again within five minutes',
};

export const RETRY_COUNT: Limit = {
  value: 20,
  unit: 'count',
  reason:
    'with the delays above about an hour and a quarter; then the event goes to the dead letters',
};

export const SEND_TIMEOUT: Limit = {
  value: 30_000,
  unit: 'ms',
  reason: 'a receiver that does not answer must not hold its queue longer',
};

export const DEAD_LETTERS: Limit = {
  value: 10_000,
  unit: 'count',
  reason:
    'oldest are dropped first, so that a receiver that is gone for good does not fill the disk',
};

/**
 * Bytes of topic and id that fit the store's keys (1,978 bytes with their framing); longer ids are
 * hashed.
 */
export const KEY_BYTES_MAX = 1900;

/**
 * Maximum chain of `publish` and `aggregate` handlers from topic to topic: longer ones are a loop.
 */
export const PUBLISH_DEPTH_MAX = 16;

/** Number of level changes kept for a timeline. */
export const HISTORY_LENGTH: Limit = {
  value: 10_000,
  unit: 'count',
  reason: 'changes of the levels of all events together; older ones are forgotten',
};

/** Number of deliveries kept for display per handler. */
export const RECENT_DELIVERIES: Limit = {
  value: 50,
  unit: 'count',
  reason: 'what a handler did last; somebody looks at them',
};
