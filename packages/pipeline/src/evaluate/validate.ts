// Rules for nodes: at the definition of a script, and at the start of its task.
import { MAX_DIAGNOSTICS } from '@tidemark/tickscript';
import type { StartContext } from '../definition/node-definition.ts';
import { placeOf } from '../definition/node-diagnostic.ts';
import type { NodeDiagnostic, Placed } from '../definition/node-diagnostic.ts';
import type { DraftNode } from './draft.ts';
import { EvaluationFailure } from './failure.ts';
import { topologicalOrder } from './graph.ts';

/** Errors of the nodes, in the order of recorded errors. */
export function validateNodes(nodes: readonly DraftNode[]): readonly EvaluationFailure[] {
  const failures: EvaluationFailure[] = [];
  for (const node of topologicalOrder(nodes)) {
    if (failures.length >= MAX_DIAGNOSTICS.value) break;
    const problem = node.options.validate({ parentCount: node.parents.length });
    const failure =
      problem === undefined
        ? validateHandlers(node)
        : failureOf('TICK_INVALID_NODE', node, problem);
    if (failure !== undefined) failures.push(failure);
  }
  return failures;
}

function validateHandlers(node: DraftNode): EvaluationFailure | undefined {
  for (const handler of node.handlers) {
    const problem = handler.options.validate();
    if (problem !== undefined) return failureOf('TICK_INVALID_NODE', handler, problem);
  }
  return undefined;
}

/** The recorded texts of these failures contain no position; the finding does. */
function failureOf(rule: string, owner: Placed, problem: NodeDiagnostic): EvaluationFailure {
  const { code = rule, text, found, expected, hint } = problem;
  const span = placeOf(owner, problem);
  return new EvaluationFailure(code, text, { span, isPositioned: false, found, expected, hint });
}

/** Why the task cannot start, in the order of recorded errors: existing tools see the first. */
export function checkStart(
  nodes: readonly DraftNode[],
  context: StartContext,
): readonly EvaluationFailure[] {
  const failures: EvaluationFailure[] = [];
  for (const node of topologicalOrder(nodes)) {
    if (failures.length >= MAX_DIAGNOSTICS.value) break;
    for (const problem of node.options.checkStart(context)) {
      failures.push(failureOf('TICK_START_RULE', node, problem));
    }
    for (const handler of node.handlers) {
      const problem = handler.options.checkStart();
      if (problem !== undefined) failures.push(failureOf('TICK_START_RULE', handler, problem));
    }
    const problem = checkEdges(node);
    if (problem !== undefined) failures.push(failureOf('TICK_MISMATCHED_EDGE', node, problem));
  }
  return failures.slice(0, MAX_DIAGNOSTICS.value);
}

function checkEdges(node: DraftNode): NodeDiagnostic | undefined {
  const wrong = node.parents.find((parent) => parent.provides !== node.wants);
  if (wrong === undefined) return undefined;
  return {
    text: `cannot add child mismatched edges: ${wrong.name}:${wrong.provides} -> ${node.name}:${node.wants}`,
    found: wrong.provides,
    expected: [node.wants],
    hint: edgeHint(wrong, node),
  };
}

function edgeHint({ provides, row }: DraftNode, node: DraftNode): string | undefined {
  const [method, parent] = [node.row.type, row.type];
  if (provides === 'none') return `nothing follows |${parent}(): begin a new chain before it`;
  return provides === 'batch'
    ? `make points of the batches before |${method}(), for example with |mean('field') or |last('field')`
    : `make batches of the points before |${method}(): |window().period(10s).every(10s)`;
}
