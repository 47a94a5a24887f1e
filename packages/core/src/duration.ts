// Durations as text, in the two forms that answers print. What may be written differs by language and is parsed there.
import {
  NANOS_PER_DAY,
  NANOS_PER_HOUR,
  NANOS_PER_MICROSECOND,
  NANOS_PER_MILLISECOND,
  NANOS_PER_MINUTE,
  NANOS_PER_SECOND,
  NANOS_PER_WEEK,
} from './time.ts';

const LITERAL_UNITS: readonly (readonly [string, bigint])[] = [
  ['w', NANOS_PER_WEEK],
  ['d', NANOS_PER_DAY],
  ['h', NANOS_PER_HOUR],
  ['m', NANOS_PER_MINUTE],
  ['s', NANOS_PER_SECOND],
  ['ms', NANOS_PER_MILLISECOND],
  ['u', NANOS_PER_MICROSECOND],
];

/** The form of both languages, in the largest single unit that divides it: `1w`, `90m`, `1500u`, `7ns`, `0s`. */
export function formatDuration(nanos: bigint): string {
  if (nanos === 0n) return '0s';
  for (const [unit, size] of LITERAL_UNITS) {
    if (nanos % size === 0n) return `${nanos / size}${unit}`;
  }
  return `${nanos}ns`;
}

/** The form of tables, messages and statistics, with hours as the largest unit: `168h0m0s`, `1m30.5s`, `92µs`, `0s`. */
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

/** `nanos / unit` with all digits and no trailing zeros; `unit` is a power of ten. */
function decimal(nanos: bigint, unit: bigint): string {
  const fraction = nanos % unit;
  if (fraction === 0n) return String(nanos / unit);
  const digits = String(fraction).padStart(String(unit).length - 1, '0');
  return `${nanos / unit}.${digits.replace(/0+$/, '')}`;
}
