// Entry point of the package: text in, tree and diagnostics out. Total and bounded: no text makes
// it throw.
import type { Diagnostic } from '@tidemark/core';

import type { Expression, Query, Statement, Unplaced } from './ast.ts';
import { Cursor, ParseFailure } from './cursor.ts';
import {
  alterStatement,
  createStatement,
  deleteStatement,
  dropStatement,
  killStatement,
} from './definitions.ts';
import { parseExpressionAt } from './expression.ts';
import { MAX_DIAGNOSTICS } from './limits.ts';
import type { ParseLimits } from './limits.ts';
import { explainStatement, selectStatement } from './select.ts';
import { showStatement } from './show.ts';
import { grantStatement, revokeStatement, setPasswordStatement } from './users.ts';

/**
 * Values of `$name` placeholders, as read from the `params` JSON object (integers as bigint, others
 * as number).
 */
export type BindParameter =
  | number
  | bigint
  | boolean
  | string
  | null
  | readonly unknown[]
  | { readonly [kind: string]: unknown };

export type ParseOptions = {
  readonly parameters?: ReadonlyMap<string, BindParameter> | undefined;
  readonly limits?: ParseLimits | undefined;
  /**
   * Returns the error of RE2 text (``error parsing regexp: missing closing ]: `[` ``); default: a
   * light check.
   */
  readonly checkRegex?: ((pattern: string) => string | undefined) | undefined;
  /** Whether tz() accepts a name; default: the platform's names. */
  readonly checkTimeZone?: ((name: string) => boolean) | undefined;
};

/**
 * `error` is the first problem with the text, in the words that existing clients expect (`found
 * FOO, expected … at line 1, char 8`), without the prefix `error parsing query: `; when it is set,
 * no statement may be run. `diagnostics` has the same and further findings with spans and hints.
 */
export type ParseResult = {
  readonly query: Query;
  readonly error?: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
};

/** `expression` is missing exactly when `error` is set. */
export type ParseExpressionResult = {
  readonly expression?: Expression | undefined;
  readonly error?: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
};

type StatementParser = (cursor: Cursor, start: number) => Unplaced<Statement>;
const STATEMENTS: ReadonlyMap<string, StatementParser> = new Map<string, StatementParser>([
  ['SELECT', (cursor) => selectStatement(cursor)],
  ['DELETE', deleteStatement],
  ['SHOW', showStatement],
  ['CREATE', createStatement],
  ['DROP', dropStatement],
  ['EXPLAIN', explainStatement],
  ['GRANT', grantStatement],
  ['REVOKE', revokeStatement],
  ['ALTER', alterStatement],
  ['SET', setPasswordStatement],
  ['KILL', killStatement],
]);

/**
 * Parses a query text: statements separated by `;`, empty ones left out. After an error it
 * continues after the next `;`, so that one call reports the findings of several statements.
 */
export function parseQuery(text: string, options: ParseOptions = {}): ParseResult {
  const cursor = new Cursor(text, options);
  const statements: Statement[] = [];
  const diagnostics: Diagnostic[] = [];
  while (diagnostics.length < MAX_DIAGNOSTICS.value) {
    const { value: statement, diagnostic } = attempt(() => nextStatement(cursor));
    if (diagnostic !== undefined) {
      diagnostics.push(diagnostic);
      const beyond = attempt(() => cursor.recover()).diagnostic;
      if (beyond !== undefined) diagnostics.push(beyond);
    } else if (statement === undefined) {
      break;
    } else {
      statements.push(statement);
    }
  }
  return { query: { statements }, error: diagnostics[0]?.message, diagnostics };
}

/**
 * Parses a text that is one expression, such as the condition of a subscription or an editor's
 * selection.
 */
export function parseExpression(text: string, options: ParseOptions = {}): ParseExpressionResult {
  const cursor = new Cursor(text, options);
  const { value: expression, diagnostic } = attempt(() => {
    const parsed = parseExpressionAt(cursor);
    if (cursor.peek().kind !== 'end') cursor.failExpected(['EOF']);
    return parsed;
  });
  if (diagnostic === undefined) return { expression, diagnostics: [] };
  return { error: diagnostic.message, diagnostics: [diagnostic] };
}

/** The statement after any number of `;`, and the end of it; `undefined` at the end of the text. */
function nextStatement(cursor: Cursor): Statement | undefined {
  while (cursor.skip(';'));
  if (cursor.peek().kind === 'end') return undefined;
  const statement = parseStatement(cursor);
  if (cursor.peek().kind !== 'end' && !cursor.at(';')) cursor.failExpected([';']);
  return statement;
}

function parseStatement(cursor: Cursor): Statement {
  const { fixed, start } = cursor.peek();
  const parse = STATEMENTS.get(fixed) ?? cursor.failExpected([...STATEMENTS.keys()]);
  return { ...parse(cursor, start), span: cursor.spanFrom(start) };
}

type Attempt<T> = { readonly value?: T; readonly diagnostic?: Diagnostic };

/** Runs a part of the parser; returns its result, or the failure that stopped it. */
function attempt<T>(parse: () => T): Attempt<T> {
  try {
    return { value: parse() };
  } catch (error) {
    if (error instanceof ParseFailure) return { diagnostic: error.diagnostic };
    throw error;
  }
}
