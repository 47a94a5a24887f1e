// JSON with integers that a double cannot hold.

const LONG_INTEGER = /(?<=[[,:]\s*)(-?\d{16,})(?=\s*[,\]}])/g;

const COLON = /\s*:/y;

/** JSON.parse, but integers that a double cannot hold become `bigint`. */
export function parseLossless(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text) as unknown;
  // Marked as strings outside of strings only: the text is split at string literals first.
  const marked = text.replace(/"(?:[^"\\]|\\.)*"|[^"]+/g, (piece, offset: number) => {
    if (!piece.startsWith('"')) return piece.replace(LONG_INTEGER, '"\\u0000$1"');
    // A text that begins like a mark gets one character more, which is taken away again. Keys are not looked at.
    if (!piece.startsWith('"\\u0000') || isKey(text, offset + piece.length)) return piece;
    return `"\\u0000${piece.slice(1)}`;
  });
  return JSON.parse(marked, (_key, value: unknown) => {
    if (typeof value !== 'string' || !value.startsWith('\0')) return value;
    if (value.startsWith('\0\0')) return value.slice(1);
    const integer = BigInt(value.slice(1));
    return BigInt(Number(integer)) === integer && Number.isSafeInteger(Number(integer))
      ? Number(integer)
      : integer;
  }) as unknown;
}

/** Whether the literal that ends here is the name of a property. */
function isKey(text: string, end: number): boolean {
  COLON.lastIndex = end;
  return COLON.test(text);
}

/** JSON.stringify, but `bigint` is printed as the integer it is. */
export function printLossless(value: unknown, indent = 0): string {
  const text = JSON.stringify(value, (_key, item: unknown) => markInteger(item), indent) ?? 'null';
  // Whole literals, so that what looks like a mark within a text is none. Keys are not marked.
  return text.replace(/"(?:[^"\\]|\\.)*"(\s*:)?/g, (literal, colon: string | undefined) =>
    colon === undefined ? unmark(literal) : literal,
  );
}

function unmark(literal: string): string {
  if (!literal.startsWith('"\\u0000')) return literal;
  return literal.startsWith('"\\u0000\\u0000')
    ? `"${literal.slice('"\\u0000'.length)}`
    : literal.slice('"\\u0000'.length, -1);
}

// JSON.stringify knows no bigint: its digits become a text that no other value is printed as.
function markInteger(item: unknown): unknown {
  if (typeof item === 'bigint') return `\0${item}`;
  return typeof item === 'string' && item.startsWith('\0') ? `\0${item}` : item;
}
