// Literals as values of expressions.
import type { Expression } from '@tidemark/influxql';

import type { ValueExpression } from './columns.ts';

/** The value of a literal; `undefined` for other expressions. */
export function literalValue(node: Expression): ValueExpression | undefined {
  switch (node.kind) {
    case 'number':
      return { kind: 'constant', value: node.value, type: 'float' };
    case 'integer':
    case 'unsigned':
    case 'string':
    case 'boolean':
      return { kind: 'constant', value: node.value, type: node.kind };
    case 'duration':
      // A duration has no value outside of times and arguments, as recorded.
      return { kind: 'null', type: undefined };
    default:
      return undefined;
  }
}
