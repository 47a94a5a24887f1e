// The parts of a lambda that fail for every point: functions that do not exist, operands that no
// signature takes, a result of another type than the node needs. The recorded engine lets such a
// task start and counts an error for each point, so these are warnings in addition to the errors of
// `checkLambda`.
import type { Span } from '@tidemark/core';
import type { ExpressionNode } from '../ast.ts';
import { MAX_DIAGNOSTICS } from '../limits.ts';
import { LAMBDA_FUNCTIONS, MATCH_FUNCTIONS } from './functions.ts';
import type { LambdaFunction } from './functions.ts';
import {
  acceptedLeft,
  acceptedOperands,
  acceptedRight,
  binaryResultType,
  binaryTypeError,
  isAlwaysBoolean,
  TIME_HINT,
  unaryResultType,
} from './types.ts';
import type { LambdaType } from './types.ts';

/** A part that cannot be evaluated. */
export type FailingPart = {
  readonly text: string;
  readonly span: Span;
  readonly found?: string | undefined;
  readonly expected?: readonly string[] | undefined;
  readonly hint?: string | undefined;
};

/**
 * The type of the result if it is the same for all points, and the parts that fail for all of them.
 */
type Outcome = { readonly type: LambdaType | undefined; readonly parts: readonly FailingPart[] };

/** The context in which an expression is evaluated. */
export type LambdaScope = {
  readonly functions: ReadonlyMap<string, LambdaFunction>;
  /** Type of all references except `"time"`; `undefined` if it depends on the point. */
  readonly references: LambdaType | undefined;
};

const SCRIPT: LambdaScope = { functions: LAMBDA_FUNCTIONS, references: undefined };

/** Match expressions of handlers: references are tags. */
export const MATCH_SCOPE: LambdaScope = {
  functions: new Map([...LAMBDA_FUNCTIONS, ...MATCH_FUNCTIONS]),
  references: 'string',
};

/**
 * The parts of an expression without identifiers that fail for every point; `wanted` is the type
 * that the node needs.
 */
export function failingParts(
  expression: ExpressionNode,
  wanted: LambdaType | undefined,
  scope = SCRIPT,
): readonly FailingPart[] {
  const { type, parts } = outcomeOf(expression, scope);
  if (parts.length > 0) return parts.slice(0, MAX_DIAGNOSTICS.value);
  if (type === undefined || wanted === undefined || type === wanted) return [];
  const text = `the result is ${type}, where ${wanted} is needed`;
  return [{ text, span: expression.span, found: type, expected: [wanted] }];
}

function outcomeOf(node: ExpressionNode, scope: LambdaScope): Outcome {
  switch (node.kind) {
    case 'boolean':
    case 'float':
    case 'string':
    case 'regex':
    case 'duration':
      return { type: node.kind, parts: [] };
    case 'integer':
      return { type: 'int', parts: [] };
    case 'reference':
      return { type: node.name === 'time' ? 'time' : scope.references, parts: [] };
    case 'lambda':
      return outcomeOf(node.expression, scope);
    case 'function':
      return outcomeOfCall(node, scope);
    case 'unary': {
      const { type, parts } = outcomeOf(node.operand, scope);
      const result = type === undefined ? undefined : unaryResultType(node.operator, type);
      if (type === undefined || result !== undefined) return { type: result, parts };
      const text = `invalid unary operator ${node.operator} for type ${type}`;
      const expected = acceptedOperands(node.operator);
      return failing({ text, span: node.operand.span, found: type, expected });
    }
    case 'binary':
      return outcomeOfBinary(node, scope);
    default:
      // Other expressions are refused when the task starts.
      return { type: undefined, parts: [] };
  }
}

function failing(part: FailingPart): Outcome {
  return { type: undefined, parts: [part] };
}

function outcomeOfBinary(
  node: Extract<ExpressionNode, { kind: 'binary' }>,
  scope: LambdaScope,
): Outcome {
  const [left, right] = [outcomeOf(node.left, scope), outcomeOf(node.right, scope)];
  const parts = [...left.parts, ...right.parts];
  const usual = isAlwaysBoolean(node.operator) ? 'boolean' : undefined;
  if (parts.length > 0 || left.type === undefined || right.type === undefined)
    return { type: usual, parts };
  const type = binaryResultType(node.operator, left.type, right.type);
  if (type !== undefined) return { type, parts };
  const text = binaryTypeError(node.operator, left.type, right.type);
  const accepted = acceptedRight(node.operator, left.type);
  return accepted.length === 0
    ? failing({
        text,
        span: node.left.span,
        found: left.type,
        expected: acceptedLeft(node.operator),
        hint: left.type === 'time' ? TIME_HINT : undefined,
      })
    : failing({ text, span: node.right.span, found: right.type, expected: accepted });
}

function outcomeOfCall(
  node: Extract<ExpressionNode, { kind: 'function' }>,
  scope: LambdaScope,
): Outcome {
  const outcomes = node.arguments.map((argument) => outcomeOf(argument, scope));
  const fn = scope.functions.get(node.name);
  if (fn === undefined) {
    const hint = MATCH_FUNCTIONS.has(node.name)
      ? 'it is known in match expressions of handlers only'
      : undefined;
    const text = `undefined function: "${node.name}"`;
    return failing({ text, span: node.span, found: node.name, hint });
  }
  const parts = outcomes.flatMap((each) => each.parts);
  if (parts.length > 0) return { type: undefined, parts };
  const types = outcomes.map(({ type }) => type);
  const results = new Set(fitting(fn, types).map(({ result }) => result));
  const [only] = results;
  if (results.size > 0) return { type: results.size === 1 ? only : undefined, parts };
  const given = types.map((type) => type ?? 'any').join(', ');
  const expected = fn.signatures.map((each) => `${fn.name}(${each.arguments.join(', ')})`);
  const text = `no signature of ${fn.name} takes (${given})`;
  return failing({ text, span: node.span, found: `${fn.name}(${given})`, expected });
}

/**
 * The signatures that accept operands of these types; an operand whose type depends on the point
 * fits all.
 */
function fitting(
  fn: LambdaFunction,
  types: readonly (LambdaType | undefined)[],
): LambdaFunction['signatures'] {
  return fn.signatures.filter(
    (signature) =>
      signature.arguments.length === types.length &&
      signature.arguments.every((type, i) => types[i] === undefined || types[i] === type),
  );
}
