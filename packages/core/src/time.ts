// Timestamps and durations: signed 64-bit nanoseconds (docs/adr/0001-int64.md).

/** Nanoseconds since 1970-01-01T00:00:00Z. */
export type Timestamp = bigint;

/**
 * Smallest and largest timestamp that can be stored: int64 without its two lowest values and its
 * highest one.
 */
export const MIN_TIME: Timestamp = -9223372036854775806n;
export const MAX_TIME: Timestamp = 9223372036854775806n;

export const NANOS_PER_MICROSECOND = 1_000n;
export const NANOS_PER_MILLISECOND = 1_000_000n;
export const NANOS_PER_SECOND = 1_000_000_000n;
export const NANOS_PER_MINUTE = 60n * NANOS_PER_SECOND;
export const NANOS_PER_HOUR = 60n * NANOS_PER_MINUTE;
export const NANOS_PER_DAY = 24n * NANOS_PER_HOUR;
export const NANOS_PER_WEEK = 7n * NANOS_PER_DAY;

/** An inclusive range of timestamps. Empty when `start > end`. */
export type TimeRange = { readonly start: Timestamp; readonly end: Timestamp };

export const ALL_TIME: TimeRange = { start: MIN_TIME, end: MAX_TIME };

/** Floor division; JavaScript's `/` on bigint truncates toward zero. */
export function floorDiv(a: bigint, b: bigint): bigint {
  const q = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? q - 1n : q;
}

/** Floor modulo: the result has the sign of `b`. */
export function floorMod(a: bigint, b: bigint): bigint {
  const r = a % b;
  return r !== 0n && r < 0n !== b < 0n ? r + b : r;
}

/**
 * RFC 3339 in UTC with up to nine fraction digits, trailing zeros trimmed:
 * `2022-03-01T00:00:00.000000005Z`. Years 1677 to 2262, which is all that int64 nanoseconds can
 * hold.
 */
export function formatRfc3339(time: Timestamp): string {
  const seconds = floorDiv(time, NANOS_PER_SECOND);
  const nanos = Number(time - seconds * NANOS_PER_SECOND);
  const iso = new Date(Number(seconds) * 1000).toISOString();
  const whole = iso.slice(0, iso.indexOf('.'));
  if (nanos === 0) return `${whole}Z`;
  return `${whole}.${String(nanos).padStart(9, '0').replace(/0+$/, '')}Z`;
}

const RFC3339 =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9})\d*)?(?:Z|([+-])(\d{2}):(\d{2}))$/i;

/**
 * Parses RFC 3339 with offset and up to nanoseconds; `undefined` when the text is anything else.
 */
export function parseRfc3339(text: string): Timestamp | undefined {
  const m = RFC3339.exec(text);
  if (m === null) return undefined;
  const [year, month, day] = [Number(m[1]), Number(m[2]), Number(m[3])];
  const [hour, minute, second] = [Number(m[4]), Number(m[5]), Number(m[6])];
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return undefined;
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  if (year < 100) date.setUTCFullYear(year);
  if (date.getUTCDate() !== day) return undefined;
  const offsetMinutes = m[8] === undefined ? 0 : Number(m[9]) * 60 + Number(m[10]);
  const sign = m[8] === '-' ? -1 : 1;
  const nanos = BigInt(date.getTime() - sign * offsetMinutes * 60_000) * NANOS_PER_MILLISECOND;
  return m[7] === undefined ? nanos : nanos + BigInt(m[7].padEnd(9, '0'));
}

/** Units of the present time since 1970 by its number of digits; nanoseconds have 19. */
const UNITS_BY_DIGITS: ReadonlyMap<number, 's' | 'ms' | 'u'> = new Map([
  [10, 's'],
  [13, 'ms'],
  [16, 'u'],
]);

/** The unit in which a number of so many digits is a time of these years; none for nanoseconds. */
export function unitOfDigits(count: number): 's' | 'ms' | 'u' | undefined {
  return UNITS_BY_DIGITS.get(count);
}
