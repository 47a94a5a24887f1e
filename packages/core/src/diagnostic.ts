// Diagnostics: mistakes in a text that a user wrote (query, script, line protocol, configuration).

/** A half-open range of UTF-16 code units of a text: `text.slice(start, end)`. */
export type Span = { readonly start: number; readonly end: number };

/** One finding about a user's text. Diagnostics are returned, never thrown. */
export type Diagnostic = {
  /** Stable, e.g. `IQL_UNKNOWN_FUNCTION`. */
  readonly code: string;
  /** One sentence, lower case, no full stop; recorded texts stay as recorded. */
  readonly message: string;
  readonly span: Span;
  /** What to write instead. */
  readonly hint?: string | undefined;
};

/**
 * One-based line and column (in code points) of an offset. `\r\n`, `\n` and lone `\r` end a line.
 */
export function lineAndColumn(
  text: string,
  offset: number,
): { readonly line: number; readonly column: number } {
  let line = 1;
  let column = 1;
  for (let i = 0; i < offset && i < text.length; i++) {
    const unit = text.charCodeAt(i);
    const endsLine = unit === 10 || (unit === 13 && text.charCodeAt(i + 1) !== 10);
    if (endsLine) {
      line++;
      column = 1;
    } else if (unit < 0xdc00 || unit > 0xdfff) {
      column++;
    }
  }
  return { line, column };
}
