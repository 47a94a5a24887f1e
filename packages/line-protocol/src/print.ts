// Points to line protocol, escaped so that parsing gives the same points.
import { escapeTagPart, formatSeriesKey } from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';

import type { LineFieldValue } from './point.ts';

/** A point that can be printed as a line. */
export type PrintablePoint = {
  readonly measurement: string;
  readonly tags: Iterable<readonly [string, string]>;
  readonly fields: Iterable<readonly [string, LineFieldValue]>;
  readonly time: Timestamp;
};

/**
 * One line without newline, time in nanoseconds. Tags are sorted; empty tag values and fields that
 * line protocol cannot represent (NaN, infinities) are left out; `undefined` when no field is left.
 */
export function printLine(point: PrintablePoint): string | undefined {
  const tags = [...point.tags].filter(([, value]) => value !== '');
  return printLineOfSeries(formatSeriesKey(point.measurement, tags), point.fields, point.time);
}

/** As `printLine`, for a canonical series key. */
export function printLineOfSeries(
  seriesKey: string,
  fields: Iterable<readonly [string, LineFieldValue]>,
  time: Timestamp,
): string | undefined {
  let line = seriesKey;
  let separator = ' ';
  for (const [name, value] of fields) {
    const text = printFieldValue(value);
    if (text === undefined) continue;
    line += `${separator}${escapeTagPart(name)}=${text}`;
    separator = ',';
  }
  return separator === ' ' ? undefined : `${line} ${time}`;
}

/** A field value as line protocol writes it; `undefined` for NaN and infinities. */
export function printFieldValue(value: LineFieldValue): string | undefined {
  switch (typeof value) {
    case 'string':
      return `"${value.replace(/(["\\])/g, '\\$1')}"`;
    case 'bigint':
      return `${value}i`;
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
      if (!Number.isFinite(value)) return undefined;
      return Object.is(value, -0) ? '-0' : String(value);
    case 'object':
      return `${value.unsigned}u`;
  }
}
