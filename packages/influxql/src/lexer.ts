// Text to tokens. Total: any text gives tokens, the last one is `end`. One pass, no look-back, no
// allocation per blank. A slash is a division here; if the grammar allows a regular expression, the
// parser calls `regexAt` with the place of that slash, because only the grammar can distinguish the
// two. Places in messages are those that existing clients expect. Most tokens are placed at their
// first character; a string, a regular expression and an unterminated quote at the character
// *before* the opening quote, a bad escape at the character after the backslash. The end of the
// text is placed one character further when a word, blanks or a line comment reach up to it.
import { keywordOf } from './token.ts';
import type { Token, TokenKind } from './token.ts';

const TAB = 9;
const NEWLINE = 10;
const RETURN = 13;
const SPACE = 32;
const QUOTE = 34;
const DOLLAR = 36;
const APOSTROPHE = 39;
const STAR = 42;
const MINUS = 45;
const DOT = 46;
const SLASH = 47;
const BACKSLASH = 92;
const MICRO = 0xb5;

const TWO_CHARACTER_SYMBOLS: ReadonlySet<string> = new Set(['=~', '!=', '!~', '<=', '>=', '::']);
const ONE_CHARACTER_SYMBOLS = '+-*/%&|^=<>(),;.:';

/** Reads tokens from a text, each one once, in order. */
export class Lexer {
  readonly #text: string;
  #offset = 0;
  /**
   * The last token or gap was read up to a character that does not belong to it, or to the end if
   * there is none.
   */
  #readsOver = false;
  /** Whether the next token has blanks or comments before it. */
  #hasBlankBefore = false;

  constructor(text: string) {
    this.#text = text;
  }

  /** The next token that is neither blank nor comment. After the end: `end` again. */
  next(): Token {
    const from = this.#offset;
    for (;;) {
      this.#skipBlanks();
      const comment = this.#comment();
      if (comment === undefined) break;
      if (comment.kind === 'illegal') return comment;
    }
    this.#hasBlankBefore = this.#offset > from;
    return this.#token();
  }

  /**
   * The next token, blanks and comments included: for editors, and where blanks are not allowed.
   */
  nextOfAny(): Token {
    this.#hasBlankBefore = false;
    return this.#blank() ?? this.#comment() ?? this.#token();
  }

  /** Reads the regular expression whose opening slash is at `start`, and continues after it. */
  regexAt(start: number): Token {
    const text = this.#text;
    const place = placeBefore(text, start);
    let pattern = '';
    let from = start + 1;
    for (let i = from; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit === SLASH) {
        pattern += text.slice(from, i);
        this.#offset = i + 1;
        this.#readsOver = false;
        return make('regex', pattern, start, i + 1, place);
      }
      if (isNewline(unit)) return this.#badRegex(start, i, place);
      if (unit === BACKSLASH && text.charCodeAt(i + 1) === SLASH) {
        pattern += `${text.slice(from, i)}/`;
        from = i + 2;
        i++;
      }
    }
    return this.#badRegex(start, text.length, place);
  }

  /** Continues at `offset`, which was returned as a token's start or end. */
  seek(offset: number): void {
    this.#offset = offset;
    this.#readsOver = false;
  }

  #badRegex(start: number, end: number, place: number): Token {
    this.#offset = end;
    return make('bad-regex', '', start, end, place);
  }

  #skipBlanks(): void {
    const text = this.#text;
    const start = this.#offset;
    let i = start;
    while (isBlank(text.charCodeAt(i))) i++;
    if (i === start) return;
    this.#offset = i;
    this.#readsOver = true;
  }

  #blank(): Token | undefined {
    const start = this.#offset;
    this.#skipBlanks();
    const end = this.#offset;
    return end > start ? make('blank', this.#text.slice(start, end), start, end, start) : undefined;
  }

  /** One comment, `undefined` when there is none. An unterminated one is an `illegal` token. */
  #comment(): Token | undefined {
    const text = this.#text;
    const start = this.#offset;
    const first = text.charCodeAt(start);
    const second = text.charCodeAt(start + 1);
    if (first === MINUS && second === MINUS) {
      let i = start + 2;
      while (i < text.length && !isNewline(text.charCodeAt(i))) i++;
      this.#offset = i;
      this.#readsOver = true;
      return make('comment', text.slice(start, i), start, i, start);
    }
    if (first === SLASH && second === STAR) {
      const close = text.indexOf('*/', start + 2);
      const end = close < 0 ? text.length : close + 2;
      this.#offset = end;
      this.#readsOver = false;
      if (close < 0) return make('illegal', '', start, end, start);
      return make('comment', text.slice(start, end), start, end, start);
    }
    return undefined;
  }

  #token(): Token {
    const text = this.#text;
    const start = this.#offset;
    if (start >= text.length) {
      const shift = this.#readsOver ? 1 : 0;
      return { ...this.#make('end', '', start, start, start), placeShift: shift };
    }
    const token = this.#read(start, text.charCodeAt(start));
    this.#offset = token.end;
    return token;
  }

  #read(start: number, first: number): Token {
    this.#readsOver = false;
    if (isWordStart(first)) return this.#word(start);
    if (isDigit(first)) return this.#number(start);
    if (first === DOT && isDigit(this.#text.charCodeAt(start + 1))) return this.#number(start);
    if (first === QUOTE) return this.#quoted(start, QUOTE, 'identifier');
    if (first === APOSTROPHE) return this.#quoted(start, APOSTROPHE, 'string');
    if (first === DOLLAR) return this.#parameter(start);
    return this.#symbol(start);
  }

  #word(start: number): Token {
    const end = this.#wordEnd(start);
    this.#readsOver = true;
    const text = this.#text.slice(start, end);
    const keyword = keywordOf(text);
    if (keyword === undefined) return this.#make('identifier', text, start, end, start);
    return this.#makeFixed('word', keyword, start, end);
  }

  #wordEnd(start: number): number {
    let end = start;
    while (isWordPart(this.#text.charCodeAt(end))) end++;
    return end;
  }

  /**
   * `12`, `1.5`, `.5`, `1.`, or a duration: digits that are followed by a letter. There is no
   * exponent.
   */
  #number(start: number): Token {
    const text = this.#text;
    let end = start;
    while (isDigit(text.charCodeAt(end))) end++;
    if (text.charCodeAt(end) === DOT) {
      end++;
      while (isDigit(text.charCodeAt(end))) end++;
      const digitsEnd = text.charCodeAt(end - 1) === DOT ? end - 1 : end;
      return this.#make('number', text.slice(start, digitsEnd), start, end, start);
    }
    if (!isDurationLetter(text.charCodeAt(end))) {
      return this.#make('integer', text.slice(start, end), start, end, start);
    }
    while (isDurationLetter(text.charCodeAt(end)) || isDigit(text.charCodeAt(end))) end++;
    return this.#make('duration', text.slice(start, end), start, end, start);
  }

  #quoted(start: number, quote: number, kind: 'identifier' | 'string'): Token {
    const text = this.#text;
    const place = placeBefore(text, start);
    let content = '';
    let from = start + 1;
    for (let i = from; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit === quote) {
        const ownPlace = kind === 'identifier' ? start : place;
        return this.#make(kind, content + text.slice(from, i), start, i + 1, ownPlace);
      }
      if (isNewline(unit)) {
        return this.#make('bad-string', content + text.slice(from, i), start, i, place);
      }
      if (unit !== BACKSLASH) continue;
      const escaped = text.charCodeAt(i + 1);
      if (escaped !== 110 && escaped !== BACKSLASH && escaped !== QUOTE && escaped !== APOSTROPHE) {
        const end = Math.min(text.length, i + 1 + characterLength(text, i + 1));
        return this.#make('bad-escape', text.slice(i, end), start, end, i + 1);
      }
      content += text.slice(from, i) + (escaped === 110 ? '\n' : text.charAt(i + 1));
      from = i + 2;
      i++;
    }
    return this.#make('bad-string', content + text.slice(from), start, text.length, place);
  }

  /**
   * `$name` or `$"any name"`; the name may be a keyword or begin with a digit. If nothing follows
   * the dollar, the name is empty.
   */
  #parameter(start: number): Token {
    if (this.#text.charCodeAt(start + 1) === QUOTE) {
      const name = this.#quoted(start + 1, QUOTE, 'identifier');
      if (name.kind !== 'identifier') return { ...name, start };
      return this.#make('parameter', name.text, start, name.end, start);
    }
    const end = this.#wordEnd(start + 1);
    this.#readsOver = true;
    return this.#make('parameter', this.#text.slice(start + 1, end), start, end, start);
  }

  #symbol(start: number): Token {
    const text = this.#text;
    const two = isSecond(text.charCodeAt(start + 1)) ? text.slice(start, start + 2) : '';
    if (TWO_CHARACTER_SYMBOLS.has(two)) return this.#makeFixed('symbol', two, start, start + 2);
    if (two === '<>') return this.#makeFixed('symbol', '!=', start, start + 2);
    const one = text.charAt(start);
    if (ONE_CHARACTER_SYMBOLS.includes(one))
      return this.#makeFixed('symbol', one, start, start + 1);
    const end = start + characterLength(text, start);
    return this.#make('illegal', text.slice(start, end), start, end, start);
  }

  #make(kind: TokenKind, text: string, start: number, end: number, place: number): Token {
    const hasBlankBefore = this.#hasBlankBefore;
    return { kind, text, fixed: '', start, end, hasBlankBefore, place, placeShift: 0 };
  }

  #makeFixed(kind: 'word' | 'symbol', fixed: string, start: number, end: number): Token {
    const hasBlankBefore = this.#hasBlankBefore;
    return { kind, text: fixed, fixed, start, end, hasBlankBefore, place: start, placeShift: 0 };
  }
}

function make(kind: TokenKind, text: string, start: number, end: number, place: number): Token {
  return { kind, text, fixed: '', start, end, hasBlankBefore: false, place, placeShift: 0 };
}

/** Offset of the character before `offset`, 0 at the start; `\r\n` is one character. */
function placeBefore(text: string, offset: number): number {
  if (offset === 0) return 0;
  const before = offset - 1;
  if (before === 0) return before;
  const unit = text.charCodeAt(before);
  const previous = text.charCodeAt(before - 1);
  if (unit === NEWLINE && previous === RETURN) return before - 1;
  if (unit >= 0xdc00 && unit <= 0xdfff && previous >= 0xd800 && previous <= 0xdbff) {
    return before - 1;
  }
  return before;
}

/** UTF-16 units of the code point at `offset`. */
function characterLength(text: string, offset: number): 1 | 2 {
  return (text.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1;
}

/** Whether a symbol of two characters may end with it: `=`, `~`, `>` or `:`. */
function isSecond(unit: number): boolean {
  return unit === 61 || unit === 126 || unit === 62 || unit === 58;
}

function isNewline(unit: number): boolean {
  return unit === NEWLINE || unit === RETURN;
}

function isBlank(unit: number): boolean {
  return unit === SPACE || unit === TAB || unit === NEWLINE || unit === RETURN;
}

function isDigit(unit: number): boolean {
  return unit >= 48 && unit <= 57;
}

function isLetter(unit: number): boolean {
  return (unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90);
}

function isDurationLetter(unit: number): boolean {
  return isLetter(unit) || unit === MICRO;
}

function isWordStart(unit: number): boolean {
  return isLetter(unit) || unit === 95;
}

function isWordPart(unit: number): boolean {
  return isWordStart(unit) || isDigit(unit);
}
