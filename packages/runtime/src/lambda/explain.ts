// Explains the result of an expression: the whole, and for a conjunction or disjunction each of its
// conditions, with their values.
import { formatExpression } from '@tidemark/tickscript';
import type { ExpressionNode } from '@tidemark/tickscript';
import type { Point } from '../data/point.ts';
import type { TapCondition } from '../running-task.ts';
import { EvaluationError } from './errors.ts';
import type { CallContext } from './function.ts';
import { Lambda } from './lambda.ts';

/** The result of the whole, or why there is none. */
export type Outcome = {
  readonly result: unknown;
  readonly error?: string | undefined;
};

/**
 * The conditions of a decision. Conditions with state of their own (`count()`, `sigma()`) are shown
 * without a result: explaining must not advance them.
 */
export function explainLambda(
  lambda: Lambda,
  label: string,
  about: { readonly point: Point; readonly outcome: Outcome; readonly context: CallContext },
): TapCondition[] {
  const { point, outcome, context } = about;
  const whole = condition(lambda, label, point, outcome);
  const parts = partsOf(lambda);
  if (parts.length < 2) return [whole];
  return [
    whole,
    ...parts.map((part) => ({
      ...condition(part, label, point, look(part, point, context)),
      isPart: true,
    })),
  ];
}

function condition(lambda: Lambda, label: string, point: Point, outcome: Outcome): TapCondition {
  const { result, error } = outcome;
  const values: Record<string, unknown> = {};
  for (const name of lambda.references) {
    const value = point.fieldValue(name) ?? point.series.tag(name);
    if (value !== undefined) values[name] = value;
  }
  const text = formatExpression(lambda.expression);
  return { label, text, result, values, ...(error === undefined ? {} : { error }) };
}

/** Evaluates as a predicate without side effects: one with state of its own has no result. */
export function look(part: Lambda, point: Point, context: CallContext): Outcome {
  if (part.isStateful) return { result: undefined };
  try {
    return { result: part.test(point, part.frame(context)) };
  } catch (cause) {
    if (!(cause instanceof EvaluationError)) throw cause;
    return { result: undefined, error: cause.message };
  }
}

/** Conditions by lambda: compiled on demand. */
const parts = new WeakMap<Lambda, readonly Lambda[]>();

function partsOf(lambda: Lambda): readonly Lambda[] {
  let found = parts.get(lambda);
  if (found === undefined) {
    found = conditionsOf(lambda.expression).map(
      (expression) => new Lambda({ kind: 'lambda', expression }),
    );
    parts.set(lambda, found);
  }
  return found;
}

function conditionsOf(node: ExpressionNode): readonly ExpressionNode[] {
  if (node.kind !== 'binary' || (node.operator !== 'AND' && node.operator !== 'OR')) return [node];
  return [...conditionsOf(node.left), ...conditionsOf(node.right)];
}
