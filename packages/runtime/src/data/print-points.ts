// Output points as line protocol, in the form in which Kapacitor wrote them.
import { compareBytes, escapeTagPart, formatSeriesKey, PRECISION_NANOS } from '@tidemark/core';
import type { FieldValue } from '@tidemark/core';
import { parsePrecision, printFieldValue } from '@tidemark/line-protocol';
import type { OutputPoint } from '../services.ts';

/**
 * One line for each point with a field that line protocol can represent; times have the write's
 * precision.
 */
export function printPoints(points: readonly OutputPoint[], precision: string): string {
  return points.flatMap((point) => printPoint(point, precision) ?? []).join('\n');
}

/** The time in units of a write's precision. */
function cut(time: bigint, precision: string): bigint {
  const unit = parsePrecision(precision);
  return unit === undefined ? time : time / PRECISION_NANOS[unit];
}

/** A point as a line; `undefined` when it has no field that line protocol can represent. */
function printPoint(point: OutputPoint, precision: string): string | undefined {
  const fields = [...point.fields].sort((a, b) => compareBytes(a[0], b[0]));
  let text = '';
  for (const [name, value] of fields) {
    const printed = value === null ? undefined : printField(value);
    if (printed !== undefined)
      text += `${text === '' ? ' ' : ','}${escapeTagPart(name)}=${printed}`;
  }
  if (text === '') return undefined;
  const tags = [...point.tags].filter(([, value]) => value !== '');
  return `${formatSeriesKey(point.name, tags)}${text} ${cut(point.time, precision)}`;
}

// Floats without exponent, as Kapacitor writes them.
function printField(value: FieldValue): string | undefined {
  const text = printFieldValue(value);
  return typeof value === 'number' && text?.includes('e') === true ? withoutExponent(text) : text;
}

function withoutExponent(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?e([-+]?\d+)$/.exec(text) ?? [];
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return point >= digits.length
    ? sign + digits.padEnd(point, '0')
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
