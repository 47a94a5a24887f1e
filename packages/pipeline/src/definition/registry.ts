// All nodes that scripts can create, and the methods that create several. The first letter of names
// may have either case.
import { assert } from '@tidemark/core';
import { MACROS, NODE_ROWS } from '../nodes/registry.gen.ts';
import type { EdgeType, NodeSpec, Pipeline } from '../pipeline.ts';
import type { NodeEffects } from './effects.ts';
import { NO_EFFECTS } from './effects.ts';
import type { Macro } from './macro.ts';
import type { NodeCategory, NodeRow } from './node-definition.ts';

const ORDER: readonly NodeCategory[] = [
  'source',
  'transformation',
  'function',
  'combination',
  'output',
  'internal',
];

/** Every node type, by category. */
export const NODES: readonly NodeRow[] = NODE_ROWS.toSorted(
  (a, b) => ORDER.indexOf(a.category) - ORDER.indexOf(b.category),
);

const byType: ReadonlyMap<string, NodeRow> = new Map(NODES.map((row) => [row.type, row]));
const macroByName: ReadonlyMap<string, Macro> = new Map(MACROS.map((each) => [each.name, each]));

export function findNode(type: string): NodeRow | undefined {
  return byType.get(type);
}

/** The node that tasks of a type begin with. */
export function rootOf(taskType: EdgeType): NodeRow {
  const root = NODES.find((row) => row.isRoot === true && row.provides === taskType);
  assert(root !== undefined, 'every type of tasks has a source');
  return root;
}

export function findMacro(name: string): Macro | undefined {
  return macroByName.get(name);
}

/** The effects of a pipeline's node beyond its edges. */
export function effectsOf(spec: NodeSpec): NodeEffects {
  return byType.get(spec.type)?.effectsOf(spec) ?? NO_EFFECTS;
}

/** Measurements whose points a stream task takes from its source; empty when it takes any. */
export function measurementsOf(pipeline: Pipeline): ReadonlySet<string> {
  const names = new Set<string>();
  for (const id of pipeline.nodes[0]?.children ?? []) {
    const reading = effectsOf(pipeline.nodes[id] as NodeSpec).readsPoints;
    if (reading === undefined) continue;
    if (reading.measurement === '') return new Set();
    names.add(reading.measurement);
  }
  return names;
}
