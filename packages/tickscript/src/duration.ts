// Durations as written in scripts (`90s`) and in the query language (`1h30m`).
import {
  NANOS_PER_DAY,
  NANOS_PER_HOUR,
  NANOS_PER_MICROSECOND,
  NANOS_PER_MILLISECOND,
  NANOS_PER_MINUTE,
  NANOS_PER_SECOND,
  NANOS_PER_WEEK,
} from '@tidemark/core';

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['n', 1n],
  ['u', NANOS_PER_MICROSECOND],
  ['µ', NANOS_PER_MICROSECOND],
  ['us', NANOS_PER_MICROSECOND],
  ['µs', NANOS_PER_MICROSECOND],
  ['ms', NANOS_PER_MILLISECOND],
  ['s', NANOS_PER_SECOND],
  ['m', NANOS_PER_MINUTE],
  ['h', NANOS_PER_HOUR],
  ['d', NANOS_PER_DAY],
  ['w', NANOS_PER_WEEK],
]);

const MAX_NANOS = 9223372036854775807n;

/**
 * Parses `90s`, `1h30m`, `-5m`: integers with units `ns u µ us µs ms s m h d w`, one after the other. `undefined` for
 * any other text and for what int64 nanoseconds cannot hold.
 */
export function parseDuration(text: string): bigint | undefined {
  const match = /^(-?)((?:\d{1,19}(?:ns|us|µs|ms|[uµsmhdw]))+)$/.exec(text);
  if (match?.[2] === undefined) return undefined;
  let nanos = 0n;
  for (const part of match[2].matchAll(/(\d+)(\D+)/g)) {
    nanos += BigInt(part[1] ?? '') * (UNITS.get(part[2] ?? '') ?? 0n);
  }
  if (nanos > MAX_NANOS) return undefined;
  return match[1] === '-' ? -nanos : nanos;
}
