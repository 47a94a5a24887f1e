// Tokens for editors: the whole text, whitespace and comments included, without a grammar. A slash
// counts as the start of a regular expression where the grammar could allow one.
import { Lexer } from './lexer.ts';
import type { Token } from './token.ts';

/** Tokens after which a slash begins a regular expression. */
const BEFORE_REGEX: ReadonlySet<string> = new Set([
  '=~',
  '!~',
  '(',
  ',',
  '.',
  'FROM',
  'BY',
  'SELECT',
]);

/** Whether a slash after this token begins a regular expression, and is no division. */
export function beginsRegex(before: Token): boolean {
  return BEFORE_REGEX.has(before.fixed);
}

/** The class in which a token is displayed. */
export type TokenClass =
  | 'keyword'
  | 'identifier'
  | 'function'
  | 'string'
  | 'number'
  | 'regex'
  | 'operator'
  | 'punctuation'
  | 'parameter'
  | 'comment'
  | 'blank'
  | 'error';

export type EditorToken = {
  readonly class: TokenClass;
  readonly start: number;
  readonly end: number;
};

/**
 * Splits a text into consecutive tokens that cover all of it. Total: invalid text has the class
 * `error`.
 */
export function tokenize(text: string): readonly EditorToken[] {
  const lexer = new Lexer(text);
  const tokens: EditorToken[] = [];
  let before: Token | undefined;
  for (;;) {
    let token = lexer.nextOfAny();
    if (token.kind === 'end') return tokens;
    if (token.fixed === '/' && before !== undefined && beginsRegex(before)) {
      token = lexer.regexAt(token.start);
    }
    const isCall = token.kind === 'identifier' && text.charAt(token.end) === '(';
    tokens.push({
      class: isCall ? 'function' : classOf(token),
      start: tokens.at(-1)?.end ?? 0,
      end: token.end,
    });
    if (token.kind !== 'blank' && token.kind !== 'comment') before = token;
  }
}

function classOf(token: Token): TokenClass {
  switch (token.kind) {
    case 'word':
      return 'keyword';
    case 'integer':
    case 'number':
    case 'duration':
      return 'number';
    case 'symbol':
      return '(),;.'.includes(token.fixed) ? 'punctuation' : 'operator';
    case 'identifier':
    case 'string':
    case 'regex':
    case 'parameter':
    case 'comment':
    case 'blank':
      return token.kind;
    default:
      return 'error';
  }
}
