// Units of timestamps in a write request.
import {
  floorMod,
  NANOS_PER_HOUR,
  NANOS_PER_MICROSECOND,
  NANOS_PER_MILLISECOND,
  NANOS_PER_MINUTE,
  NANOS_PER_SECOND,
} from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';

export type Precision = 'ns' | 'u' | 'ms' | 's' | 'm' | 'h';

/** Nanoseconds per unit. */
export const PRECISION_NANOS: Readonly<Record<Precision, bigint>> = {
  ns: 1n,
  u: NANOS_PER_MICROSECOND,
  ms: NANOS_PER_MILLISECOND,
  s: NANOS_PER_SECOND,
  m: NANOS_PER_MINUTE,
  h: NANOS_PER_HOUR,
};

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
