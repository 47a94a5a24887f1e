// Texts that were parsed before: a dashboard asks the same again and again, with other times. The
// form of a text is the text without the digits of its times; of a form that is known, only the
// times are read.
import { ByteLru, MAX_INT64 } from '@tidemark/core';

import type { Expression, Query, SelectStatement, Statement } from './ast.ts';
import { parseDuration } from './duration.ts';
import { MAX_KNOWN_CHARACTERS, MAX_KNOWN_TEXT } from './limits.ts';
import { parseQuery } from './parse.ts';
import type { ParseOptions, ParseResult } from './parse.ts';

/** Stands for a digit in a form. */
const DIGIT = '\0';

/**
 * What may be a time, or holds digits that are none. As long as its form: spans are right for all
 * texts of it.
 */
const TIMES_AND_QUOTED =
  /('\d{4}-\d\d-\d\d[\dTZ:. -]*'|\b[1-9]\d{9,18}(?:ns|u|ms|s)?\b)|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g;

type Known = {
  readonly query: Query;
  /** Where the text has a time. */
  readonly times: ReadonlySet<number>;
};

/** Parses texts, and keeps the trees of those that may come again. */
export class KnownTexts {
  readonly #options: ParseOptions;
  /** By form, which is also what an entry weighs. */
  readonly #known = new ByteLru<string, Known>(MAX_KNOWN_CHARACTERS.value);

  constructor(options: Omit<ParseOptions, 'parameters'>) {
    this.#options = options;
  }

  /** The same as `parseQuery`. Trees are shared by all who send the same text. */
  parse(text: string, parameters: NonNullable<ParseOptions['parameters']>): ParseResult {
    const options = { ...this.#options, parameters };
    const isKeepable =
      parameters.size === 0 && text.length <= MAX_KNOWN_TEXT.value && !text.includes(DIGIT);
    if (!isKeepable) return parseQuery(text, options);
    const form = formOf(text);
    const known = this.#known.get(form);
    if (known === undefined) return this.#parseNew(text, form);
    const query = withTimes(known, text);
    return query === undefined ? parseQuery(text, options) : { query, diagnostics: [] };
  }

  #parseNew(text: string, form: string): ParseResult {
    const result = parseQuery(text, this.#options);
    const { error, query } = result;
    const isReadOnly = query.statements.every(({ kind }) => kind === 'select');
    if (error !== undefined || !isReadOnly) return result;
    const times = timesOf(form, text, query);
    if (times === undefined) return result;
    const known = { times, query: { statements: query.statements.map(withForm) } };
    this.#known.set(form, known, form.length);
    return { ...result, query: known.query };
  }
}

function formOf(text: string): string {
  return text.replace(TIMES_AND_QUOTED, (found: string, time: string | undefined) =>
    time === undefined ? found : found.replace(/\d/g, DIGIT),
  );
}

function withForm(statement: Statement): Statement {
  return statement.kind === 'select' ? { ...statement, form: {} } : statement;
}

/**
 * The offsets of the times in a text; `undefined` when something that looks like one is not
 * compared with `time` in the condition of an outermost SELECT.
 */
function timesOf(form: string, text: string, { statements }: Query): Set<number> | undefined {
  const times = new Set<number>();
  const visit = (node: Expression): Expression => {
    const { start, end } = node.span;
    if (form.slice(start, end).includes(DIGIT) && timeLiteral(node, text) !== undefined) {
      times.add(start);
    }
    return node;
  };
  for (const statement of statements) {
    if (statement.kind === 'select' && statement.condition !== undefined) {
      rewriteTimes(statement.condition, visit);
    }
  }
  let count = 0;
  for (const [, time] of text.matchAll(TIMES_AND_QUOTED)) if (time !== undefined) count++;
  return count === times.size ? times : undefined;
}

/** The query with the times of a text of its form; `undefined` when one of them is none. */
function withTimes({ query, times }: Known, text: string): Query | undefined {
  if (times.size === 0) return query;
  let isWhole = true;
  const change = (node: Expression): Expression => {
    if (!times.has(node.span.start)) return node;
    const literal = timeLiteral(node, text);
    if (literal === undefined) isWhole = false;
    return literal ?? node;
  };
  const statements = query.statements.map((statement) => {
    const { condition } = statement as SelectStatement;
    if (condition === undefined) return statement;
    return { ...statement, condition: rewriteTimes(condition, change) } as SelectStatement;
  });
  return isWhole ? { statements } : undefined;
}

/** A literal with the value that a text has in its place. */
function timeLiteral(node: Expression, text: string): Expression | undefined {
  const { start, end } = node.span;
  switch (node.kind) {
    case 'string': {
      const value = text.slice(start + 1, end - 1);
      return value.includes('\\') ? undefined : { ...node, value };
    }
    case 'integer': {
      const value = BigInt(text.slice(start, end));
      return value <= MAX_INT64 ? { ...node, value } : undefined;
    }
    case 'duration': {
      const parsed = parseDuration(text.slice(start, end));
      return parsed.ok ? { ...node, nanos: parsed.nanos } : undefined;
    }
    default:
      return undefined;
  }
}

/** The condition with other literals on the sides of comparisons whose other side is `time`. */
function rewriteTimes(node: Expression, change: (literal: Expression) => Expression): Expression {
  switch (node.kind) {
    case 'paren': {
      const expression = rewriteTimes(node.expression, change);
      return expression === node.expression ? node : { ...node, expression };
    }
    case 'binary': {
      const isJunction = node.operator === 'AND' || node.operator === 'OR';
      const sides = isJunction ? rewriteTimes : rewriteLiterals;
      const left = isJunction || isTime(node.right) ? sides(node.left, change) : node.left;
      const right = isJunction || isTime(node.left) ? sides(node.right, change) : node.right;
      return left === node.left && right === node.right ? node : { ...node, left, right };
    }
    default:
      return node;
  }
}

/** Sums and differences of literals. */
function rewriteLiterals(
  node: Expression,
  change: (literal: Expression) => Expression,
): Expression {
  switch (node.kind) {
    case 'paren': {
      const expression = rewriteLiterals(node.expression, change);
      return expression === node.expression ? node : { ...node, expression };
    }
    case 'binary': {
      const left = rewriteLiterals(node.left, change);
      const right = rewriteLiterals(node.right, change);
      return left === node.left && right === node.right ? node : { ...node, left, right };
    }
    default:
      return change(node);
  }
}

function isTime(node: Expression): boolean {
  return node.kind === 'reference' && node.name.toLowerCase() === 'time';
}
