// The parser's view of a text: one token of look-ahead, common functions that expect tokens, and
// how parsing stops.
import { lineAndColumn, own } from '@tidemark/core';
import type { Diagnostic, SettingLimit, Span } from '@tidemark/core';

import { parseDuration } from './duration.ts';
import { hintFor } from './hints.ts';
import { Lexer } from './lexer.ts';
import {
  HIGHEST_DEPTH,
  HIGHEST_OPERATORS,
  limitOf,
  MAX_DEPTH,
  MAX_OPERATORS,
  MAX_REGEX_LENGTH,
  MAX_TOKENS,
  nameOf,
} from './limits.ts';
import type { ParseOptions } from './parse.ts';
import { parameterToken } from './parameters.ts';
import { checkRegexLightly } from './regex-check.ts';
import { isTimeZone } from './time-zone.ts';
import type { Token, TokenKind } from './token.ts';

/**
 * Thrown by the parser's functions, caught where a statement is parsed. It never leaves the
 * package.
 */
export class ParseFailure extends Error {
  readonly diagnostic: Diagnostic;

  constructor(diagnostic: Diagnostic) {
    super(diagnostic.message);
    this.diagnostic = diagnostic;
  }
}

export class Cursor {
  readonly text: string;
  readonly #lexer: Lexer;
  readonly #options: ParseOptions;
  readonly #maxDepth: number;
  readonly #maxTokens: number;
  readonly #maxRegexLength: number;
  /** Height that expressions may have. */
  readonly maxOperators: number;
  #current: Token | undefined;
  #last: Token | undefined;
  #depth = 0;
  #tokenCount = 0;

  constructor(text: string, options: ParseOptions) {
    this.text = text;
    this.#lexer = new Lexer(text);
    this.#options = options;
    const { limits } = options;
    this.#maxDepth = limitOf(limits?.maxDepth, MAX_DEPTH, HIGHEST_DEPTH);
    this.#maxTokens = limitOf(limits?.maxTokens, MAX_TOKENS);
    this.#maxRegexLength = limitOf(limits?.maxRegexLength, MAX_REGEX_LENGTH);
    this.maxOperators = limitOf(limits?.maxOperators, MAX_OPERATORS, HIGHEST_OPERATORS);
  }

  /** The next token, not consumed. Parameters appear as the token they stand for. */
  peek(): Token {
    this.#current ??= this.#read();
    return this.#current;
  }

  /** There is no token after the last one that may be read; looking at it is an error. */
  #read(): Token {
    const token = this.#lexer.next();
    if (token.kind === 'end' || ++this.#tokenCount <= this.#maxTokens)
      return this.#substitute(token);
    this.#lexer.seek(this.text.length);
    this.#current = this.#lexer.next();
    const reason = `the query has more than ${this.#maxTokens} words and symbols`;
    const hint = 'write tag values as one regular expression, or send several queries';
    return this.failLimit(MAX_TOKENS, {
      reason,
      span: { start: token.start, end: token.end },
      hint,
    });
  }

  /** Consumes the next token. */
  next(): Token {
    const token = this.peek();
    this.#current = undefined;
    this.#last = token;
    return token;
  }

  /** The token that was consumed last. */
  last(): Token {
    return this.#last ?? this.peek();
  }

  /** Whether the next token is this keyword or symbol. */
  at(fixed: string): boolean {
    return this.peek().fixed === fixed;
  }

  /** Whether the next token is this symbol and directly follows the last one. */
  atAdjacent(fixed: string): boolean {
    const token = this.peek();
    return token.fixed === fixed && !token.hasBlankBefore;
  }

  /**
   * Whether the next token is an identifier with this text in any case, for words that are not
   * reserved.
   */
  atSoftWord(word: string): boolean {
    const token = this.peek();
    return token.kind === 'identifier' && token.text.toUpperCase() === word;
  }

  /** Consumes the next token if it is this keyword or symbol. */
  skip(fixed: string): boolean {
    if (!this.at(fixed)) return false;
    this.next();
    return true;
  }

  /** Consumes these keywords or symbols, all of which have to be there. */
  expect(...fixed: readonly string[]): void {
    for (const one of fixed) {
      if (!this.skip(one)) this.failExpected([one]);
    }
  }

  /** Consumes one of the words of a table, and returns what the table has for it. */
  choose<T>(table: Readonly<Record<string, T>>): T {
    const chosen = own(table, this.peek().fixed) ?? this.failExpected(Object.keys(table));
    this.next();
    return chosen;
  }

  /** One or more items with commas between them. */
  list<T>(item: (cursor: this) => T): readonly T[] {
    const items = [item(this)];
    while (this.skip(',')) items.push(item(this));
    return items;
  }

  identifier(): string {
    if (this.peek().kind !== 'identifier') this.failExpected(['identifier']);
    return this.next().text;
  }

  string(): string {
    if (this.peek().kind !== 'string') this.failExpected(['string']);
    return this.next().text;
  }

  /** A duration, or INF, which is 0. */
  durationOrInf(): bigint {
    return this.skip('INF') ? 0n : this.duration();
  }

  duration(): bigint {
    const token = this.peek();
    if (token.kind !== 'duration') this.failExpected(['duration']);
    const duration = parseDuration(token.text);
    if (!duration.ok) this.failAt(duration.error, token, 'IQL_DURATION');
    this.next();
    return duration.nanos;
  }

  /** A duration inside an expression; errors are reported without their place in it. */
  expressionDuration(): bigint {
    const token = this.peek();
    const duration = parseDuration(token.text);
    if (!duration.ok) {
      const hint = 'units are ns, u, ms, s, m, h, d and w; numbers have no exponent';
      this.fail(duration.error, { start: token.start, end: token.end }, 'IQL_DURATION', hint);
    }
    this.next();
    return duration.nanos;
  }

  /** The text of a token that is an integer. */
  integer(): Token {
    if (this.peek().kind !== 'integer') this.failExpected(['integer']);
    return this.next();
  }

  /**
   * A regular expression if one begins here, with or without blanks before it. Only called where
   * the grammar allows one, since a slash is a division elsewhere.
   */
  regex(): Token | undefined {
    const token = this.peek();
    this.lookFurther();
    if (token.kind === 'regex') return this.#checked(this.next());
    if (token.fixed !== '/') return undefined;
    this.#current = this.#lexer.regexAt(token.start);
    if (this.#current.kind === 'bad-regex') {
      this.failAt('bad regex: ', this.#current, 'IQL_REGEX', 'close the regular expression with /');
    }
    return this.#checked(this.next());
  }

  /**
   * Call it when the character after the last token decides what follows. Messages then place the
   * end of the text one character further, as existing clients expect.
   */
  lookFurther(): void {
    const token = this.peek();
    if (token.kind === 'end') this.#current = { ...token, placeShift: 1 };
  }

  /** The span from `start` to the end of the last consumed token. */
  spanFrom(start: number): Span {
    return { start, end: Math.max(start, this.last().end) };
  }

  /** Runs `parse` one level deeper; ends the statement when the text nests too deeply. */
  nested<T>(parse: () => T): T {
    if (this.#depth >= this.#maxDepth) {
      const token = this.peek();
      const reason = `the query nests deeper than ${this.#maxDepth} levels at ${this.positionText(token)}`;
      const hint = 'split the query or remove parentheses';
      this.failLimit(MAX_DEPTH, { reason, span: { start: token.start, end: token.end }, hint });
    }
    this.#depth++;
    try {
      return parse();
    } finally {
      this.#depth--;
    }
  }

  isTimeZone(name: string): boolean {
    return (this.#options.checkTimeZone ?? isTimeZone)(name);
  }

  /** Moves to after the next `;` or to the end, to look for further findings after an error. */
  recover(): void {
    this.#depth = 0;
    while (this.peek().kind !== 'end') {
      if (this.next().fixed === ';') return;
    }
  }

  /** Stops with `found X, expected A, B at line L, char C`. */
  failExpected(expected: readonly string[], token: Token = this.peek()): never {
    const message = `found ${foundText(token)}, expected ${expected.join(', ')}`;
    this.failAt(message, token, 'IQL_SYNTAX', hintFor(token, expected));
  }

  /** Stops with a message followed by the token's place. */
  failAt(message: string, token: Token, code: string, hint?: string): never {
    throw new ParseFailure({
      code,
      message: `${message} at ${this.positionText(token)}`,
      span: { start: token.start, end: token.end },
      hint,
    });
  }

  /** Stops with a message that existing clients expect without a place. */
  fail(message: string, span: Span, code: string, hint?: string): never {
    throw new ParseFailure({ code, message, span, hint });
  }

  /** Stops with `max-… limit exceeded: …`, which names the setting to raise. */
  failLimit(
    limit: SettingLimit,
    fault: { readonly reason: string; readonly span: Span; readonly hint: string },
  ): never {
    throw new ParseFailure({
      code: 'IQL_LIMIT',
      message: `${nameOf(limit)} limit exceeded: ${fault.reason}`,
      span: fault.span,
      hint: `${fault.hint}, or raise ${limit.setting}`,
    });
  }

  /** `line L, char C` as messages give it for a token. */
  positionText(token: Token): string {
    const { line, column } = lineAndColumn(this.text, token.place);
    return `line ${line}, char ${column + token.placeShift}`;
  }

  /**
   * Blanks and comments directly after the last token as a token, `undefined` when there are none.
   */
  blankBehindLast(): Token | undefined {
    const token = this.peek();
    if (!token.hasBlankBefore) return undefined;
    const lexer = new Lexer(this.text);
    lexer.seek(this.last().end);
    return lexer.nextOfAny();
  }

  #checked(token: Token): Token {
    if (token.text.length > this.#maxRegexLength) {
      const reason = `a regular expression has more than ${this.#maxRegexLength} characters`;
      const hint = 'use several shorter ones';
      const span = { start: token.start, end: token.end };
      this.failLimit(MAX_REGEX_LENGTH, { reason, span, hint });
    }
    const error = (this.#options.checkRegex ?? checkRegexLightly)(token.text);
    if (error !== undefined) this.failAt(error, token, 'IQL_REGEX');
    return token;
  }

  #substitute(token: Token): Token {
    return token.kind === 'parameter' ? parameterToken(token, this.#options.parameters) : token;
  }
}

/** How messages show a token: its text, or the name of its kind when that is empty. */
function foundText(token: Token): string {
  if (token.kind === 'parameter') return `$${token.text}`;
  if (token.kind === 'blank') return token.text.replace(/\r\n?/g, '\n');
  return token.text === '' ? (KIND_NAMES[token.kind] ?? 'ILLEGAL') : token.text;
}

const KIND_NAMES: Readonly<Partial<Record<TokenKind, string>>> = {
  end: 'EOF',
  string: 'STRING',
  identifier: 'IDENT',
  'bad-string': 'BADSTRING',
  'bad-escape': 'BADESCAPE',
  'bad-regex': 'BADREGEX',
};
