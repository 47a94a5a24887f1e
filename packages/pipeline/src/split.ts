// Whether the groups of a task can run in several places, and which tags decide where a group runs.
// A group is found in one place only if all groups that a point passes through have those tags: the
// tags common to all groupings.
import { assert } from '@tidemark/core';
import { findNode } from './definition/registry.ts';
import { commonTags, hasTags } from './definition/split.ts';
import type { NodeSplit, SplitReason, TagSelection, Together } from './definition/split.ts';
import type { NodeSpec, Pipeline } from './pipeline.ts';

/** Why the groups of a task must stay together. */
export type SplitRefusal = Omit<SplitReason, 'reason'> & {
  readonly node: NodeSpec;
  /** One sentence. */
  readonly text: string;
};

export type SplitResult =
  | { readonly by: TagSelection; readonly refusal?: undefined }
  | { readonly by?: undefined; readonly refusal: SplitRefusal };

/**
 * Finds the tags by which the groups of a task can be spread, or the first node that forbids it.
 */
export function splitOf({ nodes }: Pipeline): SplitResult {
  const rules = nodes.map(ruleOf);
  const setsTags = rules.flatMap((rule) => (rule.kind === 'all' ? [] : (rule.setsTags ?? [])));
  const grouped: boolean[] = [];
  let by: TagSelection = { isAllBut: true, tags: setsTags };
  let isGrouping = false;
  for (const [i, rule] of rules.entries()) {
    const node = nodes[i] as NodeSpec;
    if (rule.kind === 'all') return { refusal: { ...rule, node, text: sentence(node, rule) } };
    const isGrouped = node.parents.length > 0 && node.parents.every((id) => grouped[id] === true);
    if (rule.kind === 'group' && !isGrouped) return { refusal: { node, ...ungrouped(node) } };
    const { groupsBy } = rule;
    grouped.push(groupsBy === undefined ? isGrouped : hasTags(groupsBy));
    const grouping =
      groupsBy === undefined || !hasTags(groupsBy) ? [] : [{ by: groupsBy, ...APART }];
    isGrouping ||= grouping.length > 0;
    for (const each of [...grouping, ...(rule.together ?? [])] satisfies readonly Together[]) {
      const common = commonTags(by, each.by);
      if (!hasTags(common)) return { refusal: { ...each, node, text: sentence(node, each) } };
      by = common;
    }
  }
  const [source] = nodes;
  assert(source !== undefined, 'a pipeline has a source');
  if (!isGrouping) return { refusal: { node: nodes[1] ?? source, ...NO_GROUPS } };
  return { by };
}

const APART: SplitReason = {
  reason: 'groups by no written tag that all other groupings and ids of the task name too',
  hint: 'group by a tag that all of them name',
  properties: ['groupBy'],
};

const NO_GROUPS = {
  text: 'nothing groups the points by tags',
  hint: "group them: .groupBy('host')",
};

function ungrouped(node: NodeSpec): Omit<SplitRefusal, 'node'> {
  return {
    text: `${node.name} keeps something of points that are not grouped by tags`,
    hint: "group the points before it: .groupBy('host')",
  };
}

function sentence(node: NodeSpec, { reason }: SplitReason): string {
  return `${node.name} ${reason}`;
}

function ruleOf(node: NodeSpec): NodeSplit {
  const row = findNode(node.type);
  assert(row !== undefined, 'nodes of a pipeline have rows');
  return row.splitOf(node);
}
