// The nesting depth of JSON. Code that reads, prints or walks a value is recursive; a text of a few
// kilobytes could exhaust its stack.
import { InvalidRequest } from './errors.ts';
import type { Limit } from './limits.ts';

export const JSON_DEPTH: Limit = {
  value: 200,
  unit: 'levels',
  reason: 'what reads and prints JSON is recursive; nothing that is sent nests deeper than twenty',
};

/** Throws `InvalidRequest`, whose text begins with `prefix`, for JSON that nests deeper. */
export function checkJsonDepth(text: string, prefix = ''): void {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) isText = !isText;
    else if (isText) {
      if (unit === BACKSLASH) at++;
    } else if (unit === OPEN_LIST || unit === OPEN_OBJECT) {
      if (++depth > JSON_DEPTH.value)
        throw new InvalidRequest(`${prefix}JSON nests deeper than ${JSON_DEPTH.value} levels`);
    } else if (unit === CLOSE_LIST || unit === CLOSE_OBJECT) depth--;
  }
}

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
