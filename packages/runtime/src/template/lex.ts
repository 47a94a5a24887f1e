// Splits a template into text and actions, and actions into tokens.

/** A template that cannot be parsed: `template: id:1: unclosed action`. */
export class TemplateSyntaxError extends Error {
  override readonly name = 'TemplateSyntaxError';

  constructor(name: string, source: string, at: number, reason: string) {
    const line = source.slice(0, at).split('\n').length;
    super(`template: ${name}:${line}: ${reason}`);
  }
}

export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly start: number; readonly end: number };

export type ActionToken = { readonly at: number; readonly end: number; readonly text: string } & (
  | { readonly kind: 'literal'; readonly value: string | number | bigint | boolean }
  | { readonly kind: 'field'; readonly names: readonly string[] }
  | {
      readonly kind:
        | 'word'
        | 'variable'
        | 'dot'
        | 'open'
        | 'close'
        | 'pipe'
        | 'comma'
        | 'declare'
        | 'assign';
    }
);

/** Text and actions in turn; trim markers and comments are resolved. */
export function splitTemplate(name: string, source: string): Piece[] {
  const pieces: Piece[] = [];
  let position = 0;
  let trimsLeft = false;
  for (;;) {
    const open = source.indexOf('{{', position);
    const textEnd = open < 0 ? source.length : open;
    let text = source.slice(position, textEnd);
    if (trimsLeft) text = text.replace(/^[ \t\r\n]+/, '');
    if (open < 0) {
      pieces.push({ kind: 'text', text });
      return pieces;
    }
    let start = open + 2;
    if (/^-[ \t\r\n]/.test(source.slice(start, start + 2))) {
      text = trimEnd(text);
      start += 2;
    }
    pieces.push({ kind: 'text', text });
    const comment = /^[ \t\r\n]*\/\*/.exec(source.slice(start));
    const close =
      comment === null
        ? actionEnd(source, start)
        : source.indexOf('}}', Math.max(start, source.indexOf('*/', start)));
    if (close < 0)
      throw new TemplateSyntaxError(name, source, start, unclosed(source, start, comment !== null));
    const isTrimming =
      /[ \t\r\n]-$/.test(source.slice(start, close)) ||
      (comment !== null && source[close - 1] === '-');
    const end = isTrimming ? close - 1 : close;
    if (comment === null) pieces.push({ kind: 'action', start, end });
    trimsLeft = isTrimming;
    position = close + 2;
  }
}

// By hand: a regular expression for trailing blanks takes quadratic time on blanks elsewhere.
function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && ' \t\r\n'.includes(text[end - 1] ?? '')) end--;
  return text.slice(0, end);
}

function unclosed(source: string, start: number, isComment: boolean): string {
  if (isComment && source.indexOf('*/', start) < 0) return 'unclosed comment';
  return 'unclosed action';
}

/** Offset of the `}}` that ends an action; quoted text may contain braces. */
function actionEnd(source: string, start: number): number {
  for (let i = start; i < source.length; i++) {
    const char = source[i];
    if (char === '}' && source[i + 1] === '}') return i;
    if (char === '"' || char === '`' || char === "'") {
      const end = quotedEnd(source, i);
      if (end < 0) return -1;
      i = end;
    }
  }
  return -1;
}

function quotedEnd(source: string, start: number): number {
  const quote = source[start];
  for (let i = start + 1; i < source.length; i++) {
    if (quote !== '`' && source[i] === '\\') i++;
    else if (source[i] === quote) return i;
  }
  return -1;
}

const SPACE = /[ \t\r\n]+/y;
const WORD = /[\p{L}_][\p{L}\p{Nd}_]*/uy;
const FIELDS = /(?:\.[\p{L}_][\p{L}\p{Nd}_]*)+/uy;
const VARIABLE = /\$[\p{L}\p{Nd}_]*(?:\.[\p{L}_][\p{L}\p{Nd}_]*)*/uy;
const NUMBER =
  /[+-]?(?:0[xX][\da-fA-F_]+|\d[\d_]*(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)/y;

/** Tokens of one action. */
export function lexAction(
  name: string,
  source: string,
  piece: { readonly start: number; readonly end: number },
): ActionToken[] {
  const tokens: ActionToken[] = [];
  let at = piece.start;
  while (at < piece.end) {
    const space = matchAt(SPACE, source, at);
    if (space !== undefined) {
      at += space.length;
      continue;
    }
    const token = tokenAt(name, source, at);
    if (token.end > piece.end) throw new TemplateSyntaxError(name, source, at, 'unclosed action');
    tokens.push(token);
    at = token.end;
  }
  return tokens;
}

function matchAt(pattern: RegExp, source: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0];
}

const SYMBOLS: ReadonlyMap<string, 'open' | 'close' | 'pipe' | 'comma' | 'assign'> = new Map([
  ['(', 'open'],
  [')', 'close'],
  ['|', 'pipe'],
  [',', 'comma'],
  ['=', 'assign'],
]);

function tokenAt(name: string, source: string, at: number): ActionToken {
  const char = source[at] ?? '';
  const make = (text: string): { at: number; end: number; text: string } => ({
    at,
    end: at + text.length,
    text,
  });
  if (source.startsWith(':=', at)) return { ...make(':='), kind: 'declare' };
  const symbol = SYMBOLS.get(char);
  if (symbol !== undefined) return { ...make(char), kind: symbol };
  if (char === '"' || char === '`' || char === "'") return quoted(name, source, at);
  const number = matchAt(NUMBER, source, at);
  if (number !== undefined) {
    const value = numberValue(number);
    if (value === undefined) {
      const shown = number.length > 40 ? `${number.slice(0, 40)}…` : number;
      throw new TemplateSyntaxError(name, source, at, `illegal number syntax: "${shown}"`);
    }
    return { ...make(number), kind: 'literal', value };
  }
  const fields = matchAt(FIELDS, source, at);
  if (fields !== undefined) {
    return { ...make(fields), kind: 'field', names: fields.slice(1).split('.') };
  }
  if (char === '.') return { ...make('.'), kind: 'dot' };
  const variable = matchAt(VARIABLE, source, at);
  if (variable !== undefined) return { ...make(variable), kind: 'variable' };
  const word = matchAt(WORD, source, at);
  if (word === 'true' || word === 'false') {
    return { ...make(word), kind: 'literal', value: word === 'true' };
  }
  if (word !== undefined) return { ...make(word), kind: 'word' };
  const code = `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  throw new TemplateSyntaxError(
    name,
    source,
    at,
    `unexpected unrecognized character in action: ${code} '${char}'`,
  );
}

/** Maximum number of characters of a number. */
const NUMBER_LENGTH_MAX = 400;

/** `undefined` for an integer of more than 64 bits and a float that is too large. */
function numberValue(text: string): number | bigint | undefined {
  if (text.length > NUMBER_LENGTH_MAX) return undefined;
  const digits = text.replaceAll('_', '');
  if (/^[+-]?(?:\d+|0[xX][\da-fA-F]+)$/.test(digits)) {
    const magnitude = BigInt(digits.replace(/^[+-]/, ''));
    const value = digits.startsWith('-') ? -magnitude : magnitude;
    return BigInt.asIntN(64, value) === value ? value : undefined;
  }
  const value = Number(digits);
  return Number.isFinite(value) ? value : undefined;
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\u0007',
  b: '\b',
  f: '\f',
  v: '\v',
  '\\': '\\',
  '"': '"',
  "'": "'",
};

function quoted(name: string, source: string, at: number): ActionToken {
  const end = quotedEnd(source, at);
  if (end < 0) throw new TemplateSyntaxError(name, source, at, 'unterminated quoted string');
  const text = source.slice(at, end + 1);
  const place = { at, end: end + 1, text };
  const body = text.slice(1, -1);
  if (text.startsWith('`')) return { ...place, kind: 'literal', value: body };
  const value = body.replace(
    /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|([0-7]{3})|(.))/gs,
    (_, hex?: string, unicode?: string, octal?: string, char?: string) => {
      if (char !== undefined) return ESCAPES[char] ?? char;
      return String.fromCharCode(
        Number.parseInt(hex ?? unicode ?? octal ?? '0', octal === undefined ? 16 : 8),
      );
    },
  );
  // A character constant is its code point.
  if (text.startsWith("'")) {
    return { ...place, kind: 'literal', value: BigInt(value.codePointAt(0) ?? 0) };
  }
  return { ...place, kind: 'literal', value };
}
