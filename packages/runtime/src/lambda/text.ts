// Strings as byte sequences: lambda functions count and slice UTF-8 bytes. ASCII, the usual case,
// needs no copy.
import { utf8Text } from '@tidemark/core';

const encoder = new TextEncoder();

/** Whether byte offsets equal UTF-16 offsets. */
export function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
}

export function byteLength(text: string): number {
  return isAscii(text) ? text.length : encoder.encode(text).length;
}

/** `text[start:stop]` in bytes; a character that is cut becomes a replacement character. */
export function byteSlice(text: string, start: number, stop: number): string {
  return isAscii(text)
    ? text.slice(start, stop)
    : utf8Text(encoder.encode(text).subarray(start, stop));
}

/** Byte offset of a UTF-16 offset; -1 stays. */
export function byteOffset(text: string, index: number): number {
  return index < 0 ? index : byteLength(text.slice(0, index));
}

/** Shortest decimal that reads back the same, without exponent. */
export function formatFloatPlain(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  if (Object.is(value, -0)) return '-0';
  const text = String(value);
  const e = text.indexOf('e');
  if (e < 0) return text;
  const exponent = Number(text.slice(e + 1));
  const sign = value < 0 ? '-' : '';
  const digits = text.slice(value < 0 ? 1 : 0, e).replace('.', '');
  const dot = text.slice(value < 0 ? 1 : 0, e).indexOf('.');
  const point = (dot < 0 ? digits.length : dot) + exponent;
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return `${sign}${digits}${'0'.repeat(point - digits.length)}`;
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** As Go's `%v` prints a float: exponent below 1e-4 and from a million on. */
export function formatFloatGeneral(value: number): string {
  if (!Number.isFinite(value) || value === 0) return formatFloatPlain(value);
  const magnitude = Math.abs(value);
  if (magnitude >= 1e-4 && magnitude < 1e6) return formatFloatPlain(value);
  const text = value.toExponential();
  const e = text.indexOf('e');
  const sign = text.charAt(e + 1);
  return `${text.slice(0, e)}e${sign}${text.slice(e + 2).padStart(2, '0')}`;
}

/** A Go-quoted string. */
export function quote(text: string): string {
  return JSON.stringify(text);
}

const FLOAT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const HEX_FLOAT = /^([+-]?)0[xX]([\da-fA-F]*)\.?([\da-fA-F]*)[pP]([+-]?\d+)$/;
const SPECIAL_FLOATS: ReadonlyMap<string, number> = new Map([
  ['nan', NaN],
  ['inf', Infinity],
  ['+inf', Infinity],
  ['-inf', -Infinity],
  ['infinity', Infinity],
  ['+infinity', Infinity],
  ['-infinity', -Infinity],
]);

/** Reads a float as Go's ParseFloat does; `undefined` when the text is invalid. */
export function parseFloatText(text: string): number | undefined {
  if (FLOAT.test(text)) return Number(text);
  // Underscores between digits, as recorded.
  const plain = /\d_\d/.test(text) ? text.replace(/(\d)_(?=\d)/g, '$1') : text;
  if (FLOAT.test(plain)) return Number(plain);
  const special = SPECIAL_FLOATS.get(text.toLowerCase());
  if (special !== undefined) return special;
  const hex = HEX_FLOAT.exec(text);
  if (hex === null) return undefined;
  const [, sign, whole = '', fraction = '', power] = hex;
  if (whole + fraction === '') return undefined;
  const mantissa = Number(BigInt(`0x${whole}${fraction}`));
  const value = mantissa * 2 ** (Number(power) - 4 * fraction.length);
  return sign === '-' ? -value : value;
}
