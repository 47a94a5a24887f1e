// Which nodes can be made below which.
import type { NodeRow } from '../node-definition.ts';
import { NODES } from '../nodes/registry.ts';

const STATS_METHODS = ['stats', 'deadman'];
const SOURCE_TYPES = ['stream', 'batch', 'from', 'query', 'noOp', 'stats'];
const CHAIN_METHODS = [
  ...NODES.map((row) => row.type).filter((type) => !SOURCE_TYPES.includes(type)),
  ...STATS_METHODS,
];

/** Names of the methods that make new nodes below a node of this row. */
export function chainMethodsOf(row: NodeRow): readonly string[] {
  if (row.provides === 'none') return STATS_METHODS;
  switch (row.type) {
    case 'stream':
      return ['from', ...STATS_METHODS];
    case 'batch':
      return ['query', 'queryFlux', ...STATS_METHODS];
    case 'from':
      return ['from', ...CHAIN_METHODS];
    default:
      return CHAIN_METHODS;
  }
}

/** Whether some node is made or configured by a method of this name. */
export function isMethodName(name: string): boolean {
  if (STATS_METHODS.includes(name)) return true;
  return NODES.some(
    ({ type, properties }) => type === name || properties.some((each) => each.name === name),
  );
}
