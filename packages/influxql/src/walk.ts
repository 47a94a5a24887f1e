// Traversals of expressions: the nodes below a node, and a tree with some nodes replaced.
import type { Expression } from './ast.ts';

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

/** Whether the test holds for the expression or anything below it. */
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
