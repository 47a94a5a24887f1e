// Numbers of field values: a fast path for usual numbers, and the exact rules for everything else.
import { MIN_INT64, MAX_INT64, MAX_UINT64 } from '@tidemark/core';
import { COMMA, DOT, MINUS, NINE, PLUS, SPACE, ZERO, decodeText } from './bytes.ts';
import type { LineFieldValue } from './point.ts';

const LOWER_E = 101;
const UPPER_E = 69;
const LOWER_I = 105;
const LOWER_U = 117;

// Digits that a double holds exactly; with at most 15 of them, digits / 10^n is correctly rounded.
const EXACT_DIGITS = 15;
const POWERS_OF_TEN = Array.from({ length: EXACT_DIGITS + 1 }, (_, i) => 10 ** i);

/**
 * Where to read (`start`, `limit`), where the value ended and what it is; `reason` is set when it
 * is invalid. One object is reused for all values of a body: an allocation per value would cost a
 * tenth of the time.
 */
export type ValueCursor = {
  start: number;
  limit: number;
  readonly allowUnsigned: boolean;
  end: number;
  value: LineFieldValue;
  reason: string | undefined;
};

/** Reads the number at `cursor.start`, up to the next comma, space, or `cursor.limit`. */
export function scanNumber(body: Uint8Array, cursor: ValueCursor): void {
  const { start, limit: end } = cursor;
  let i = start;
  const isNegative = body[i] === MINUS;
  if (isNegative) i++;
  let mantissa = 0;
  let digits = 0;
  let pointAt = -1;
  for (; i < end; i++) {
    const byte = body[i]!;
    if (byte >= ZERO && byte <= NINE) {
      mantissa = mantissa * 10 + (byte - ZERO);
      digits++;
    } else if (byte === DOT && pointAt < 0) pointAt = digits;
    else break;
  }
  if (digits > 0 && digits <= EXACT_DIGITS) {
    const byte = i < end ? body[i]! : COMMA;
    if (byte === COMMA || byte === SPACE) {
      const scaled = pointAt < 0 ? mantissa : mantissa / POWERS_OF_TEN[digits - pointAt]!;
      cursor.value = isNegative ? -scaled : scaled;
      cursor.end = i;
      cursor.reason = undefined;
      return;
    }
    if (byte === LOWER_I && pointAt < 0 && isEnd(body, i + 1, end)) {
      cursor.value = BigInt(isNegative ? -mantissa : mantissa);
      cursor.end = i + 1;
      cursor.reason = undefined;
      return;
    }
  }
  scanUnusual(body, cursor);
}

function isEnd(body: Uint8Array, at: number, end: number): boolean {
  return at >= end || body[at] === COMMA || body[at] === SPACE;
}

function scanUnusual(body: Uint8Array, cursor: ValueCursor): void {
  const { start } = cursor;
  let end = start;
  while (!isEnd(body, end, cursor.limit)) end++;
  cursor.end = end;
  cursor.reason = undefined;
  const shape = numberShape(body, { start, end, allowUnsigned: cursor.allowUnsigned });
  if (shape === undefined) {
    cursor.reason = 'invalid number';
    return;
  }
  const text = decodeText(body, start, shape === 'float' ? end : end - 1);
  if (shape === 'float') {
    const value = Number(text);
    if (Number.isFinite(value)) cursor.value = value;
    else cursor.reason = 'invalid float';
    return;
  }
  const value = BigInt(text.startsWith('-') ? text.slice(1) : text);
  const signed = text.startsWith('-') ? -value : value;
  if (shape === 'unsigned') {
    if (value <= MAX_UINT64) cursor.value = { unsigned: value };
    else cursor.reason = outOfRange('unsigned', 'ParseUint', text);
  } else if (signed >= MIN_INT64 && signed <= MAX_INT64) cursor.value = signed;
  else cursor.reason = outOfRange('integer', 'ParseInt', text);
}

function outOfRange(noun: string, parser: string, text: string): string {
  return `unable to parse ${noun} ${text}: strconv.${parser}: parsing "${text}": value out of range`;
}

/** The type that a token's bytes indicate, `undefined` when they cannot be a number. */
function numberShape(
  body: Uint8Array,
  range: { readonly start: number; readonly end: number; readonly allowUnsigned: boolean },
): 'float' | 'integer' | 'unsigned' | undefined {
  const { start, end } = range;
  const last = end - 1;
  const isInteger = last > start && body[last] === LOWER_I;
  const isUnsigned = last > start && body[last] === LOWER_U && range.allowUnsigned;
  const stop = isInteger || isUnsigned ? last : end;
  let digits = 0;
  let points = 0;
  let hasExponent = false;
  for (let i = start; i < stop; i++) {
    const byte = body[i]!;
    if (byte >= ZERO && byte <= NINE) digits++;
    else if (byte === DOT) points++;
    else if (byte === MINUS && i === start) continue;
    else if ((byte === LOWER_E || byte === UPPER_E) && i > start) hasExponent = true;
    else if ((byte === PLUS || byte === MINUS) && isExponentMark(body[i - 1])) continue;
    else return undefined;
  }
  if (points > 1 || digits === 0) return undefined;
  if (!isInteger && !isUnsigned) return 'float';
  if (points > 0 || hasExponent) return undefined;
  if (isUnsigned && body[start] === MINUS) return undefined;
  return isInteger ? 'integer' : 'unsigned';
}

function isExponentMark(byte: number | undefined): boolean {
  return byte === LOWER_E || byte === UPPER_E;
}

/** Whether a field value that starts with this byte is read as a number. */
export function startsNumber(byte: number): boolean {
  return (
    (byte >= ZERO && byte <= NINE) || byte === DOT || byte === MINUS || byte === 78 || byte === 110
  );
}

/** Reads the boolean [start, end); `undefined` when its spelling is not one of the ten. */
export function parseBoolean(body: Uint8Array, start: number, end: number): boolean | undefined {
  const length = end - start;
  if (length > 5) return undefined;
  switch (decodeText(body, start, end)) {
    case 't':
    case 'T':
    case 'true':
    case 'True':
    case 'TRUE':
      return true;
    case 'f':
    case 'F':
    case 'false':
    case 'False':
    case 'FALSE':
      return false;
    default:
      return undefined;
  }
}
