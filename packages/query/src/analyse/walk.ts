// Small look-ups in expressions, shared by several steps of the analysis.
import type { Expression } from '@tidemark/influxql';

export const ARITHMETIC: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%', '&', '|', '^']);

/** The expression without surrounding parentheses. */
export function unwrap(expression: Expression): Expression {
  let inner = expression;
  while (inner.kind === 'paren') inner = inner.expression;
  return inner;
}

export function isLiteral(expression: Expression): boolean {
  switch (expression.kind) {
    case 'number':
    case 'integer':
    case 'unsigned':
    case 'string':
    case 'boolean':
    case 'duration':
    case 'regex':
      return true;
    default:
      return false;
  }
}

/** Children in the order of the text. */
export function children(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'binary':
      return [expression.left, expression.right];
    case 'paren':
      return [expression.expression];
    case 'call':
      return expression.arguments;
    default:
      return [];
  }
}

/** Calls `visit` on the expression and everything below it, parents first. */
export function walk(expression: Expression, visit: (node: Expression) => void): void {
  visit(expression);
  for (const child of children(expression)) walk(child, visit);
}

export function some(expression: Expression, test: (node: Expression) => boolean): boolean {
  return test(expression) || children(expression).some((child) => some(child, test));
}

/** Rebuilds an expression bottom up; untouched nodes stay identical. */
export function rewrite(
  expression: Expression,
  change: (node: Expression) => Expression,
): Expression {
  switch (expression.kind) {
    case 'binary': {
      const left = rewrite(expression.left, change);
      const right = rewrite(expression.right, change);
      const same = left === expression.left && right === expression.right;
      return change(same ? expression : { ...expression, left, right });
    }
    case 'paren': {
      const inner = rewrite(expression.expression, change);
      return change(
        inner === expression.expression ? expression : { ...expression, expression: inner },
      );
    }
    case 'call': {
      const given = expression.arguments;
      const changed = given.map((argument) => rewrite(argument, change));
      const same = changed.every((argument, i) => argument === given[i]);
      return change(same ? expression : { ...expression, arguments: changed });
    }
    default:
      return change(expression);
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
