// Limits of the engine.
import type { Limit, SettingLimit } from '@tidemark/core';

export const LIST_LIMIT_DEFAULT = 100;

export const PARTS_MAX: Limit = {
  value: 64,
  unit: 'count',
  reason: 'parts of a task; each is given all points and takes those of its groups',
};

export const TASK_QUEUE: SettingLimit = {
  setting: 'task.max-waiting-points',
  value: 1_000_000,
  unit: 'rows',
  reason: 'points that were acknowledged and wait for slow tasks; writes wait for room beyond it',
};

export const HEADERS_MS: Limit = {
  value: 20_000,
  unit: 'ms',
  reason: 'slow clients are cut off: headers must be complete by then',
};

export const PING_WAIT_MS: Limit = {
  value: 5000,
  unit: 'ms',
  reason: 'a ping waits for an engine that starts, or for a leader; most have one by then',
};

export const CONNECTION_CHECK_MS: Limit = {
  value: 5000,
  unit: 'ms',
  reason:
    'how often connections over their time are looked for; a slow client lasts this much longer',
};

export const LOG_SUBSCRIBER_QUEUE: Limit = {
  value: 10_000,
  unit: 'count',
  reason: 'lines that a slow reader of the log stream may leave; older ones are dropped for it',
};

export const LOG_SUBSCRIBERS: Limit = {
  value: 64,
  unit: 'count',
  reason: 'each follows every line that is logged',
};

export const LOG_HISTORY_LINES: Limit = {
  value: 100,
  unit: 'count',
  reason: 'the latest lines of each task, and as many warnings and errors, are kept for readers',
};

export const LOG_HISTORY_BYTES: Limit = {
  value: 8 * 1024 * 1024,
  unit: 'bytes',
  reason: 'memory of these lines; those of tasks that are silent go first',
};

export const TAP_READERS: Limit = {
  value: 64,
  unit: 'count',
  reason: 'each follows everything that leaves a node',
};

export const TAP_WAITING_BYTES: Limit = {
  value: 1024 * 1024,
  unit: 'bytes',
  reason: 'what a slow reader of a tap may leave; further messages are dropped and counted for it',
};

export const TRY_OUTS: Limit = {
  value: 4,
  unit: 'count',
  reason:
    'try-outs that run at the same time: each has a task, and its answer waits for its reader',
};

export const TRY_OUT_POINTS: Limit = {
  value: 100_000,
  unit: 'count',
  reason: 'points, or answers of queries, that a try-out is given; somebody looks at the result',
};

export const TRY_OUT_LINES: Limit = {
  value: 100_000,
  unit: 'count',
  reason: 'messages that a try-out answers; a page keeps and draws them all',
};

export const TRY_OUT_MS: Limit = {
  value: 120_000,
  unit: 'ms',
  reason: 'a script that is tried, with its queries, ends by then; somebody waits for it',
};

export const SAVED_TEST_POINTS: Limit = {
  value: 2_000,
  unit: 'count',
  reason: 'points of a try-out that is saved as a test; nobody reads or repairs a longer one',
};

export const RUNNING_JOBS: SettingLimit = {
  setting: 'replay.max-running',
  value: 1000,
  unit: 'count',
  reason: 'recordings, and as many replays, that may run at the same time',
};

export const QUERY_RETRY_DELAY_FIRST_MS = 1_000;
export const QUERY_RETRY_DELAY_MAX_MS = 60_000;
/** A failed query is retried this often before its tick is skipped. */
export const QUERY_RETRY_COUNT = 3;

/** Bytes of a database's answer to one query. */
export const QUERY_RESPONSE_BYTES: SettingLimit = {
  setting: 'task.max-query-response',
  value: 256 * 1024 * 1024,
  unit: 'bytes',
  reason: 'an answer is held in memory as a whole',
};

/**
 * Approximate number of points of one answer of the database: reading it is one piece of work of
 * the API's thread, 20 µs each.
 */
export const CATCH_UP_PAGE_ROWS: Limit = {
  value: 1_000,
  unit: 'rows',
  reason: 'missed points that are read at once; more of them keep requests waiting',
};

export const CATCH_UP_PAGE_BYTES: Limit = {
  value: 32 * 1024 * 1024,
  unit: 'bytes',
  reason: 'an answer with missed points; a larger one is asked for in parts',
};

export const REMEMBERED_POINTS: Limit = {
  value: 1_000_000,
  unit: 'count',
  reason: 'points that were read and may come from the stream as well, by their times',
};

/** A task that does not return its state within this time keeps the saved one. */
export const SNAPSHOT_TIMEOUT_MS = 10_000;

/**
 * The same for all tasks together when the leader of a cluster stops: the next leader waits for it.
 */
export const HAND_OVER_MS = 2000;

/**
 * A stop of the engine. Services are killed ten seconds after they were asked to stop, and
 * `tidemark` ends itself after nine.
 */
export const STOP_MS = 8000;

/** A task that makes no progress for this long when the engine stops is given up. */
export const STOP_IDLE_MS = 500;

export const URL_PARAMETER_CHARS_MAX = 8 * 1024;

export const CHANGES_LOG: Limit = {
  value: 64 * 1024 * 1024,
  unit: 'bytes',
  reason: 'changes in the shared log of a cluster; after so many everything is written to it anew',
};

export const COPY_LAG: Limit = {
  value: 10_000,
  unit: 'count',
  reason: 'that a copy of the cluster is behind when health warns; it would take over late',
};

export const TASK_LAG: Limit = {
  value: 10_000,
  unit: 'count',
  reason: 'that a task of the cluster has not been given when health warns',
};

export const POINTS_NAMED: Limit = {
  value: 32 * 1024 * 1024,
  unit: 'bytes',
  reason:
    'newest records of the log of points that instances are told of by number; older ones are sent',
};

export const UNREADABLE_KEPT: Limit = {
  value: 1000,
  unit: 'count',
  reason: 'records of the log of points that cannot be read and are kept as files',
};

export const POINTS_READ_AHEAD: Limit = {
  value: 64 * 1024 * 1024,
  unit: 'bytes',
  reason: 'records of the log of points that an instance reads before the leader mentions them',
};

export const HOST_FRAME_BYTES: Limit = {
  value: 512 * 1024 * 1024,
  unit: 'bytes',
  reason: 'one message between a leader and the task hosts of another instance',
};

export const RESTORED_BYTES: Limit = {
  value: 8 * 1024 * 1024 * 1024,
  unit: 'bytes',
  reason: 'of a backup that is uploaded; it lies on the disk beside the file in use',
};

export const LEFT_INSTANCE: Limit = {
  value: 600_000,
  unit: 'ms',
  reason:
    'that subscriptions may lead to an instance that has left; replacing them earlier would lose points at every restart',
};

export const UDP_BODY: Limit = {
  value: 1024 * 1024,
  unit: 'bytes',
  reason: 'of packets of a subscription over UDP that are written together',
};
