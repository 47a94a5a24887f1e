// Tokens of the script language. A token carries the comment that precedes it.
import type { Comment } from './ast.ts';

export type TokenKind =
  | 'identifier'
  | 'reference'
  | 'duration'
  | 'lambda'
  | 'number'
  | 'string'
  | 'regex'
  | 'var'
  | 'dbrp'
  | 'TRUE'
  | 'FALSE'
  | 'AND'
  | 'OR'
  | '('
  | ')'
  | '['
  | ']'
  | ','
  | '.'
  | '|'
  | '@'
  | '='
  | '*'
  | '+'
  | '-'
  | '/'
  | '%'
  | '=='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | '=~'
  | '!~'
  | '!'
  | 'error'
  | 'EOF';

export type Token = {
  readonly kind: TokenKind;
  /** Half-open range in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  /** Source text of the token; for `error` the message. */
  readonly text: string;
  /** Comments between the previous token and this one. */
  readonly comment?: Comment | undefined;
};
