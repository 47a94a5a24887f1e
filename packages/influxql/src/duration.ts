// Durations as written in queries: `1h30m`.
import { DURATION_UNITS, MAX_INT64 } from '@tidemark/core';

export type DurationResult =
  | { readonly ok: true; readonly nanos: bigint }
  | { readonly ok: false; readonly error: string };

/**
 * Parses digits and units, repeated: `1w2d`, `90m`, `10ms`, `5ns`. No sign, no fraction, no months.
 */
export function parseDuration(text: string): DurationResult {
  const part = /(\d+)(ns|ms|[uµsmhdw])/y;
  let nanos = 0n;
  let end = 0;
  while (end < text.length) {
    const match = part.exec(text);
    if (match === null) return { ok: false, error: 'invalid duration' };
    end = part.lastIndex;
    const [, digits = '', unit = ''] = match;
    // Numbers with more digits are beyond int64 in any unit.
    const count = digits.replace(/^0+/, '').length > 19 ? MAX_INT64 + 1n : BigInt(digits);
    if (count > MAX_INT64) return { ok: false, error: 'invalid duration' };
    nanos += count * (DURATION_UNITS.get(unit) ?? 0n);
  }
  if (nanos > MAX_INT64) {
    return { ok: false, error: `overflowed duration ${text}: choose a smaller duration or INF` };
  }
  return end === 0 ? { ok: false, error: 'invalid duration' } : { ok: true, nanos };
}
