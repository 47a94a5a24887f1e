// Checks lines before they are sent, with the server's own parser.
import type { Precision } from '@tidemark/core';
import { parseLines } from '@tidemark/line-protocol';
import type { LineError } from '@tidemark/line-protocol';

export type Checked = {
  readonly pointCount: number;
  readonly measurements: readonly string[];
  readonly errors: readonly LineError[];
};

export function checkLines(text: string, precision: Precision): Checked {
  const { points, errors } = parseLines(new TextEncoder().encode(text), { precision, now: 0n });
  return {
    pointCount: points.length,
    measurements: [...new Set(points.map(({ measurement }) => measurement))].toSorted(),
    errors,
  };
}

/** Lines per request: small enough for any server, and for visible progress. */
const LINES_PER_BODY = 5000;

/** Splits a text into bodies, each with the number of lines before it. */
export function* bodiesOf(
  text: string,
): Generator<{ readonly before: number; readonly body: string }> {
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at += LINES_PER_BODY) {
    yield { before: at, body: lines.slice(at, at + LINES_PER_BODY).join('\n') };
  }
}
