// SELECT and EXPLAIN.
import type {
  BinaryOperator,
  ExplainStatement,
  Expression,
  Fill,
  IntoTarget,
  SelectField,
  SelectStatement,
  Source,
  Unplaced,
} from './ast.ts';
import {
  emptyToUndefined,
  groupBy,
  measurement,
  orderBy,
  rowLimits,
  seriesLimits,
  where,
} from './clauses.ts';
import type { Cursor } from './cursor.ts';
import { parseExpressionAt, parseSegments, regexAt } from './expression.ts';
import { PRECEDENCE } from './precedence.ts';
import { printExpression } from './print-expression.ts';
import { children } from './walk.ts';

/** Parses `SELECT …`, whose first word is next. */
export function selectStatement(
  cursor: Cursor,
  options: { readonly mustHaveInto: boolean } = { mustHaveInto: false },
): SelectStatement {
  const { start } = cursor.peek();
  cursor.expect('SELECT');
  const fields = cursor.list(selectField);
  if (options.mustHaveInto && !cursor.at('INTO')) cursor.failExpected(['INTO']);
  const into = cursor.skip('INTO') ? intoTarget(cursor) : undefined;
  cursor.expect('FROM');
  const sources = cursor.list(selectSource);
  const select = {
    kind: 'select',
    fields,
    into,
    sources,
    condition: where(cursor),
    dimensions: groupBy(cursor),
    fill: fillOption(cursor),
    orderBy: orderBy(cursor),
    ...rowLimits(cursor),
    ...seriesLimits(cursor),
    timeZone: timeZoneOption(cursor),
  } as const;
  return { ...select, span: cursor.spanFrom(start) };
}

/** Parses `EXPLAIN [ANALYZE] [VERBOSE] SELECT …`. VERBOSE is not reserved. */
export function explainStatement(cursor: Cursor): Unplaced<ExplainStatement> {
  cursor.expect('EXPLAIN');
  const isAnalyze = cursor.skip('ANALYZE');
  const isVerbose = cursor.atSoftWord('VERBOSE');
  if (isVerbose) cursor.next();
  const statement = selectStatement(cursor);
  return { kind: 'explain', isAnalyze, isVerbose, statement };
}

function selectField(cursor: Cursor): SelectField {
  const first = cursor.peek();
  const expression = fieldExpression(cursor);
  const alias = cursor.skip('AS') ? cursor.identifier() : undefined;
  return { expression, alias, span: cursor.spanFrom(first.start) };
}

function fieldExpression(cursor: Cursor): Expression {
  const first = cursor.peek();
  const regex = regexAt(cursor);
  if (regex !== undefined) return regex;
  const expression = parseExpressionAt(cursor);
  const operator = conditionOperatorIn(expression);
  if (operator !== undefined) {
    const place = cursor.positionText(first);
    const message = `invalid operator ${operator} in SELECT clause at ${place}; operator is intended for WHERE clause`;
    cursor.fail(message, expression.span, 'IQL_OPERATOR_IN_SELECT');
  }
  return expression;
}

/**
 * The last of the outermost operators that only conditions may have, which is the one that messages
 * name.
 */
function conditionOperatorIn(expression: Expression): BinaryOperator | undefined {
  if (expression.kind === 'binary' && isForConditions(expression.operator)) {
    return expression.operator;
  }
  const found = children(expression).map(conditionOperatorIn);
  return found.findLast((operator) => operator !== undefined);
}

/** Comparisons bind least, but for AND and OR. */
function isForConditions(operator: BinaryOperator): boolean {
  return PRECEDENCE[operator] <= PRECEDENCE['='];
}

function intoTarget(cursor: Cursor): IntoTarget {
  const { start } = cursor.peek();
  if (cursor.at(':')) {
    backReference(cursor);
    return { isBackReference: true, span: cursor.spanFrom(start) };
  }
  const segments = parseSegments(cursor);
  const endsWithDot = cursor.last().fixed === '.';
  const isBackReference = endsWithDot && segments.length < 3 && cursor.atAdjacent(':');
  if (isBackReference) backReference(cursor);
  else if (endsWithDot) cursor.failExpected(['identifier']);
  const leading = isBackReference ? segments : segments.slice(0, -1);
  return {
    database: leading.length === 2 ? leading[0] : undefined,
    retentionPolicy: emptyToUndefined(leading.at(-1)),
    measurement: isBackReference ? undefined : segments.at(-1),
    isBackReference,
    span: cursor.spanFrom(start),
  };
}

function backReference(cursor: Cursor): void {
  cursor.expect(':', 'MEASUREMENT');
}

function selectSource(cursor: Cursor): Source {
  const { start } = cursor.peek();
  if (!cursor.skip('(')) return measurement(cursor);
  const statement = cursor.nested(() => selectStatement(cursor));
  cursor.expect(')');
  return { kind: 'subquery', statement, span: cursor.spanFrom(start) };
}

function fillOption(cursor: Cursor): Fill | undefined {
  if (!cursor.atSoftWord('FILL')) return undefined;
  const argument = onlyArgument(cursor, 'IQL_FILL', {
    notCalled: 'fill must be a function call',
    notOne: 'fill requires an argument, e.g.: 0, null, none, previous, linear',
  });
  if (argument.kind === 'number' || argument.kind === 'integer') {
    return { kind: 'number', value: argument.value };
  }
  const word = printExpression(argument);
  switch (word) {
    case 'null':
    case 'none':
    case 'previous':
    case 'linear':
      return { kind: word };
    default: {
      const hint = 'write fill(null), fill(none), fill(previous), fill(linear) or fill(0)';
      return cursor.fail('expected number argument in fill()', argument.span, 'IQL_FILL', hint);
    }
  }
}

/** The argument of an option that is written as a call. */
function onlyArgument(
  cursor: Cursor,
  code: string,
  messages: { readonly notCalled: string; readonly notOne: string },
): Expression {
  const expression = parseExpressionAt(cursor);
  if (expression.kind !== 'call') return cursor.fail(messages.notCalled, expression.span, code);
  const [argument, another] = expression.arguments;
  if (argument !== undefined && another === undefined) return argument;
  return cursor.fail(messages.notOne, expression.span, code);
}

function timeZoneOption(cursor: Cursor): string | undefined {
  if (!cursor.atSoftWord('TZ')) return undefined;
  const argument = onlyArgument(cursor, 'IQL_TIME_ZONE', {
    notCalled: 'tz must be a function call',
    notOne: 'tz requires exactly one argument',
  });
  if (argument.kind !== 'string') {
    const hint = "write the name in single quotes: tz('Europe/Berlin')";
    return cursor.fail('expected string argument in tz()', argument.span, 'IQL_TIME_ZONE', hint);
  }
  if (!cursor.isTimeZone(argument.value)) {
    const message = `unable to find time zone ${argument.value}`;
    return cursor.fail(message, argument.span, 'IQL_TIME_ZONE');
  }
  return argument.value;
}
