// Which nodes can follow which.
import { MACROS } from '../nodes/registry.gen.ts';
import { NODES } from '../definition/registry.ts';
import type { ChainRule, NodeRow } from '../definition/node-definition.ts';

/** Names of the methods that make new nodes below a node of this row. */
export function chainMethodsOf(row: NodeRow): readonly string[] {
  const hasOutput = row.provides !== 'none';
  return [
    ...NODES.filter((each) => hasOutput && each.isRoot !== true && mayFollow(each, row)).map(
      ({ type }) => type,
    ),
    ...MACROS.filter((each) => 'isEverywhere' in each || (hasOutput && mayFollow(each, row))).map(
      ({ name }) => name,
    ),
  ];
}

function mayFollow({ follows }: ChainRule, { type, isRoot }: NodeRow): boolean {
  return follows === undefined ? isRoot !== true : follows.includes(type);
}

/** Whether a method of this name creates or configures some node. */
export function isMethodName(name: string): boolean {
  if (MACROS.some((each) => each.name === name)) return true;
  return NODES.some(
    ({ type, properties }) => type === name || properties.some((each) => each.name === name),
  );
}
