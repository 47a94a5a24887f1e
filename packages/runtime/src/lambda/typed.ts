// A specialised lambda expression: its type for points of one shape, and the closure that computes
// its value. Kapacitor's evaluator looks up types before it evaluates; `failure` is the error of
// that look-up.
import type { Point } from '../data/point.ts';
import type { Value, ValueType } from '../data/schema.ts';
import { EvaluationError } from './errors.ts';
import type { CallContext, FunctionState } from './function.ts';
import type { Regex } from './regex.ts';

/** State of one instance of a lambda: per group or per node, as the node decides. */
export type Frame = {
  readonly states: FunctionState[];
  /** Where `eval` stores results for later expressions. */
  results: readonly unknown[];
  readonly context: CallContext;
};

export type Run<T = Value | Regex> = (point: Point, frame: Frame) => T;

export type Typed = {
  readonly type: ValueType | 'missing' | 'invalid';
  /** The name of a reference that the point lacks. */
  readonly name?: string | undefined;
  /** Found when the type is looked up; `type` is `invalid` then. */
  readonly failure?: EvaluationError | undefined;
  readonly run: Run;
  /** The value, when it is the same for all points. */
  readonly constant?: { readonly value: Value | Regex } | undefined;
  /** A float column of the write: operators read it without a call. */
  readonly floatColumn?: number | undefined;
};

/** An expression that fails as soon as its type is needed. */
export function failing(message: string): Typed {
  const failure = new EvaluationError(message);
  return {
    type: 'invalid',
    failure,
    run: () => {
      throw failure;
    },
  };
}

/** A closure that fails whenever it is called. */
export function failingRun(message: string): Run {
  const failure = new EvaluationError(message);
  return () => {
    throw failure;
  };
}
