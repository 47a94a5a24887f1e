// Durations as text: their units, the two forms in responses, and the form in configuration and
// commands. Durations in queries and scripts have other rules and are parsed by the parsers of
// those languages.
import {
  NANOS_PER_DAY,
  NANOS_PER_HOUR,
  NANOS_PER_MICROSECOND,
  NANOS_PER_MILLISECOND,
  NANOS_PER_MINUTE,
  NANOS_PER_SECOND,
  NANOS_PER_WEEK,
} from './time.ts';

/** Nanoseconds per unit, by each spelling of the unit. */
export const DURATION_UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['n', 1n],
  ['us', NANOS_PER_MICROSECOND],
  ['u', NANOS_PER_MICROSECOND],
  ['µs', NANOS_PER_MICROSECOND],
  ['μs', NANOS_PER_MICROSECOND],
  ['µ', NANOS_PER_MICROSECOND],
  ['ms', NANOS_PER_MILLISECOND],
  ['s', NANOS_PER_SECOND],
  ['m', NANOS_PER_MINUTE],
  ['h', NANOS_PER_HOUR],
  ['d', NANOS_PER_DAY],
  ['w', NANOS_PER_WEEK],
]);

const LITERAL_UNITS: readonly (readonly [string, bigint])[] = [
  ['w', NANOS_PER_WEEK],
  ['d', NANOS_PER_DAY],
  ['h', NANOS_PER_HOUR],
  ['m', NANOS_PER_MINUTE],
  ['s', NANOS_PER_SECOND],
  ['ms', NANOS_PER_MILLISECOND],
  ['u', NANOS_PER_MICROSECOND],
];

/**
 * The form of both languages, in the largest single unit that divides it: `1w`, `90m`, `1500u`,
 * `7ns`, `0s`.
 */
export function formatDuration(nanos: bigint): string {
  if (nanos === 0n) return '0s';
  for (const [unit, size] of LITERAL_UNITS) {
    if (nanos % size === 0n) return `${nanos / size}${unit}`;
  }
  return `${nanos}ns`;
}

/**
 * The form of tables, messages and statistics, with hours as the largest unit: `168h0m0s`,
 * `1m30.5s`, `92µs`, `0s`.
 */
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

const CLOCK_PART = /(\d+)(?:\.(\d+))?(ns|us|µs|μs|ms|[nuµsmhdw])/y;

/**
 * Parses the form of configuration, commands and requests, in which `formatClockDuration` prints
 * too: `1h2m3.5s`, `10s`, `5d`, `0`, `-30s`. Units from nanoseconds to weeks, fractions allowed.
 * Returns nanoseconds; `undefined` when the text is no duration.
 */
export function parseClockDuration(text: string): bigint | undefined {
  if (text === '0') return 0n;
  const isNegative = text.startsWith('-');
  let offset = isNegative || text.startsWith('+') ? 1 : 0;
  if (offset === text.length) return undefined;
  let nanos = 0n;
  while (offset < text.length) {
    CLOCK_PART.lastIndex = offset;
    const part = CLOCK_PART.exec(text);
    if (part === null) return undefined;
    const unit = DURATION_UNITS.get(part[3] ?? '');
    if (unit === undefined) return undefined;
    nanos += BigInt(part[1] ?? '0') * unit;
    const fraction = part[2];
    if (fraction !== undefined) nanos += (BigInt(fraction) * unit) / 10n ** BigInt(fraction.length);
    offset = CLOCK_PART.lastIndex;
  }
  return isNegative ? -nanos : nanos;
}
