// Units of times, in requests and in answers.
import {
  NANOS_PER_HOUR,
  NANOS_PER_MICROSECOND,
  NANOS_PER_MILLISECOND,
  NANOS_PER_MINUTE,
  NANOS_PER_SECOND,
} from './time.ts';

/** Unit of the times that are written, and of those that are printed. */
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
