// Canonical series keys as bytes: measurement, then `,tag=value` sorted by key, with the escapes of
// line protocol.
import { utf8Text } from '@tidemark/core';

import type { TagPair } from './canonical-tags.ts';

export type ParsedKey = {
  readonly measurement: string;
  readonly tags: readonly TagPair[];
};

const COMMA = 44;
const EQUALS = 61;
const BACKSLASH = 92;

/** Parses a canonical key. */
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
  const tags: TagPair[] = [];
  while (at < key.length) {
    at++;
    const name = part(EQUALS);
    at++;
    tags.push([name, part(COMMA)]);
  }
  return { measurement, tags };
}
