// The error of a lambda that cannot be evaluated for a point. Thousands of points may fail, so no
// stack is captured.

/** Why an expression has no value for a point. Nodes count and log it and continue. */
export class EvaluationError extends Error {
  override readonly name = 'EvaluationError';

  constructor(message: string) {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = limit;
  }
}

/** A lambda that can never be evaluated; the task does not start. */
export class CompileError extends Error {
  override readonly name = 'CompileError';
}
