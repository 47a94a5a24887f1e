// The type of the task that a script creates, which its sources determine.
import type { ExpressionNode, Program } from '@tidemark/tickscript';
import { findNode } from '../definition/registry.ts';
import type { EdgeType, Pipeline } from '../pipeline.ts';

/** `undefined` when the script has no source, or sources of both kinds. */
export function deriveTaskType(program: Program): EdgeType | undefined {
  const types = sourceTypes(program);
  const [only] = types;
  return types.size === 1 ? only : undefined;
}

/** The sources that chains of the script begin with. */
export function sourceTypes(program: Program): ReadonlySet<EdgeType> {
  const types = new Set<EdgeType>();
  for (const statement of program.statements) {
    const expression =
      statement.kind === 'declaration'
        ? statement.value
        : statement.kind === 'expression' && statement.expression.kind === 'chain'
          ? statement.expression
          : undefined;
    const name = expression === undefined ? undefined : leftmostName(expression);
    const root = name === undefined ? undefined : findNode(name);
    if (root?.isRoot === true && root.wants !== 'any') types.add(root.wants);
  }
  return types;
}

function leftmostName(node: ExpressionNode): string | undefined {
  let left = node;
  while (left.kind === 'chain') left = left.left;
  return left.kind === 'identifier' ? left.name : undefined;
}

/** The pairs of `dbrp` statements in order, each once. */
export function declaredDbrps(program: Program): Pipeline['dbrps'] {
  const pairs = new Map<string, Pipeline['dbrps'][number]>();
  for (const statement of program.statements) {
    if (statement.kind !== 'dbrp') continue;
    const { database, retentionPolicy } = statement;
    pairs.set(JSON.stringify([database, retentionPolicy]), { database, retentionPolicy });
  }
  return [...pairs.values()];
}
