// Bytes with a meaning in line protocol, and decoding of short texts.
import { utf8Text } from '@tidemark/core';

export const NUL = 0;
export const TAB = 9;
export const NEWLINE = 10;
export const CARRIAGE_RETURN = 13;
export const SPACE = 32;
export const QUOTE = 34;
export const HASH = 35;
export const PLUS = 43;
export const COMMA = 44;
export const MINUS = 45;
export const DOT = 46;
export const ZERO = 48;
export const NINE = 57;
export const EQUALS = 61;
export const BACKSLASH = 92;

// Up to this length a loop over ASCII bytes beats the call into the decoder (about 300 ns on Node
// 20).
const SHORT_TEXT_BYTES = 48;

/** UTF-8 text of a range of bytes. */
export function decodeText(bytes: Uint8Array, start: number, end: number): string {
  if (end - start <= SHORT_TEXT_BYTES) {
    let text = '';
    let i = start;
    for (; i < end; i++) {
      const byte = bytes[i]!;
      if (byte >= 0x80) break;
      text += String.fromCharCode(byte);
    }
    if (i === end) return text;
  }
  return utf8Text(bytes.subarray(start, end));
}

/** Removes the backslash before `,`, `=` and space; any other backslash is data. */
export function unescapeKeyPart(text: string): string {
  return text.includes('\\') ? text.replace(/\\([,= ])/g, '$1') : text;
}

/** Removes the backslash before `"` and `\`; any other backslash is data. */
export function unescapeString(text: string): string {
  return text.includes('\\') ? text.replace(/\\(["\\])/g, '$1') : text;
}
