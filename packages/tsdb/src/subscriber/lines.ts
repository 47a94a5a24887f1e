// An accepted write as line protocol for subscribers: nanoseconds, with a timestamp on every line.
import {
  countTimedLines,
  parseLines,
  printLine,
  printLineOfSeries,
  SeriesCache,
} from '@tidemark/line-protocol';

import type { AcceptedWrite } from '../write/write-service.ts';

export type SubscriberLines = {
  readonly bytes: Uint8Array;
  readonly pointCount: number;
  /** Number of destinations that failed and passed them on. */
  readonly passes?: number | undefined;
};

/** Keeps the printed keys of series between batches. */
const cache = new SeriesCache();

/** The lines to send; `undefined` when none is left. */
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
