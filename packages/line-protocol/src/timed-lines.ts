// A quick check of a body before it is forwarded: whether every line has a timestamp.
import { BACKSLASH, HASH, MINUS, NEWLINE, NINE, QUOTE, SPACE, ZERO } from './bytes.ts';

/**
 * The number of lines when every line ends with a timestamp, so that the body can be forwarded as
 * it is. Gives up (`undefined`) on quotes and backslashes, where a newline may not end a line.
 */
export function countTimedLines(body: Uint8Array): number | undefined {
  if (body.includes(QUOTE) || body.includes(BACKSLASH)) return undefined;
  let count = 0;
  let start = 0;
  while (start < body.length) {
    const newline = body.indexOf(NEWLINE, start);
    const end = newline < 0 ? body.length : newline;
    if (end > start) {
      if (body[start] === HASH || !endsWithTime(body, start, end)) return undefined;
      count++;
    }
    start = end + 1;
  }
  return count;
}

function endsWithTime(body: Uint8Array, start: number, end: number): boolean {
  let i = end - 1;
  while (i > start && isDigit(body[i])) i--;
  const hasDigits = i < end - 1;
  if (body[i] === MINUS) i--;
  return hasDigits && body[i] === SPACE;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}
