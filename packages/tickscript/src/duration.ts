// Durations as text: literals of scripts (`90s`), the query language's form (`1h30m`), and `1m30s` as tasks print it.
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

const LITERAL_UNITS: readonly (readonly [string, bigint])[] = [
  ['w', NANOS_PER_WEEK],
  ['d', NANOS_PER_DAY],
  ['h', NANOS_PER_HOUR],
  ['m', NANOS_PER_MINUTE],
  ['s', NANOS_PER_SECOND],
  ['ms', NANOS_PER_MILLISECOND],
  ['u', NANOS_PER_MICROSECOND],
];

/** The largest single unit that divides: `90s`, `1w`, `1500ms`, `7ns`; zero is `0s`. */
export function formatDuration(nanos: bigint): string {
  if (nanos === 0n) return '0s';
  for (const [unit, size] of LITERAL_UNITS) {
    if (nanos % size === 0n) return `${nanos / size}${unit}`;
  }
  return `${nanos}ns`;
}

/** `1h30m0s`, `1.5s`, `250ms`, `1.2µs`, `0s`: the form of log lines, statistics and messages. */
export function formatClockDuration(nanos: bigint): string {
  if (nanos === 0n) return '0s';
  if (nanos < 0n) return `-${formatClockDuration(-nanos)}`;
  if (nanos < NANOS_PER_MICROSECOND) return `${nanos}ns`;
  if (nanos < NANOS_PER_MILLISECOND) return `${decimal(nanos, NANOS_PER_MICROSECOND)}µs`;
  if (nanos < NANOS_PER_SECOND) return `${decimal(nanos, NANOS_PER_MILLISECOND)}ms`;
  const seconds = `${decimal(nanos % NANOS_PER_MINUTE, NANOS_PER_SECOND)}s`;
  if (nanos < NANOS_PER_MINUTE) return seconds;
  const minutes = `${(nanos / NANOS_PER_MINUTE) % 60n}m${seconds}`;
  return nanos < NANOS_PER_HOUR ? minutes : `${nanos / NANOS_PER_HOUR}h${minutes}`;
}

/** `nanos / unit` with all digits and no trailing zeros. */
function decimal(nanos: bigint, unit: bigint): string {
  const fraction = nanos % unit;
  if (fraction === 0n) return String(nanos / unit);
  const digits = String(fraction).padStart(String(unit).length - 1, '0');
  return `${nanos / unit}.${digits.replace(/0+$/, '')}`;
}
