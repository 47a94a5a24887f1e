// Canonical series keys as bytes: measurement, then `,tag=value` sorted by key, with the escapes of line protocol.
import { utf8Text } from '../bytes.ts';
import type { TagPair } from './series-index.ts';

export type ParsedKey = {
  readonly measurement: string;
  readonly tags: readonly TagPair[];
  /** Where the tags begin: the bytes from here on are the key without the measurement. */
  readonly tagsAt: number;
};

export const COMMA = 44;
export const EQUALS = 61;
export const BACKSLASH = 92;

/** Parses a key that a kernel made. */
export function parseSeriesKey(key: Uint8Array): ParsedKey {
  let at = 0;
  const part = (end: number): string => {
    const start = at;
    let isEscaped = false;
    while (at < key.length && key[at] !== COMMA && key[at] !== end) {
      if (key[at] === BACKSLASH) {
        const next = key[at + 1];
        if (next === COMMA || next === EQUALS || next === 32) {
          isEscaped = true;
          at++;
        }
      }
      at++;
    }
    const text = utf8Text(key.subarray(start, at));
    return isEscaped ? text.replace(/\\([,= ])/g, '$1') : text;
  };
  const measurement = part(COMMA);
  const tagsAt = at;
  const tags: TagPair[] = [];
  while (at < key.length) {
    at++;
    const name = part(EQUALS);
    at++;
    tags.push([name, part(COMMA)]);
  }
  return { measurement, tags, tagsAt };
}

/** Where a part of a key ends: at the first `end` that is not escaped, before `limit`. */
export function partEnd(
  bytes: Uint8Array,
  { from, limit, end }: { readonly from: number; readonly limit: number; readonly end: number },
): number {
  let at = from;
  while (at < limit && bytes[at] !== end) {
    if (bytes[at] === BACKSLASH && at + 1 < limit && isEscapable(bytes[at + 1])) at++;
    at++;
  }
  return at;
}

function isEscapable(byte: number | undefined): boolean {
  return byte === COMMA || byte === EQUALS || byte === 32;
}

/** The bytes without the escapes of line protocol; the same array when there are none. */
export function unescaped(bytes: Uint8Array): Uint8Array {
  if (!bytes.includes(BACKSLASH)) return bytes;
  const result: number[] = [];
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i] === BACKSLASH && isEscapable(bytes[i + 1])) i++;
    result.push(bytes[i]!);
  }
  return Uint8Array.from(result);
}
