// A joint write: several small writes that are parsed and logged as one, because a line costs many
// times as much alone as among others. It is made only if every line is a point with a timestamp
// and can be stored. Otherwise nothing of it is stored, and its writes are made one by one.
import { truncateToPrecision } from '@tidemark/line-protocol';
import type { PolicyRef, WriteLinesRequest, WriteOutcome } from '@tidemark/storage-api';

import type { WriteBatch } from './write-batch.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
const HASH = 0x23;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Whether a write may be part of a joint one: its last line must end with its body. A line feed
 * does not end a line within a quoted text or after a backslash.
 */
export function isJoinable({ body }: WriteLinesRequest): boolean {
  if (body.includes(QUOTE)) return false;
  const end = body.at(-1) === LINE_FEED ? body.length - 1 : body.length;
  return body[end - 1] !== BACKSLASH;
}

/** Whether two writes go to the same place in the same way. */
export function canJoin(a: WriteLinesRequest, b: WriteLinesRequest): boolean {
  return a.precision === b.precision && isSamePolicy(a.policy, b.policy);
}

/** What a policy accepts moves with the clock, by milliseconds between writes of a group. */
function isSamePolicy(a: PolicyRef, b: PolicyRef): boolean {
  return (
    a === b ||
    (a.id === b.id &&
      a.database === b.database &&
      a.retentionPolicy === b.retentionPolicy &&
      a.shardDurationNanos === b.shardDurationNanos &&
      (a.oldestAccepted === undefined) === (b.oldestAccepted === undefined) &&
      (a.newestAccepted === undefined) === (b.newestAccepted === undefined) &&
      a.maxSeriesPerDatabase === b.maxSeriesPerDatabase &&
      a.maxValuesPerTag === b.maxValuesPerTag)
  );
}

export class JointWrite {
  /** The lines of all, in their order. */
  readonly request: WriteLinesRequest;
  /** Lines of each write that look like points. */
  readonly #lineCounts: readonly number[];

  constructor(requests: readonly WriteLinesRequest[]) {
    const bytes = requests.reduce((sum, { body }) => sum + body.length + 1, 0);
    const body = new Uint8Array(bytes);
    let end = 0;
    for (const { body: own } of requests) {
      body.set(own, end);
      end += own.length;
      body[end++] = LINE_FEED;
    }
    this.request = { ...requests[0]!, body, isDetailed: false };
    this.#lineCounts = requests.map((one) => countLines(one.body));
  }

  /**
   * Whether all lines were stored as points with timestamps: then the writes would have stored the
   * same one by one, and each has as many points as lines.
   */
  isWhole({ parts, next }: WriteBatch, outcome: WriteOutcome): boolean {
    if (next !== undefined || outcome.parseErrors.length > 0 || outcome.dropped !== undefined) {
      return false;
    }
    const lines = this.#lineCounts.reduce((sum, count) => sum + count, 0);
    if (outcome.pointsWritten !== lines) return false;
    const { now, precision } = this.request;
    // Points without a time would all have the same one.
    const ownTime = truncateToPrecision(now, precision);
    return !parts.some(({ tables }) =>
      tables.some(({ times, rows }) => times.subarray(0, rows).includes(ownTime)),
    );
  }

  /** The outcome of each write. Values are only counted together: the first has them. */
  outcomes({ valuesWritten }: WriteOutcome): readonly WriteOutcome[] {
    return this.#lineCounts.map((pointsWritten, i) => ({
      pointsWritten,
      valuesWritten: i === 0 ? valuesWritten : 0,
      parseErrors: [],
      dropped: undefined,
    }));
  }
}

/** Lines with something in them that is no comment. */
function countLines(body: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (byte === LINE_FEED || byte === SPACE || byte === TAB || byte === CARRIAGE_RETURN) continue;
    if (byte !== HASH) count++;
    // The search for the end of a line costs a fraction of a look at each byte.
    const end = body.indexOf(LINE_FEED, at);
    if (end < 0) break;
    at = end;
  }
  return count;
}
