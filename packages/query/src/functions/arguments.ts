// Values of arguments that have been checked.
import type { Expression } from '@tidemark/influxql';

/** A whole number; 0 for anything else. */
export function integerOf(node: Expression | undefined): number {
  return node?.kind === 'integer' ? Number(node.value) : 0;
}

/** A number; 0 for anything else. */
export function numberOf(node: Expression | undefined): number {
  return node?.kind === 'integer' || node?.kind === 'number' ? Number(node.value) : 0;
}

/** Nanoseconds; `undefined` for anything else. */
export function nanosOf(node: Expression | undefined): bigint | undefined {
  return node?.kind === 'duration' ? node.nanos : undefined;
}
