// Maps the type of a node spec to the node that executes it.
import type { NodeSpec } from '@tidemark/pipeline';
import type { Implementation } from './implement.ts';
import type { NodeContext, RunningNode } from './node.ts';
import { StartError } from './node.ts';
import { IMPLEMENTATIONS } from './nodes/registry.gen.ts';

const byType: ReadonlyMap<string, Implementation> = new Map(
  IMPLEMENTATIONS.map((each) => [each.type, each]),
);

/** Creates the node of a spec. Throws `StartError` when its options are not supported. */
export function createNode(ctx: NodeContext): RunningNode {
  const found = byType.get(ctx.spec.type);
  if (found === undefined) throw new StartError(`node type ${ctx.spec.type} cannot be executed`);
  return found.create(ctx);
}

/**
 * Throws the `StartError` with which the node would refuse to start because of one of its texts.
 */
export function checkTexts(spec: NodeSpec): void {
  byType.get(spec.type)?.checkTexts(spec);
}

/** Types that can be executed. */
export const EXECUTABLE_NODE_TYPES: ReadonlySet<string> = new Set(byType.keys());
