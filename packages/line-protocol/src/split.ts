// Cuts a body into lines. A newline inside a quoted field value belongs to the line; so does one
// after a backslash.
import { BACKSLASH, COMMA, EQUALS, NEWLINE, QUOTE, SPACE } from './bytes.ts';

/**
 * Finds line ends one after another. Quotes count only after the first space of a line and only
 * while more `=` than `,` were seen there, that is inside a field value; elsewhere they are
 * ordinary bytes.
 */
export class LineSplitter {
  readonly #body: Uint8Array;
  // Next quote and backslash at or after the position: most lines have neither and need no scan of
  // their own.
  #nextQuote = -1;
  #nextBackslash = -1;

  constructor(body: Uint8Array) {
    this.#body = body;
  }

  /** Offset of the newline that ends the line starting at `start`, or the body's length. */
  lineEnd(start: number): number {
    const body = this.#body;
    const newline = body.indexOf(NEWLINE, start);
    const end = newline < 0 ? body.length : newline;
    if (this.#nextQuote < start) this.#nextQuote = indexOfOrEnd(body, QUOTE, start);
    if (this.#nextBackslash < start) this.#nextBackslash = indexOfOrEnd(body, BACKSLASH, start);
    if (this.#nextQuote >= end && this.#nextBackslash >= end) return end;
    return endOfLine(body, start);
  }
}

function indexOfOrEnd(body: Uint8Array, byte: number, start: number): number {
  const found = body.indexOf(byte, start);
  return found < 0 ? body.length : found;
}

/** Offset of the newline that ends one line, independent of what was read before. */
export function endOfLine(body: Uint8Array, start: number): number {
  const length = body.length;
  let isInFields = false;
  let isQuoted = false;
  let depth = 0; // '=' minus ',' since the first space
  for (let i = start; i < length; i++) {
    const byte = body[i]!;
    if (byte === BACKSLASH && i + 2 < length) i++;
    else if (byte === NEWLINE && !isQuoted) return i;
    else if (byte === SPACE) isInFields = true;
    else if (!isInFields) continue;
    else if (byte === QUOTE) {
      if (depth > 0) isQuoted = !isQuoted;
    } else if (isQuoted) continue;
    else if (byte === EQUALS) depth++;
    else if (byte === COMMA) depth--;
  }
  return length;
}
