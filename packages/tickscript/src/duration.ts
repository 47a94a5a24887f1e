// Durations as written in scripts (`90s`) and in the query language (`1h30m`).
import { DURATION_UNITS, MAX_INT64 } from '@tidemark/core';

/**
 * Parses `90s`, `1h30m`, `-5m`: integers with units `ns u µ us µs ms s m h d w`, one after the
 * other. `undefined` for any other text and for durations beyond int64 nanoseconds.
 */
export function parseDuration(text: string): bigint | undefined {
  const match = /^(-?)((?:\d{1,19}(?:ns|us|µs|ms|[uµsmhdw]))+)$/.exec(text);
  if (match?.[2] === undefined) return undefined;
  let nanos = 0n;
  for (const part of match[2].matchAll(/(\d+)(\D+)/g)) {
    nanos += BigInt(part[1] ?? '') * (DURATION_UNITS.get(part[2] ?? '') ?? 0n);
  }
  if (nanos > MAX_INT64) return undefined;
  return match[1] === '-' ? -nanos : nanos;
}
