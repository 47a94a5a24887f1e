// Assertions state what must hold. A failed one is a bug in Tidemark, never a user's mistake.

/** Thrown by `assert` and `unreachable`. Catch it only to stop the thread it happened on. */
export class AssertionFailed extends Error {
  override readonly name = 'AssertionFailed';
}

/** Throws `AssertionFailed` unless `condition` holds. */
export function assert(condition: unknown, mustHold: string): asserts condition {
  if (!condition) throw new AssertionFailed(`assertion failed: ${mustHold}`);
}

/** The end of an exhaustive `switch`: the type checker proves that it is never reached. */
export function unreachable(value: never): never {
  throw new AssertionFailed(`unreachable value: ${JSON.stringify(value)}`);
}
