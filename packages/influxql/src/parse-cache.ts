// The parse cache: a dashboard repeats the same statements with other times, another host or
// another page. For a text of a known shape only the literals of its parameters are read.
import { ByteLru } from '@tidemark/core';

import type { Expression, Literal, Query, SelectStatement, Statement } from './ast.ts';
import type { ExplainStatement, ShowClauses } from './ast.ts';
import { limitValue } from './clauses.ts';
import { limitOf, MAX_CACHED_CHARACTERS, MAX_CACHED_TEXT } from './limits.ts';
import { MAX_REGEX_LENGTH, MAX_TOKENS } from './limits.ts';
import { literalOf, negated } from './literal.ts';
import { parseQuery } from './parse.ts';
import type { ParseOptions, ParseResult } from './parse.ts';
import { checkRegexLightly } from './regex-check.ts';
import { shapeOf } from './shape.ts';
import type { Shape } from './shape.ts';
import type { Token } from './token.ts';
import { isLiteral, rewrite, rewriteSelect, selectsOf, walk } from './walk.ts';

export type CachedParseResult = ParseResult & {
  /**
   * Converts the start or end of a span in the tree to its place in the text: trees of a known
   * shape have the spans of the first text. Absent if they are those of this text.
   */
  readonly offsetInText?: ((offset: number) => number) | undefined;
};

/** The first text of a shape. */
type Entry = {
  readonly shape: Shape;
  readonly query: { readonly statements: readonly Cacheable[] };
  /** The literals of its conditions by the place of their parameter. */
  readonly literals: ReadonlyMap<number, Literal>;
  /** The parameters that are limits, in the order of the text. */
  readonly limits: readonly number[];
};

/** Parses texts, and caches the trees of those that may come again. */
export class ParseCache {
  readonly #options: ParseOptions;
  readonly #maxTokens: number;
  /** Keyed by shape. */
  readonly #entries = new ByteLru<string, Entry>(MAX_CACHED_CHARACTERS.value);

  constructor(options: Omit<ParseOptions, 'parameters'>) {
    this.#options = options;
    this.#maxTokens = limitOf(options.limits?.maxTokens, MAX_TOKENS);
  }

  /**
   * The same as `parseQuery`, except for spans. Parts of trees are shared by all texts of a shape.
   */
  parse(text: string, { parameters }: Pick<ParseOptions, 'parameters'> = {}): CachedParseResult {
    const isShort = text.length <= MAX_CACHED_TEXT.value;
    const shape = isShort ? shapeOf(text, this.#maxTokens, parameters) : undefined;
    const entry = shape && this.#entries.get(shape.key);
    const query = shape && entry && this.#bind(entry, shape);
    if (shape === undefined || entry === undefined || query === undefined) {
      return this.#parseNew(text, shape, parameters);
    }
    return {
      query,
      diagnostics: [],
      offsetInText: (offset) => correspondingOffset(entry.shape, shape, offset),
    };
  }

  #parseNew(
    text: string,
    shape: Shape | undefined,
    parameters: ParseOptions['parameters'],
  ): ParseResult {
    const result = parseQuery(text, { ...this.#options, parameters });
    const { error, query } = result;
    const cacheable = query.statements.filter(isCacheable);
    if (shape === undefined || error !== undefined || cacheable.length < query.statements.length) {
      return result;
    }
    const statements = cacheable.map(withShape);
    const entry = { shape, query: { statements }, ...parametersOf(statements, shape) };
    this.#entries.set(shape.key, entry, text.length);
    return { ...result, query: entry.query };
  }

  /**
   * The query of a text; `undefined` when it differs from its shape in more than literals and
   * limits.
   */
  #bind({ shape: first, query, literals, limits }: Entry, shape: Shape): Query | undefined {
    if (first.parameters.length === 0) return query;
    const bound = new Map<Expression, Literal>();
    const isLimit = new Set(limits);
    for (const [i, { token }] of shape.parameters.entries()) {
      const before = literals.get(i);
      if (before !== undefined) {
        const literal = boundLiteral(token, before, isNegative(first, i, before));
        if (literal === undefined || !this.#takes(literal)) return undefined;
        bound.set(before, literal);
      } else if (!isLimit.has(i) && token.text !== first.parameters[i]?.token.text) {
        return undefined;
      }
    }
    const counts = limits.map((i) => limitValue(shape.parameters[i]!.token));
    if (counts.some((count) => count < 0n)) return undefined;
    return { statements: query.statements.map((one) => bindStatement(one, bound, counts)) };
  }

  /** Whether the parser accepts a literal. */
  #takes(literal: Literal): boolean {
    if (literal.kind !== 'regex') return true;
    const { limits, checkRegex = checkRegexLightly } = this.#options;
    const { pattern } = literal;
    const isShort = pattern.length <= limitOf(limits?.maxRegexLength, MAX_REGEX_LENGTH);
    return isShort && checkRegex(pattern) === undefined;
  }
}

type Cacheable = SelectStatement | ExplainStatement | Extract<Statement, ShowClauses>;

/** Whether a statement reads data or names: others contain passwords and are not cached. */
function isCacheable(statement: Statement): statement is Cacheable {
  switch (statement.kind) {
    case 'select':
    case 'explain':
    case 'show-measurements':
    case 'show-field-keys':
    case 'show-series':
    case 'show-tag-keys':
    case 'show-tag-values':
    case 'show-cardinality':
      return true;
    default:
      return false;
  }
}

function withShape(statement: Cacheable): Cacheable {
  switch (statement.kind) {
    case 'select':
      return { ...statement, shape: {} };
    case 'explain':
      return { ...statement, statement: { ...statement.statement, shape: {} } };
    default:
      return statement;
  }
}

/** A node with conditions and limits. */
type Bindable = ShowClauses | SelectStatement;

/** Statements with conditions and limits in the order of the text, subqueries first. */
function bindables(statement: Cacheable): readonly Bindable[] {
  switch (statement.kind) {
    case 'explain':
      return selectsOf(statement.statement);
    case 'select':
      return selectsOf(statement);
    default:
      return [statement];
  }
}

const LIMIT_CLAUSES = ['limit', 'offset', 'seriesLimit', 'seriesOffset'] as const;

/** Finds the literals and limits of the statements that are the parameters of their text. */
function parametersOf(
  statements: readonly Cacheable[],
  shape: Shape,
): Pick<Entry, 'literals' | 'limits'> {
  const byEnd = new Map(shape.parameters.map(({ token }, i) => [token.end, i]));
  const literals = new Map<number, Literal>();
  let limitCount = 0;
  for (const bindable of statements.flatMap(bindables)) {
    limitCount += LIMIT_CLAUSES.filter((clause) => bindable[clause] !== undefined).length;
    if (bindable.condition === undefined) continue;
    walk(bindable.condition, (node) => {
      const i = byEnd.get(node.span.end);
      if (i === undefined || !isLiteral(node)) return;
      const { token } = shape.parameters[i]!;
      const literal = boundLiteral(token, node, isNegative(shape, i, node));
      if (literal !== undefined && valueOf(literal) === valueOf(node)) literals.set(i, node);
    });
  }
  const limits = [...shape.parameters.keys()].filter((i) => shape.parameters[i]!.isLimit);
  return { literals, limits: limits.length === limitCount ? limits : [] };
}

/** The literal that a token stands for; `undefined` when it has another kind than before. */
function boundLiteral(token: Token, before: Literal, isNegative: boolean): Literal | undefined {
  const read = literalOf(token, before.span);
  const literal = read !== undefined && isNegative ? negated(read) : read;
  return literal?.kind === before.kind ? literal : undefined;
}

/** Whether a literal of the first text includes a minus. */
function isNegative({ parameters }: Shape, i: number, { span }: Literal): boolean {
  const { token, isBehindMinus } = parameters[i]!;
  return isBehindMinus && span.start < token.start;
}

function valueOf(literal: Literal): unknown {
  switch (literal.kind) {
    case 'regex':
      return literal.pattern;
    case 'duration':
      return literal.nanos;
    default:
      return literal.value;
  }
}

/** The statement with these literals in its conditions, and the next limits. */
function bindStatement(
  statement: Cacheable,
  literals: ReadonlyMap<Expression, Literal>,
  limits: bigint[],
): Cacheable {
  const bound = <B extends Bindable>(one: B): B => {
    const clauses = LIMIT_CLAUSES.filter((clause) => one[clause] !== undefined);
    return {
      ...one,
      condition: one.condition && rewrite(one.condition, (node) => literals.get(node) ?? node),
      ...(limits.length > 0 && Object.fromEntries(clauses.map((name) => [name, limits.shift()]))),
    };
  };
  switch (statement.kind) {
    case 'explain':
      return { ...statement, statement: rewriteSelect(statement.statement, { select: bound }) };
    case 'select':
      return rewriteSelect(statement, { select: bound });
    default:
      return bound(statement);
  }
}

/**
 * The place in another text of the same shape that corresponds to a start or end of a token in the
 * first one: as far before the next offset of the shape.
 */
function correspondingOffset(
  { offsets: first }: Shape,
  { offsets }: Shape,
  offset: number,
): number {
  let low = 0;
  let high = first.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (first[middle]! < offset) low = middle + 1;
    else high = middle;
  }
  return (offsets[low] ?? 0) + offset - (first[low] ?? 0);
}
