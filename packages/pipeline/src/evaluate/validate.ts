// Rules that nodes must keep: when a script is defined, and when its task starts.
import { MAX_DIAGNOSTICS } from '@tidemark/tickscript';
import type { StartContext } from '../node-definition.ts';
import type { DraftNode } from './draft.ts';
import { EvaluationFailure } from './failure.ts';
import { hintForRule } from './hints.ts';
import { topologicalOrder } from './graph.ts';

/** What is wrong with the nodes, in the order in which recorded errors come. */
export function validateNodes(nodes: readonly DraftNode[]): readonly EvaluationFailure[] {
  const failures: EvaluationFailure[] = [];
  for (const node of topologicalOrder(nodes)) {
    if (failures.length >= MAX_DIAGNOSTICS.value) break;
    const problem =
      node.options.validate({ parentCount: node.parents.length }) ?? validateHandlers(node);
    if (problem === undefined) continue;
    const { span } = node;
    failures.push(
      new EvaluationFailure('TICK_INVALID_NODE', problem, {
        span,
        isPositioned: false,
        hint: hintForRule(problem),
      }),
    );
  }
  return failures;
}

function validateHandlers(node: DraftNode): string | undefined {
  for (const { row, options, deferred } of node.handlers) {
    const problem = deferred[0] ?? row.validate?.(options);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The recorded text for the first node that refuses to start. */
export function checkStart(nodes: readonly DraftNode[], context: StartContext): string | undefined {
  for (const node of topologicalOrder(nodes)) {
    const problem = node.options.checkStart(context) ?? checkHandlers(node) ?? checkEdges(node);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function checkHandlers(node: DraftNode): string | undefined {
  for (const { row, options } of node.handlers) {
    const problem = row.checkStart?.(options);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function checkEdges(node: DraftNode): string | undefined {
  const wrong = node.parents.find((parent) => parent.provides !== node.wants);
  if (wrong === undefined) return undefined;
  return `cannot add child mismatched edges: ${wrong.name}:${wrong.provides} -> ${node.name}:${node.wants}`;
}
