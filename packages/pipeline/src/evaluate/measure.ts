// Size and depth of expressions. Trees share parts when vars are substituted, so a few lines can
// describe a tree of astronomic size; sizes are cached per part.
import type { ExpressionNode } from '@tidemark/tickscript';

export type Measure = { readonly nodes: number; readonly depth: number };

const measured = new WeakMap<ExpressionNode, Measure>();

/**
 * Counts every occurrence of a shared part. The size may exceed 2^53 and is then only an estimate.
 */
export function measureExpression(node: ExpressionNode): Measure {
  const known = measured.get(node);
  if (known !== undefined) return known;
  let nodes = 1;
  let depth = 0;
  for (const part of partsOf(node)) {
    const measure = measureExpression(part);
    nodes += measure.nodes;
    depth = Math.max(depth, measure.depth);
  }
  const measure = { nodes, depth: depth + 1 };
  measured.set(node, measure);
  return measure;
}

/** The parts of an expression. */
export function partsOf(node: ExpressionNode): readonly ExpressionNode[] {
  switch (node.kind) {
    case 'unary':
      return [node.operand];
    case 'binary':
      return [node.left, node.right];
    case 'function':
      return node.arguments;
    case 'lambda':
      return [node.expression];
    case 'list':
      return node.items;
    case 'chain':
      return [node.left, node.right];
    default:
      return [];
  }
}
