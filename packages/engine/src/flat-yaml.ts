// The YAML of sideload files: one level of `key: value`. Nested values are passed over, as sideload can not use them;
// anything that is not such a document is refused, never guessed.
import { InvalidRequest } from '@tidemark/core';

export type Scalar = string | number | bigint | boolean;

/** Scalars of a document by key. Throws `InvalidRequest` naming the line that can not be read. */
export function parseFlatYaml(text: string): ReadonlyMap<string, Scalar> {
  const values = new Map<string, Scalar>();
  const lines = text.split(/\r?\n/);
  lines.forEach((line, i) => {
    const isPassedOver =
      /^\s*(#.*)?$/.test(line) || /^(---|\.\.\.)\s*$/.test(line) || /^[\s-]/.test(line);
    if (isPassedOver) return;
    const pair = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s:#"'][^:#]*?)\s*:(?:\s+(.*))?$/.exec(line);
    if (pair === null) throw new InvalidRequest(`yaml: line ${i + 1}: expected key: value`);
    const value = readScalar(pair[2] ?? '', i + 1);
    if (value !== undefined) values.set(String(readScalar(pair[1] ?? '', i + 1, true)), value);
  });
  return values;
}

function readScalar(raw: string, line: number, isKey = false): Scalar | undefined {
  const text = raw.trim();
  if (text.startsWith('"'))
    return readQuoted(text, line, /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/, unescape);
  if (text.startsWith("'")) {
    return readQuoted(text, line, /^'((?:[^']|'')*)'\s*(?:#.*)?$/, (inner) =>
      inner.replaceAll("''", "'"),
    );
  }
  const plain = text.replace(/(^|\s)#.*$/, '').trim();
  if (isKey) return plain;
  // No value, null, or one that goes on below or inside brackets.
  if (plain === '' || /^(null|Null|NULL|~)$/.test(plain) || /^[[{|>&*!]/.test(plain))
    return undefined;
  if (/^(true|True|TRUE)$/.test(plain)) return true;
  if (/^(false|False|FALSE)$/.test(plain)) return false;
  if (/^[-+]?\d{1,19}$/.test(plain)) return BigInt(plain.replace(/^\+/, ''));
  if (/^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(plain)) return Number(plain);
  return plain;
}

function readQuoted(
  text: string,
  line: number,
  pattern: RegExp,
  decode: (inner: string) => string,
): string {
  const match = pattern.exec(text);
  if (match === null) throw new InvalidRequest(`yaml: line ${line}: unclosed quote`);
  return decode(match[1] ?? '');
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '0': '\0',
  e: '\u001b',
};

function unescape(inner: string): string {
  return inner.replace(/\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))/g, (_all, x, u, char) => {
    const code = (x ?? u) as string | undefined;
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
    return ESCAPES[char as string] ?? (char as string);
  });
}
