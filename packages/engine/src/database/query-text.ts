// The text of a query node's query for one time range.
import { floorMod, formatRfc3339, InvalidRequest } from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';
import { measurementSources, parseQuery, printStatement } from '@tidemark/influxql';
import type { Expression, Fill, SelectStatement } from '@tidemark/influxql';
import type { AskedQuery, QueryDimension } from '@tidemark/pipeline';
import { UNKNOWN_DATABASE } from '../access/data-access.ts';

const NOWHERE = { start: 0, end: 0 };

/**
 * Builds the queries of one query node. The node's options were checked when the task was defined.
 */
export class QueryText {
  readonly #select: SelectStatement;
  readonly #options: AskedQuery;

  constructor(options: AskedQuery) {
    this.#select = parseSelect(options.text);
    this.#options = options;
  }

  /** The query for `[start, stop)`. */
  forRange(start: Timestamp, stop: Timestamp): string {
    const select = this.#select;
    const fill = this.#fill();
    const statement: SelectStatement = {
      ...select,
      condition: withRange(select.condition, start, stop),
      dimensions: this.#options.dimensions.map((dimension) => this.#dimension(dimension, start)),
      ...(fill === undefined ? {} : { fill }),
    };
    return printStatement(statement);
  }

  #dimension(dimension: QueryDimension, start: Timestamp): Expression {
    switch (dimension.kind) {
      case 'tag':
        return { kind: 'reference', name: dimension.name, span: NOWHERE };
      case 'all':
        return { kind: 'wildcard', span: NOWHERE };
      case 'time': {
        const offset = this.#options.isGroupAligned
          ? floorMod(start, dimension.lengthNanos)
          : dimension.offsetNanos;
        return {
          kind: 'call',
          name: 'time',
          arguments: [
            { kind: 'duration', nanos: dimension.lengthNanos, span: NOWHERE },
            { kind: 'duration', nanos: offset, span: NOWHERE },
          ],
          span: NOWHERE,
        };
      }
      case 'invalid':
        throw new InvalidRequest(`invalid dimension type: ${dimension.typeName}`);
    }
  }

  #fill(): Fill | undefined {
    const { fill } = this.#options;
    if (fill === undefined) return undefined;
    if (fill.kind === 'invalid') throw new InvalidRequest(`unexpected fill option: ${fill.text}`);
    return fill;
  }
}

function parseSelect(text: string): SelectStatement {
  const { query, error } = parseQuery(text);
  const [statement] = query.statements;
  if (error !== undefined) throw new InvalidRequest(`failed to parse InfluxQL query: ${error}`);
  if (statement?.kind !== 'select') {
    throw new InvalidRequest(`query is not a select statement ${JSON.stringify(text)}`);
  }
  return statement;
}

function withRange(
  condition: Expression | undefined,
  start: Timestamp,
  stop: Timestamp,
): Expression {
  const from = timeCondition('>=', start);
  const until = timeCondition('<', stop);
  if (condition === undefined) return and(from, until);
  // Without parentheses the range would only apply to the last operand of an OR.
  const isOr = condition.kind === 'binary' && condition.operator === 'OR';
  const wrapped: Expression = isOr
    ? { kind: 'paren', expression: condition, span: NOWHERE }
    : condition;
  return and(and(wrapped, from), until);
}

function timeCondition(operator: '>=' | '<', time: Timestamp): Expression {
  return {
    kind: 'binary',
    operator,
    left: { kind: 'reference', name: 'time', span: NOWHERE },
    right: { kind: 'string', value: formatRfc3339(time), span: NOWHERE },
    span: NOWHERE,
  };
}

function and(left: Expression, right: Expression): Expression {
  return { kind: 'binary', operator: 'AND', left, right, span: NOWHERE };
}

/** Database and retention policy of the one source of a query, for recordings of a query. */
export function sourceOf(text: string): {
  readonly database: string;
  readonly retentionPolicy: string;
} {
  const { query, error } = parseQuery(text);
  if (error !== undefined) throw new InvalidRequest(error);
  const [statement] = query.statements;
  const source = statement?.kind === 'select' ? statement.sources[0] : undefined;
  if (
    source?.kind !== 'measurement' ||
    source.database === undefined ||
    source.retentionPolicy === undefined ||
    source.database === '' ||
    source.retentionPolicy === ''
  ) {
    throw new InvalidRequest(
      'could not determine database and retention policy. Is the query fully qualified?',
    );
  }
  return { database: source.database, retentionPolicy: source.retentionPolicy };
}

/**
 * Databases that a query names. A text that is no SELECT has no known database, and fails when it
 * runs.
 */
export function databasesOfQuery(text: string): readonly string[] {
  const { query } = parseQuery(text);
  const [statement] = query.statements;
  if (statement?.kind !== 'select') return [UNKNOWN_DATABASE];
  return [...new Set(measurementSources(statement).flatMap(({ database }) => database ?? []))];
}
