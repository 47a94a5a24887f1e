// Match expressions: which events of a topic a handler wants. The script language's lambdas with five functions of
// their own; references are tags of the event. Handlers see few events, so the tree is interpreted.
import { InvalidRequest, isInt64Operator, wrapInt64 } from '@tidemark/core';
import { RE2JS } from 're2js';
import { parseLambda } from '@tidemark/tickscript';
import type { BinaryOperator, ExpressionNode, FunctionNode } from '@tidemark/tickscript';
import type { TopicEvent } from './event.ts';
import { levelRank, LEVELS } from './level.ts';

/** Whether the handler wants the event. Throws when the expression can not be evaluated for it. */
export type Match = (event: TopicEvent) => boolean;

type RegexNode = Extract<ExpressionNode, { kind: 'regex' }>;
type Duration = { readonly nanos: bigint };
type Value = boolean | bigint | number | string | Duration | RE2JS;

/** Compiles a match expression; '' matches everything. Throws `InvalidRequest` for what is wrong with its text. */
export function compileMatch(text: string): Match {
  if (text.trim() === '') return () => true;
  const { expression, error } = parseLambda(text);
  if (expression === undefined) throw new InvalidRequest(`invalid match expression: ${error}`);
  checkIdentifiers(expression);
  return (event) => {
    const value = evaluate(expression, event);
    if (typeof value !== 'boolean') throw new InvalidRequest('match expression is not boolean');
    return value;
  };
}

function checkIdentifiers(node: ExpressionNode): void {
  switch (node.kind) {
    case 'identifier':
      if (!LEVELS.some((level) => level === node.name)) {
        throw new InvalidRequest(`unknown identifier ${JSON.stringify(node.name)}`);
      }
      return;
    case 'unary':
      checkIdentifiers(node.operand);
      return;
    case 'binary':
      checkIdentifiers(node.left);
      checkIdentifiers(node.right);
      return;
    case 'function':
      node.arguments.forEach(checkIdentifiers);
      return;
    case 'lambda':
      checkIdentifiers(node.expression);
      return;
    default:
      return;
  }
}

/** Lives as long as the expression. */
const patterns = new WeakMap<RegexNode, RE2JS>();

/** Compiled with the first event. */
function patternOf(node: RegexNode): RE2JS {
  let pattern = patterns.get(node);
  if (pattern === undefined) patterns.set(node, (pattern = RE2JS.compile(node.pattern)));
  return pattern;
}

function evaluate(node: ExpressionNode, event: TopicEvent): Value {
  switch (node.kind) {
    case 'boolean':
    case 'integer':
    case 'float':
    case 'string':
      return node.value;
    case 'duration':
      return { nanos: node.nanos };
    case 'regex':
      return patternOf(node);
    case 'identifier':
      return BigInt(LEVELS.findIndex((level) => level === node.name));
    case 'reference': {
      const value = event.context.tags[node.name];
      if (value === undefined) throw new InvalidRequest(`no tag exists for ${node.name}`);
      return value;
    }
    case 'lambda':
      return evaluate(node.expression, event);
    case 'unary':
      return evaluateUnary(node.operator, evaluate(node.operand, event));
    case 'binary':
      return evaluateBinary(node.operator, node.left, node.right, event);
    case 'function':
      return call(node, event);
    default:
      throw new InvalidRequest(`a ${node.kind} has no place in a match expression`);
  }
}

function evaluateUnary(operator: '-' | '!', value: Value): Value {
  if (operator === '!' && typeof value === 'boolean') return !value;
  if (operator === '-' && (typeof value === 'bigint' || typeof value === 'number')) return -value;
  if (operator === '-' && isDuration(value)) return { nanos: -value.nanos };
  throw new InvalidRequest(`invalid use of operator ${operator}`);
}

function evaluateBinary(
  operator: BinaryOperator,
  left: ExpressionNode,
  right: ExpressionNode,
  event: TopicEvent,
): Value {
  const a = evaluate(left, event);
  if (operator === 'AND' || operator === 'OR') {
    if (typeof a !== 'boolean') throw mismatched(operator);
    if (a === (operator === 'OR')) return a;
    const b = evaluate(right, event);
    if (typeof b !== 'boolean') throw mismatched(operator);
    return b;
  }
  const b = evaluate(right, event);
  if (operator === '=~' || operator === '!~') {
    if (typeof a !== 'string' || !(b instanceof RE2JS)) throw mismatched(operator);
    return b.test(a) === (operator === '=~');
  }
  if (isComparison(operator)) return compare(operator, a, b);
  return calculate(operator, a, b);
}

type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=';

function isComparison(operator: BinaryOperator): operator is Comparison {
  return ['==', '!=', '<', '<=', '>', '>='].includes(operator);
}

function compare(operator: Comparison, a: Value, b: Value): boolean {
  const [x, y] = [isDuration(a) ? a.nanos : a, isDuration(b) ? b.nanos : b];
  const areNumbers = isNumber(x) && isNumber(y) && isDuration(a) === isDuration(b);
  const areSame = typeof x === typeof y && (typeof x === 'string' || typeof x === 'boolean');
  if (!areNumbers && !areSame) throw mismatched(operator);
  switch (operator) {
    case '==':
      // Loose on purpose: an integer and a float are equal when their values are.
      return isNumber(x) && isNumber(y) ? Number(x) === Number(y) && !(x < y) && !(x > y) : x === y;
    case '!=':
      return !compare('==', a, b);
    case '<':
      return x < y;
    case '<=':
      return x <= y;
    case '>':
      return x > y;
    case '>=':
      return x >= y;
  }
}

function calculate(operator: BinaryOperator, a: Value, b: Value): Value {
  if (operator === '+' && typeof a === 'string' && typeof b === 'string') return a + b;
  if (typeof a === 'bigint' && typeof b === 'bigint') {
    if (!isInt64Operator(operator)) throw mismatched(operator);
    const result = wrapInt64(operator, a, b);
    if (result === undefined) throw new InvalidRequest('division by zero');
    return result;
  }
  if (typeof a === 'number' && typeof b === 'number') {
    switch (operator) {
      case '+':
        return a + b;
      case '-':
        return a - b;
      case '*':
        return a * b;
      case '/':
        return a / b;
      default:
        throw mismatched(operator);
    }
  }
  throw mismatched(operator);
}

function call(node: FunctionNode, event: TopicEvent): Value {
  if (node.arguments.length > 0) {
    throw new InvalidRequest(`function ${node.name} takes no arguments`);
  }
  switch (node.name) {
    case 'changed':
      return event.level !== event.previousLevel;
    case 'level':
      return BigInt(levelRank(event.level));
    case 'name':
      return event.context.name;
    case 'taskName':
      return event.context.taskName;
    case 'alertDuration':
      return { nanos: event.durationNanos };
    default:
      throw new InvalidRequest(`undefined function: ${JSON.stringify(node.name)}`);
  }
}

function isDuration(value: Value): value is Duration {
  return typeof value === 'object' && 'nanos' in value;
}

function isNumber(value: Value): value is bigint | number {
  return typeof value === 'bigint' || typeof value === 'number';
}

function mismatched(operator: string): InvalidRequest {
  return new InvalidRequest(`invalid comparison operator ${operator} for these types`);
}
