// Durations: `1h30m` as written in queries, and the two ways in which answers print them.
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

const PRINTED_UNITS: readonly (readonly [string, bigint])[] = [
  ['w', NANOS_PER_WEEK],
  ['d', NANOS_PER_DAY],
  ['h', NANOS_PER_HOUR],
  ['m', NANOS_PER_MINUTE],
  ['s', NANOS_PER_SECOND],
  ['ms', NANOS_PER_MILLISECOND],
  ['u', NANOS_PER_MICROSECOND],
];

/** The query language's form, in the largest unit that divides it: `1w`, `90m`, `1500u`, `0s`. */
export function formatDuration(nanos: bigint): string {
  if (nanos === 0n) return '0s';
  for (const [unit, size] of PRINTED_UNITS) {
    if (nanos % size === 0n) return `${nanos / size}${unit}`;
  }
  return `${nanos}ns`;
}

/** The form of SHOW RETENTION POLICIES and error texts: `168h0m0s`, `1m30.5s`, `92µs`, `0s`. */
export function formatGoDuration(nanos: bigint): string {
  if (nanos === 0n) return '0s';
  const sign = nanos < 0n ? '-' : '';
  const size = nanos < 0n ? -nanos : nanos;
  if (size < NANOS_PER_MICROSECOND) return `${sign}${size}ns`;
  if (size < NANOS_PER_MILLISECOND) return `${sign}${decimal(size, NANOS_PER_MICROSECOND)}µs`;
  if (size < NANOS_PER_SECOND) return `${sign}${decimal(size, NANOS_PER_MILLISECOND)}ms`;
  const seconds = decimal(size % NANOS_PER_MINUTE, NANOS_PER_SECOND);
  const minutes = size / NANOS_PER_MINUTE;
  if (minutes === 0n) return `${sign}${seconds}s`;
  if (minutes < 60n) return `${sign}${minutes}m${seconds}s`;
  return `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}s`;
}

/** `size / unit` in decimal without trailing zeros; `unit` is a power of ten. */
function decimal(size: bigint, unit: bigint): string {
  const whole = size / unit;
  const rest = size % unit;
  if (rest === 0n) return String(whole);
  const digits = String(unit).length - 1;
  return `${whole}.${String(rest).padStart(digits, '0').replace(/0+$/, '')}`;
}
