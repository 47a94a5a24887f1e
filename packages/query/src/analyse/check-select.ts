// Static checks of a SELECT: all errors that do not depend on the data.
import { suggest } from '@tidemark/core';
import type { InvalidRequest, Span } from '@tidemark/core';
import { isLiteral, isTime, some } from '@tidemark/influxql';
import type { Binary, Call, Expression, SelectStatement } from '@tidemark/influxql';

import { invalid } from '../compat-messages.ts';
import { FUNCTIONS, isRanking } from '../functions/registry.ts';
import type { CallContext } from '../functions/check-arguments.ts';
import type { Interval } from './dimensions.ts';
import { foldExpression } from './fold.ts';

const NO_VARIABLE = 'field must contain at least one variable';

/** The contents of a SELECT list. */
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
        return checkBinary(expression);
      default:
        throw noVariable(expression);
    }
  };
  const checkBinary = ({ left, right, span }: Binary): void => {
    for (const side of [left, right]) {
      if (side.kind === 'wildcard' || side.kind === 'regex') {
        throw invalid('unable to use wildcard in a binary expression', {
          code: 'IQL_WILDCARD',
          span: side.span,
          hint: 'name the fields one by one',
        });
      }
    }
    if (isLiteral(left) && isLiteral(right)) throw twoLiterals(span);
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
    spec.check(call, context, check);
    const variable = call.arguments.filter((argument) => !isLiteral(argument));
    for (const argument of variable) check(argument);
  };
  for (const field of statement.fields) {
    if (isTime(field.expression)) continue;
    const folded = foldExpression(field.expression);
    checkHasVariable(folded, context);
    check(folded);
    count++;
  }
  if (count === 0) {
    throw invalid('at least 1 non-time field must be queried', {
      code: 'IQL_NO_FIELD',
      span: spanOf(statement.fields, statement.span),
      hint: 'time is answered with every row; name a field beside it',
    });
  }
  checkCombination(statement, { calls, hasPlainFields }, interval);
  return { calls, hasPlainFields };
}

/** Throws `InvalidRequest` unless the call is well formed. Not for math functions. */
function checkCall(call: Call, context: CallContext): void {
  const spec = FUNCTIONS.get(call.name);
  if (spec === undefined || spec.kind === 'math') {
    const meant = suggest(call.name, FUNCTIONS.keys());
    const hint = meant === undefined || spec !== undefined ? undefined : `did you mean ${meant}()?`;
    throw invalid(`undefined function ${call.name}()`, {
      code: 'IQL_UNKNOWN_FUNCTION',
      span: { start: call.span.start, end: call.span.start + call.name.length },
      hint,
    });
  }
  spec.check(call, context, (inner) => checkCall(inner, context));
}

function checkHasVariable(expression: Expression, context: CallContext): void {
  const hasVariable = some(expression, (node) => {
    if (node.kind === 'call') return FUNCTIONS.get(node.name)?.kind !== 'math';
    return ['reference', 'wildcard', 'regex', 'distinct'].includes(node.kind);
  });
  if (!hasVariable) {
    if (expression.kind === 'binary') {
      throw twoLiterals(expression.span);
    }
    if (expression.kind === 'call')
      FUNCTIONS.get(expression.name)?.check(expression, context, () => undefined);
    throw noVariable(expression);
  }
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
    throw combination(
      'aggregate function distinct() cannot be combined with other functions or fields',
      statement,
    );
  }
  const ranking = calls.find((call) => isRanking(call.name));
  if (ranking !== undefined && calls.length > 1) {
    throw combination(
      `selector function ${ranking.name}() cannot be combined with other functions`,
      statement,
    );
  }
  if (calls.length === 0) {
    const fill = statement.fill?.kind;
    if (fill === 'none' || fill === 'linear') {
      throw combination(`fill(${fill}) must be used with a function`, statement);
    }
    if (interval !== undefined) {
      throw invalid('GROUP BY requires at least one aggregate function', {
        code: 'IQL_COMBINATION',
        span: spanOf(statement.dimensions, statement.span),
        hint: 'windows need a function, for example mean()',
      });
    }
    return;
  }
  if (!hasPlainFields) return;
  if (calls.some((call) => FUNCTIONS.get(call.name)?.kind !== 'selector')) {
    throw combination('mixing aggregate and non-aggregate queries is not supported', statement);
  }
  // A wildcard may become several selectors, so it counts as such.
  const hasMany = calls.some((call) => call.arguments[0]?.kind !== 'reference');
  if (calls.length > 1) {
    throw combination(
      'mixing multiple selector functions with tags or fields is not supported',
      statement,
    );
  }
  if (hasMany)
    throw combination('mixing aggregate and non-aggregate queries is not supported', statement);
}

/**
 * From the start of the first to the end of the last; the span of the surroundings if there are
 * none.
 */
function spanOf(nodes: readonly { readonly span: Span }[], around: Span): Span {
  const [first] = nodes;
  const last = nodes.at(-1);
  if (first === undefined || last === undefined) return around;
  return { start: first.span.start, end: last.span.end };
}

/**
 * The error of a SELECT list whose parts cannot be combined with each other, or with the later
 * clauses.
 */
function combination(text: string, { fields, span }: SelectStatement): InvalidRequest {
  return invalid(text, { code: 'IQL_COMBINATION', span: spanOf(fields, span) });
}

function twoLiterals(span: Span): InvalidRequest {
  return invalid('cannot perform a binary expression on two literals', {
    code: 'IQL_NO_VARIABLE',
    span,
    hint: 'name a field in it',
  });
}

function noVariable({ span }: Expression): InvalidRequest {
  const hint = 'name a field; \'single quotes\' are text, "double quotes" are names';
  return invalid(NO_VARIABLE, { code: 'IQL_NO_VARIABLE', span, hint });
}
