// Tokens of the query language. The keywords decide which names need double quotes.

/**
 * `word` is a keyword, `symbol` an operator or a bracket. `bad-string`, `bad-escape`, `bad-regex`
 * and `illegal` stand for text that is no token, `bad-parameter` for a value that cannot be bound
 * (its text says why); only the parser reports errors for them.
 */
export type TokenKind =
  | 'identifier'
  | 'word'
  | 'symbol'
  | 'string'
  | 'integer'
  | 'number'
  | 'duration'
  | 'regex'
  | 'parameter'
  | 'bad-parameter'
  | 'blank'
  | 'comment'
  | 'end'
  | 'illegal'
  | 'bad-string'
  | 'bad-escape'
  | 'bad-regex';

export type Token = {
  readonly kind: TokenKind;
  /**
   * Identifiers, strings, regular expressions: the content, unescaped. Words and symbols: canonical
   * spelling.
   */
  readonly text: string;
  /**
   * Canonical spelling of words and symbols, '' for everything else: one comparison identifies a
   * token.
   */
  readonly fixed: string;
  /** Place in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** Blanks or comments lie between this token and the one before it. */
  readonly hasBlankBefore: boolean;
  /**
   * Offset whose line and column error messages give for this token. Not always `start`: see
   * lexer.ts.
   */
  readonly place: number;
  /** Added to the column of `place`. */
  readonly placeShift: 0 | 1;
};

/** Words that are never bare identifiers, in any case. */
export const KEYWORDS: ReadonlySet<string> = new Set(
  (
    'ALL ALTER ANALYZE AND ANY AS ASC BEGIN BY CARDINALITY CONTINUOUS CREATE DATABASE DATABASES DEFAULT DELETE ' +
    'DESC DESTINATIONS DIAGNOSTICS DISTINCT DROP DURATION END EVERY EXACT EXPLAIN FALSE FIELD FOR FROM GRANT ' +
    'GRANTS GROUP GROUPS IN INF INSERT INTO KEY KEYS KILL LIMIT MEASUREMENT MEASUREMENTS NAME OFFSET ON OR ORDER ' +
    'PASSWORD POLICIES POLICY PRIVILEGES QUERIES QUERY READ REPLICATION RESAMPLE RETENTION REVOKE SELECT SERIES ' +
    'SET SHARD SHARDS SHOW SLIMIT SOFFSET STATS SUBSCRIPTION SUBSCRIPTIONS TAG TO TRUE USER USERS VALUES WHERE ' +
    'WITH WRITE'
  ).split(' '),
);

/** Keywords by length, those of one length by their first letter. */
const FIRST_LETTERS: readonly string[] = [...KEYWORDS].reduce<string[]>(
  (letters, { length, 0: first }) => {
    letters[length] = `${letters[length] ?? ''}${first}${first!.toLowerCase()}`;
    return letters;
  },
  [],
);

/** The canonical spelling of a keyword, `undefined` when `text` is an ordinary identifier. */
export function keywordOf(text: string): string | undefined {
  // Most names are recognised without creating another text.
  if (FIRST_LETTERS[text.length]?.includes(text.charAt(0)) !== true) return undefined;
  const upper = text.toUpperCase();
  return KEYWORDS.has(upper) ? upper : undefined;
}

const BARE_IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Whether a name can be written without quotes. */
export function isBareIdentifier(name: string): boolean {
  return BARE_IDENTIFIER.test(name) && keywordOf(name) === undefined;
}
