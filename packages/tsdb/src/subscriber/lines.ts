// An accepted write as the line protocol that subscribers get: nanoseconds, every line with its
// time.
import { parseLines, printLine, printLineOfSeries, SeriesCache } from '@tidemark/line-protocol';

import type { AcceptedWrite } from '../write/write-service.ts';

const NEWLINE = 10;
const SPACE = 32;
const QUOTE = 34;
const HASH = 35;
const MINUS = 45;
const ZERO = 48;
const NINE = 57;
const BACKSLASH = 92;

export type SubscriberLines = {
  readonly bytes: Uint8Array;
  readonly pointCount: number;
  /** How many destinations have failed with them and passed them on. */
  readonly passes?: number | undefined;
};

/** Series keep their printed keys from one batch to the next. */
const cache = new SeriesCache();

/** What to send; `undefined` when no line is left. */
export function subscriberLines(write: AcceptedWrite): SubscriberLines | undefined {
  if (write.kind === 'points') {
    const lines = write.points.flatMap((point) => printLine(point) ?? []);
    return encodeLines(lines);
  }
  const { body, precision, now, hasErrors } = write;
  if (precision === 'ns' && !hasErrors) {
    const pointCount = countTimedLines(body);
    if (pointCount !== undefined) return { bytes: body, pointCount };
  }
  const { points } = parseLines(body, { precision, now, cache, allowUnsigned: true });
  return encodeLines(
    points.flatMap(({ series, fields, time }) => printLineOfSeries(series.key, fields, time) ?? []),
  );
}

function encodeLines(lines: readonly string[]): SubscriberLines | undefined {
  if (lines.length === 0) return undefined;
  return { bytes: new TextEncoder().encode(`${lines.join('\n')}\n`), pointCount: lines.length };
}

/**
 * The number of lines when every line ends with a timestamp, so that the body can be forwarded as
 * it is. Gives up (`undefined`) on quotes and backslashes, where a newline may not end a line.
 */
export function countTimedLines(body: Uint8Array): number | undefined {
  if (body.includes(QUOTE) || body.includes(BACKSLASH)) return undefined;
  let count = 0;
  let start = 0;
  while (start < body.length) {
    const newline = body.indexOf(NEWLINE, start);
    const end = newline < 0 ? body.length : newline;
    if (end > start) {
      if (body[start] === HASH || !endsWithTime(body, start, end)) return undefined;
      count++;
    }
    start = end + 1;
  }
  return count;
}

function endsWithTime(body: Uint8Array, start: number, end: number): boolean {
  let i = end - 1;
  while (i > start && isDigit(body[i])) i--;
  const hasDigits = i < end - 1;
  if (body[i] === MINUS) i--;
  return hasDigits && body[i] === SPACE;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}
