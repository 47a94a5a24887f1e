// Limits of running tasks. Reaching one is an error of the node that names the setting to raise.
import type { TaskLimits } from './running-task.ts';

/** Also the defaults of the settings. */
export const DEFAULT_TASK_LIMITS: TaskLimits = {
  groupCountMax: 1_000_000,
  heldPointCountMax: 10_000_000,
  heldBytesMax: 2 ** 30,
  groupIdleMs: 0,
  waitingMessageCountMax: 10_000,
};

/**
 * Approximate state of one group in one node: data that windows, alerts and lambdas keep between
 * points.
 */
export const GROUP_BYTES = 250;

/**
 * Lines that one node may log per `LOG_INTERVAL_NANOS`; more are counted and mentioned with the
 * next one.
 */
export const LOG_BURST = 50;
export const LOG_INTERVAL_NANOS = 10_000_000_000n;

/** Characters of a point in a log line. */
export const LOGGED_POINT_LENGTH = 1000;

/** Groups of an alert node that are listed at once, the most severe first. */
export const ALERT_GROUPS_MAX = 10_000;

/** One row in this many is timed. */
export const SAMPLE_EVERY_ROWS = 4096;
export const SAMPLE_ROWS = 8;
