// Expressions as they appear in recorded error texts.
import { formatDuration } from '@tidemark/core';
import { quoteIdentifier, quoteString } from '@tidemark/influxql';
import type { Expression } from '@tidemark/influxql';

const BARE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Prints an expression, with the types of references if `typeOf` returns them. */
export function print(
  expression: Expression,
  typeOf?: (name: string) => string | undefined,
): string {
  switch (expression.kind) {
    case 'reference': {
      const name = BARE.test(expression.name) ? expression.name : quoteIdentifier(expression.name);
      const type = expression.cast ?? typeOf?.(expression.name);
      return type === undefined ? name : `${name}::${type}`;
    }
    case 'call':
      return `${expression.name}(${expression.arguments.map((a) => print(a, typeOf)).join(', ')})`;
    case 'binary': {
      const left = print(expression.left, typeOf);
      return `${left} ${expression.operator} ${print(expression.right, typeOf)}`;
    }
    case 'paren':
      return `(${print(expression.expression, typeOf)})`;
    case 'distinct':
      return `DISTINCT ${expression.name}`;
    case 'wildcard':
      return expression.only === undefined ? '*' : `*::${expression.only}`;
    case 'regex':
      return `/${expression.pattern.replaceAll('/', '\\/')}/`;
    case 'number':
      return expression.value.toFixed(3);
    case 'integer':
    case 'unsigned':
    case 'boolean':
      return String(expression.value);
    case 'string':
      return quoteString(expression.value);
    case 'duration':
      return formatDuration(expression.nanos);
  }
}

const GO_TYPE_NAMES: Readonly<Record<Expression['kind'], string>> = {
  reference: 'VarRef',
  call: 'Call',
  binary: 'BinaryExpr',
  paren: 'ParenExpr',
  distinct: 'Distinct',
  wildcard: 'Wildcard',
  regex: 'RegexLiteral',
  number: 'NumberLiteral',
  integer: 'IntegerLiteral',
  unsigned: 'UnsignedLiteral',
  string: 'StringLiteral',
  boolean: 'BooleanLiteral',
  duration: 'DurationLiteral',
};

/** Name of the kind of expression in recorded error texts: `*influxql.StringLiteral`. */
export function recordedTypeName(expression: Expression): string {
  return `*influxql.${GO_TYPE_NAMES[expression.kind]}`;
}
