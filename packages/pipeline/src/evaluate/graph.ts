// The graph of nodes under construction: ids, names, edges, and the macros that make several nodes
// at once.
import { formatClockDuration } from '@tidemark/core';
import type { Span } from '@tidemark/core';
import type { ExpressionNode } from '@tidemark/tickscript';
import { MAX_NODES } from '../limits.ts';
import type { NodeRow } from '../node-definition.ts';
import { noOpNode } from '../nodes/no-op.ts';
import { alertNode } from '../nodes/alert.ts';
import { derivativeNode } from '../nodes/derivative.ts';
import { statsNode } from '../nodes/stats.ts';
import type { LambdaSpec, SpecValue } from '../pipeline.ts';
import type { DraftNode } from './draft.ts';
import { ArgumentFailure } from './failure.ts';
import { floatLiteral, specValueOf } from './value.ts';
import type { Value } from './value.ts';

/** `[deadman]` of the configuration. With `isGlobal` every task's source gets a deadman. */
export type DeadmanConfig = {
  readonly id: string;
  readonly message: string;
  readonly intervalNanos: bigint;
  readonly threshold: number;
  readonly isGlobal: boolean;
};

export const DEFAULT_DEADMAN: DeadmanConfig = {
  id: "{{ .Group }}:NODE_NAME for task '{{ .TaskName }}'",
  message:
    '{{ .ID }} is {{ if eq .Level "OK" }}alive{{ else }}dead{{ end }}: {{ index .Fields "emitted" | printf "%0.3f" }} points/INTERVAL.',
  intervalNanos: 10_000_000_000n,
  threshold: 0,
  isGlobal: false,
};

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

  /**
   * `node|stats(interval)`: a source of its own. A node without children gets one, so that its
   * output is counted.
   */
  addStats(source: DraftNode, interval: Value, span: Span): DraftNode {
    const values: Value[] = [interval, { kind: 'node', node: source }];
    const stats = this.add(statsNode, { parents: [], values, span });
    if (source.children.length === 0) {
      this.add(noOpNode, { parents: [source], values: [], span });
    }
    return stats;
  }

  /** `node|deadman(threshold, interval, conditions…)`; answers the alert node. */
  addDeadman(
    source: DraftNode,
    deadman: {
      readonly threshold: number;
      readonly intervalNanos: bigint;
      readonly conditions: readonly LambdaSpec[];
      readonly config: DeadmanConfig;
      readonly span: Span;
    },
  ): DraftNode {
    const { intervalNanos, config, span } = deadman;
    const interval: Value = { kind: 'duration', nanos: intervalNanos };
    const stats = this.addStats(source, interval, span);
    this.call(stats, 'align', [], span);
    const derivative = this.add(derivativeNode, {
      parents: [stats],
      values: [{ kind: 'string', value: 'emitted' }],
      span,
    });
    this.call(derivative, 'unit', [interval], span);
    this.call(derivative, 'nonNegative', [], span);
    const alert = this.add(alertNode, { parents: [derivative], values: [], span });
    const id = config.id.replaceAll('NODE_NAME', source.name);
    const message = config.message.replaceAll('INTERVAL', formatClockDuration(intervalNanos));
    this.call(alert, 'id', [{ kind: 'string', value: id }], span);
    this.call(alert, 'message', [{ kind: 'string', value: message }], span);
    this.call(alert, 'crit', [deadmanCondition(deadman.threshold, deadman.conditions)], span);
    return alert;
  }

  /** Sets a property whose values are known to fit. */
  call(node: DraftNode, name: string, values: readonly Value[], span: Span): void {
    node.options.apply(name, values);
    const specs: SpecValue[] = values.map(specValueOf).filter((each) => each !== undefined);
    node.properties.push({ name, values: specs, span });
  }
}

/** `"emitted" <= threshold AND …`. */
function deadmanCondition(threshold: number, conditions: readonly LambdaSpec[]): LambdaSpec {
  const span = { start: 0, end: 0 };
  const operation = { kind: 'binary', isParenthesized: false, isMultiLine: false, span } as const;
  let expression: ExpressionNode = {
    ...operation,
    operator: '<=',
    left: { kind: 'reference', name: 'emitted', span },
    right: floatLiteral(threshold),
  };
  for (const { expression: condition } of conditions) {
    const right: ExpressionNode =
      condition.kind === 'binary' ? { ...condition, isParenthesized: true } : condition;
    expression = { ...operation, operator: 'AND', left: expression, right };
  }
  return { kind: 'lambda', expression };
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
