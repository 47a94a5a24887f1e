// Static checks of a SELECT: everything that is wrong with it whatever the data (§5, §8.2).
import type { Call, Expression, SelectStatement } from '@tidemark/influxql';

import { invalid } from '../compat-messages.ts';
import { FUNCTIONS } from '../functions/registry.ts';
import type { CallContext } from './check-call.ts';
import { checkArity, checkCall } from './check-call.ts';
import type { Interval } from './dimensions.ts';
import { foldExpression } from './fold.ts';
import { isLiteral, isTime, some } from './walk.ts';

const NO_VARIABLE = 'field must contain at least one variable';

/** What the SELECT list consists of. */
export type SelectShape = {
  readonly calls: readonly Call[];
  readonly hasPlainFields: boolean;
};

/** Checks the SELECT list and its combination with GROUP BY, fill and LIMIT. */
export function checkSelect(
  statement: SelectStatement,
  interval: Interval | undefined,
  inheritsInterval: boolean,
): SelectShape {
  const context: CallContext = {
    hasOwnInterval: interval !== undefined,
    hasInterval: interval !== undefined || inheritsInterval,
    limit: statement.limit ?? 0n,
  };
  const calls: Call[] = [];
  let hasPlainFields = false;
  let count = 0;
  const check = (expression: Expression): void => {
    switch (expression.kind) {
      case 'reference':
      case 'wildcard':
      case 'regex':
        hasPlainFields = true;
        return;
      case 'paren':
        return check(expression.expression);
      case 'distinct':
        calls.push(distinctCall(expression));
        return;
      case 'call':
        return checkCallExpression(expression);
      case 'binary':
        return checkBinary(expression.left, expression.right);
      default:
        throw invalid(NO_VARIABLE);
    }
  };
  const checkBinary = (left: Expression, right: Expression): void => {
    for (const side of [left, right]) {
      if (side.kind === 'wildcard' || side.kind === 'regex') {
        throw invalid('unable to use wildcard in a binary expression');
      }
    }
    if (isLiteral(left) && isLiteral(right)) {
      throw invalid('cannot perform a binary expression on two literals');
    }
    if (!isLiteral(left)) check(left);
    if (!isLiteral(right)) check(right);
  };
  const checkCallExpression = (call: Call): void => {
    const spec = FUNCTIONS.get(call.name);
    if (spec?.kind !== 'math') {
      checkCall(call, context);
      calls.push(call);
      return;
    }
    checkArity(spec, call.arguments.length);
    const variable = call.arguments.filter((argument) => !isLiteral(argument));
    for (const argument of variable) check(argument);
  };
  for (const field of statement.fields) {
    if (isTime(field.expression)) continue;
    const folded = foldExpression(field.expression);
    checkHasVariable(folded);
    check(folded);
    count++;
  }
  if (count === 0) throw invalid('at least 1 non-time field must be queried');
  checkCombination(statement, { calls, hasPlainFields }, interval);
  return { calls, hasPlainFields };
}

function checkHasVariable(expression: Expression): void {
  const hasVariable = some(expression, (node) => {
    if (node.kind === 'call') return FUNCTIONS.get(node.name)?.kind !== 'math';
    return ['reference', 'wildcard', 'regex', 'distinct'].includes(node.kind);
  });
  if (!hasVariable) {
    if (expression.kind === 'binary') {
      throw invalid('cannot perform a binary expression on two literals');
    }
    checkMathArity(expression);
    throw invalid(NO_VARIABLE);
  }
}

function checkMathArity(expression: Expression): void {
  if (expression.kind !== 'call') return;
  const spec = FUNCTIONS.get(expression.name);
  if (spec !== undefined) checkArity(spec, expression.arguments.length);
}

/** `DISTINCT f` as the call that it stands for. */
export function distinctCall(node: Extract<Expression, { kind: 'distinct' }>): Call {
  return {
    kind: 'call',
    name: 'distinct',
    arguments: [{ kind: 'reference', name: node.name, span: node.span }],
    span: node.span,
  };
}

function checkCombination(
  statement: SelectStatement,
  { calls, hasPlainFields }: SelectShape,
  interval: Interval | undefined,
): void {
  if (calls.some((call) => call.name === 'distinct') && (calls.length > 1 || hasPlainFields)) {
    throw invalid(
      'aggregate function distinct() cannot be combined with other functions or fields',
    );
  }
  const ranking = calls.find((call) => call.name === 'top' || call.name === 'bottom');
  if (ranking !== undefined && calls.length > 1) {
    throw invalid(`selector function ${ranking.name}() cannot be combined with other functions`);
  }
  if (calls.length === 0) {
    const fill = statement.fill?.kind;
    if (fill === 'none' || fill === 'linear') {
      throw invalid(`fill(${fill}) must be used with a function`);
    }
    if (interval !== undefined) throw invalid('GROUP BY requires at least one aggregate function');
    return;
  }
  if (!hasPlainFields) return;
  if (calls.some((call) => FUNCTIONS.get(call.name)?.kind !== 'selector')) {
    throw invalid('mixing aggregate and non-aggregate queries is not supported');
  }
  // A wildcard may become several selectors, so it counts as such.
  const hasMany = calls.some((call) => call.arguments[0]?.kind !== 'reference');
  if (calls.length > 1) {
    throw invalid('mixing multiple selector functions with tags or fields is not supported');
  }
  if (hasMany) throw invalid('mixing aggregate and non-aggregate queries is not supported');
}
