// The graph of nodes under construction: ids, names and edges.
import type { Span } from '@tidemark/core';
import type { NodeRow } from '../definition/node-definition.ts';
import { MAX_NODES } from '../limits.ts';
import type { SpecValue } from '../pipeline.ts';
import type { DraftNode } from './draft.ts';
import { ArgumentFailure } from './failure.ts';
import { specValueOf } from './value.ts';
import type { Value } from './value.ts';

type Connection = {
  readonly parents: readonly DraftNode[];
  readonly values: readonly Value[];
  readonly span: Span;
};

export class Graph {
  readonly nodes: DraftNode[] = [];
  #nextNumber = 0;

  /**
   * Adds a node below its parents, which may be none. Throws `ArgumentFailure` where the row
   * refuses them.
   */
  add(row: NodeRow, { parents, values, span }: Connection): DraftNode {
    if (this.nodes.length >= MAX_NODES.value) {
      throw new ArgumentFailure(`too many nodes: a task may have ${MAX_NODES.value}`);
    }
    const incoming = parents[0]?.provides;
    const wants = row.wants === 'any' ? (incoming === 'batch' ? 'batch' : 'stream') : row.wants;
    if (row.refuses !== undefined && incoming === row.refuses.edge) {
      const { text, edge, hint } = row.refuses;
      throw new ArgumentFailure(text, { found: edge, hint });
    }
    const options = row.draft(values);
    // A node with several parents uses up one number per parent and keeps the last, as recorded.
    const number = this.#nextNumber + Math.max(0, parents.length - 1);
    this.#nextNumber = number + 1;
    const node: DraftNode = {
      row,
      id: this.nodes.length,
      name: `${row.label}${number}`,
      wants,
      provides: row.provides === 'same' ? wants : row.provides,
      options,
      parents,
      children: [],
      handlers: [],
      arguments: values.map(specValueOf).filter((each) => each !== undefined),
      textSource: values[0]?.kind === 'string' ? values[0].source : undefined,
      properties: [],
      span,
      isQuiet: false,
    };
    this.nodes.push(node);
    for (const parent of parents) parent.children.push(node);
    return node;
  }

  /** Sets a property whose values are known to fit. */
  call(node: DraftNode, name: string, values: readonly Value[], span: Span): void {
    node.options.apply(name, values);
    const specs: SpecValue[] = values.map(specValueOf).filter((each) => each !== undefined);
    node.properties.push({ name, values: specs, span });
  }
}

/**
 * Children before parents reversed: the order in which existing tools list nodes, sources last to
 * first.
 */
export function topologicalOrder<
  T extends {
    readonly id: number;
    readonly children: readonly T[];
    readonly parents: readonly T[];
  },
>(nodes: readonly T[]): readonly T[] {
  const visited = new Set<number>();
  const order: T[] = [];
  // Without recursion: chains may be thousands of nodes long.
  const visit = (root: T) => {
    const stack = [{ node: root, next: 0 }];
    visited.add(root.id);
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const child = top.node.children[top.next++];
      if (child === undefined) {
        order.push(top.node);
        stack.pop();
      } else if (!visited.has(child.id)) {
        visited.add(child.id);
        stack.push({ node: child, next: 0 });
      }
    }
  };
  for (const node of nodes.toReversed()) {
    if (node.parents.length === 0 && !visited.has(node.id)) visit(node);
  }
  return order.toReversed();
}
