// Units of timestamps in a write request.
import { floorMod, PRECISION_NANOS } from '@tidemark/core';
import type { Precision, Timestamp } from '@tidemark/core';

/** Reads the `precision` parameter of a write; the empty text and `n` mean nanoseconds. */
export function parsePrecision(text: string): Precision | undefined {
  if (text === '' || text === 'n') return 'ns';
  return Object.hasOwn(PRECISION_NANOS, text) ? (text as Precision) : undefined;
}

/** The error for an unknown unit of times: the times would be very wrong. */
export function unknownPrecision(text: string): string {
  return `invalid precision "${text}" (use n, u, ms, s, m or h)`;
}

/** The time of points without one: now, truncated to the unit, toward the past. */
export function truncateToPrecision(time: Timestamp, precision: Precision): Timestamp {
  return time - floorMod(time, PRECISION_NANOS[precision]);
}
