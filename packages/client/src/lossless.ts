// JSON with integers that a double cannot hold.

const LONG_INTEGER = /(?<=[[,:]\s*)(-?\d{16,})(?=\s*[,\]}])/g;

/** A string with its quotes. Matched from the left, so that quotes within a text are skipped. */
const LITERAL = /"(?:[^"\\]|\\.)*"/;
const LITERALS = new RegExp(LITERAL, 'g');
const LITERALS_AND_OTHERS = new RegExp(`${LITERAL.source}|[^"]+`, 'g');
const MARK = '"\\u0000';
const COLON = /\s*:/y;

/** JSON.parse, but integers that a double cannot hold become `bigint`. */
export function parseLossless(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text) as unknown;
  const marked = text.replace(LITERALS_AND_OTHERS, (piece, offset: number) => {
    if (!piece.startsWith('"')) return piece.replace(LONG_INTEGER, `${MARK}$1"`);
    // A text that begins like a mark gets one more character, which is removed again.
    return isMarked(piece, text, offset) ? `${MARK}${piece.slice(1)}` : piece;
  });
  return JSON.parse(marked, (_key, value: unknown) => {
    if (typeof value !== 'string' || !value.startsWith('\0')) return value;
    if (value.startsWith('\0\0')) return value.slice(1);
    const integer = BigInt(value.slice(1));
    return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
  }) as unknown;
}

/** Whether a literal of the text begins like a mark. Names of properties are not marked. */
function isMarked(literal: string, text: string, offset: number): boolean {
  if (!literal.startsWith(MARK)) return false;
  COLON.lastIndex = offset + literal.length;
  return !COLON.test(text);
}

/** JSON.stringify, but `bigint` is printed as the integer it is. */
export function printLossless(value: unknown, indent = 0): string {
  const text = JSON.stringify(value, (_key, item: unknown) => markInteger(item), indent) ?? 'null';
  return text.replace(LITERALS, (literal, offset: number) => {
    if (!isMarked(literal, text, offset)) return literal;
    const rest = literal.slice(MARK.length);
    return rest.startsWith('\\u0000') ? `"${rest}` : rest.slice(0, -1);
  });
}

// JSON.stringify knows no bigint: its digits become a text that no other value is printed as.
function markInteger(item: unknown): unknown {
  if (typeof item === 'bigint') return `\0${item}`;
  return typeof item === 'string' && item.startsWith('\0') ? `\0${item}` : item;
}
