// Durations as written in queries: `1h30m`.
import {
  NANOS_PER_DAY,
  NANOS_PER_HOUR,
  NANOS_PER_MICROSECOND,
  NANOS_PER_MILLISECOND,
  NANOS_PER_MINUTE,
  NANOS_PER_SECOND,
  NANOS_PER_WEEK,
} from '@tidemark/core';

const MAX_INT64 = 9223372036854775807n;

const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  u: NANOS_PER_MICROSECOND,
  µ: NANOS_PER_MICROSECOND,
  ms: NANOS_PER_MILLISECOND,
  s: NANOS_PER_SECOND,
  m: NANOS_PER_MINUTE,
  h: NANOS_PER_HOUR,
  d: NANOS_PER_DAY,
  w: NANOS_PER_WEEK,
};

export type DurationResult =
  | { readonly ok: true; readonly nanos: bigint }
  | { readonly ok: false; readonly error: string };

/** Parses digits and units, repeated: `1w2d`, `90m`, `10ms`, `5ns`. No sign, no fraction, no months. */
export function parseDuration(text: string): DurationResult {
  const part = /(\d+)(ns|ms|[uµsmhdw])/y;
  let nanos = 0n;
  let end = 0;
  while (end < text.length) {
    const match = part.exec(text);
    if (match === null) return { ok: false, error: 'invalid duration' };
    end = part.lastIndex;
    const [, digits = '', unit = ''] = match;
    // More digits are beyond int64 whatever the unit is.
    const count = digits.replace(/^0+/, '').length > 19 ? MAX_INT64 + 1n : BigInt(digits);
    if (count > MAX_INT64) return { ok: false, error: 'invalid duration' };
    nanos += count * (UNITS[unit] ?? 0n);
  }
  if (nanos > MAX_INT64) {
    return { ok: false, error: `overflowed duration ${text}: choose a smaller duration or INF` };
  }
  return end === 0 ? { ok: false, error: 'invalid duration' } : { ok: true, nanos };
}
