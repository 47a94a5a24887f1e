// The meaning of a line of line protocol, and the errors of invalid ones.
import type { FieldValue, Timestamp, UnsignedValue } from '@tidemark/core';

export type LineFieldValue = FieldValue | UnsignedValue;

/** The value as a signed integer if it is unsigned: larger values become negative. */
export function signedValue(value: LineFieldValue): FieldValue {
  return typeof value === 'object' ? BigInt.asIntN(64, value.unsigned) : value;
}

/**
 * Measurement and tags of a point. One object is shared by all points of a series within a parser.
 */
export type LineSeries = {
  readonly measurement: string;
  /** Sorted bytewise by key, no duplicates, no empty values. */
  readonly tags: readonly (readonly [string, string])[];
  /** Canonical series key: `measurement,tag=value,…` with line-protocol escapes. */
  readonly key: string;
};

/**
 * One parsed line. `start` and `end` are byte offsets of the line in the body, without leading
 * blanks and without the newline. A field that occurs twice is listed twice; the last one counts.
 */
export type LinePoint = {
  readonly series: LineSeries;
  readonly measurement: string;
  readonly tags: readonly (readonly [string, string])[];
  readonly fields: readonly (readonly [string, LineFieldValue])[];
  readonly time: Timestamp;
  /** One-based number of the physical line on which the point starts. */
  readonly lineNumber: number;
  readonly start: number;
  readonly end: number;
};

/** A line that could not be parsed. */
export type LineError = {
  readonly lineNumber: number;
  /** The line without leading blanks. */
  readonly text: string;
  /** For example `missing fields`. */
  readonly reason: string;
};

/** The message that clients expect: `unable to parse '<line>': <reason>`. */
export function lineErrorMessage(error: LineError): string {
  return `unable to parse '${error.text}': ${error.reason}`;
}
