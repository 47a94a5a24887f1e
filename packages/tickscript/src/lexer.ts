// Lexer: text to tokens in one pass. Total: invalid text becomes an `error` token and lexing
// continues. Whether a symbol is an operator depends only on the token before it, as recorded:
// after an operand (a word, number, string, reference or `)`) binary operators are read; elsewhere
// `/` begins a regular expression.
import type { Comment } from './ast.ts';
import type { Token, TokenKind } from './token.ts';

const LETTER = /\p{L}/u;
const WORD_PART = /[\p{L}\p{Nd}_]/u;
const WHITE_SPACE = /\s|\u0085/u;
const BYTE_ORDER_MARK = 0xfeff;
const NEWLINE = 10;

const KEYWORDS: ReadonlyMap<string, TokenKind> = new Map<string, TokenKind>([
  ['AND', 'AND'],
  ['OR', 'OR'],
  ['TRUE', 'TRUE'],
  ['FALSE', 'FALSE'],
  ['var', 'var'],
  ['dbrp', 'dbrp'],
]);

/** Longest first. */
const BINARY_OPERATORS: readonly TokenKind[] = [
  '==',
  '!=',
  '<=',
  '>=',
  '=~',
  '!~',
  '<',
  '>',
  '+',
  '-',
  '*',
  '/',
  '%',
  '=',
  '!',
];
const OPERAND_SYMBOLS: readonly TokenKind[] = ['-', '!', '*', '='];
const PUNCTUATION: readonly TokenKind[] = ['(', ')', '[', ']', ',', '.', '|', '@'];
const OPERANDS: ReadonlySet<TokenKind> = new Set<TokenKind>([
  'identifier',
  'reference',
  'duration',
  'lambda',
  'number',
  'string',
  'var',
  'dbrp',
  'TRUE',
  'FALSE',
  'AND',
  'OR',
  ')',
]);

/** All tokens of a text, ending with `EOF`. */
export function tokenize(text: string): readonly Token[] {
  return new Lexer(text).run();
}

class Lexer {
  readonly #text: string;
  readonly #tokens: Token[] = [];
  #position = 0;
  #isAfterOperand = false;

  constructor(text: string) {
    this.#text = text;
  }

  run(): readonly Token[] {
    for (;;) {
      const comment = this.#skipSpaceAndComments();
      const token = this.#next();
      this.#tokens.push(comment === undefined ? token : { ...token, comment });
      if (token.kind === 'EOF') return this.#tokens;
      this.#isAfterOperand = OPERANDS.has(token.kind);
      this.#position = token.end;
    }
  }

  #next(): Token {
    const text = this.#text;
    const start = this.#position;
    const code = text.codePointAt(start);
    if (code === undefined) return this.#token('EOF', start);
    const char = String.fromCodePoint(code);
    if (LETTER.test(char)) return this.#word(start);
    if (isDigit(code) || (char === '.' && isDigit(text.charCodeAt(start + 1)))) {
      return this.#number(start);
    }
    if (char === '"') return this.#quoted(start, '"', 'reference', 'unterminated field reference');
    if (char === "'") return this.#string(start);
    const symbols = this.#isAfterOperand ? BINARY_OPERATORS : OPERAND_SYMBOLS;
    const symbol =
      symbols.find((each) => text.startsWith(each, start)) ??
      PUNCTUATION.find((each) => each === char);
    if (symbol !== undefined) return this.#token(symbol, start + symbol.length);
    if (char === '/') return this.#quoted(start, '/', 'regex', 'unterminated regex');
    return this.#error(`unknown state, last char: ${quoteRune(char)}`, start + char.length);
  }

  #token(kind: TokenKind, end: number): Token {
    return { kind, start: this.#position, end, text: this.#text.slice(this.#position, end) };
  }

  #error(message: string, end: number): Token {
    return { kind: 'error', start: this.#position, end, text: message };
  }

  #word(start: number): Token {
    const text = this.#text;
    let end = start;
    for (;;) {
      const code = text.codePointAt(end);
      if (code === undefined) break;
      const char = String.fromCodePoint(code);
      if (!WORD_PART.test(char)) break;
      end += char.length;
    }
    const word = text.slice(start, end);
    if (word === 'lambda' && text[end] === ':') return this.#token('lambda', end + 1);
    return this.#token(KEYWORDS.get(word) ?? 'identifier', end);
  }

  /** Digits with at most one decimal point, or digits with one unit. */
  #number(start: number): Token {
    const text = this.#text;
    let end = start;
    let hasPoint = false;
    for (; ; end++) {
      const code = text.charCodeAt(end);
      if (isDigit(code)) continue;
      if (text[end] !== '.') break;
      if (hasPoint) return this.#error('multiple decimals in number', end + 1);
      hasPoint = true;
    }
    if (hasPoint) return this.#token('number', end);
    const unit = durationUnitAt(text, end);
    return unit === 0 ? this.#token('number', end) : this.#token('duration', end + unit);
  }

  #string(start: number): Token {
    if (!this.#text.startsWith("'''", start)) {
      return this.#quoted(start, "'", 'string', 'unterminated string');
    }
    const end = this.#text.indexOf("'''", start + 3);
    if (end < 0) return this.#error('unterminated string', this.#text.length);
    return this.#token('string', end + 3);
  }

  /** Text up to the next quote that no backslash precedes. */
  #quoted(start: number, quote: string, kind: TokenKind, unterminated: string): Token {
    const text = this.#text;
    for (let i = start + 1; i < text.length; i++) {
      if (text[i] === '\\' && text[i + 1] === quote) i++;
      else if (text[i] === quote) return this.#token(kind, i + 1);
    }
    return this.#error(unterminated, text.length);
  }

  /** Moves to the next token; returns the comments on the way. An empty line begins a new block. */
  #skipSpaceAndComments(): Comment | undefined {
    const text = this.#text;
    const blocks: string[][] = [];
    let start = -1;
    let end = -1;
    let newlines = 2;
    while (this.#position < text.length) {
      const i = this.#position;
      if (text.startsWith('//', i)) {
        const newline = text.indexOf('\n', i);
        const lineEnd = newline < 0 ? text.length : newline;
        if (newlines >= 2) blocks.push([]);
        blocks.at(-1)?.push(commentText(text.slice(i, lineEnd)));
        if (start < 0) start = i;
        end = lineEnd;
        newlines = 0;
        this.#position = lineEnd;
      } else if (isWhiteSpace(text, i)) {
        if (text.charCodeAt(i) === NEWLINE) newlines++;
        this.#position++;
      } else {
        break;
      }
    }
    return start < 0 ? undefined : { blocks, span: { start, end } };
  }
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isWhiteSpace(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  // JavaScript counts the byte order mark as white space, Unicode does not.
  return code !== BYTE_ORDER_MARK && WHITE_SPACE.test(text.charAt(index));
}

/** Length of the unit of a duration literal at `index`; 0 if there is none. */
function durationUnitAt(text: string, index: number): number {
  if (text.startsWith('ms', index)) return 2;
  return index < text.length && 'uµsmhdw'.includes(text.charAt(index)) ? 1 : 0;
}

/** Without surrounding white space, the slashes and one space. */
function commentText(line: string): string {
  const text = line.trim().slice(2);
  return text.startsWith(' ') ? text.slice(1) : text;
}

/** A code point in single quotes, as recorded texts print it. */
function quoteRune(char: string): string {
  if (char === "'") return "'\\''";
  if (char === '\\') return "'\\\\'";
  const code = char.codePointAt(0) ?? 0;
  const isPrintable = code >= 0x20 && code !== BYTE_ORDER_MARK && !/[\p{C}\p{Z}]/u.test(char);
  if (isPrintable || char === ' ') return `'${char}'`;
  if (code < 0x20 || code === 0x7f) return `'\\x${code.toString(16).padStart(2, '0')}'`;
  const hex = code.toString(16);
  return code > 0xffff ? `'\\U${hex.padStart(8, '0')}'` : `'\\u${hex.padStart(4, '0')}'`;
}
