// Which points a node must see together when the groups of a task run in several places: each node
// declares it, and `splitOf` derives whether and by which tags a task can be split
// (docs/adr/0025-split-tasks.md).
import type { EdgeType } from '../pipeline.ts';

/** Tags of a series: those named, or all but those named. */
export type TagSelection = { readonly isAllBut: boolean; readonly tags: readonly string[] };

export type NodeSplit =
  | {
      /**
       * `message`: every point or batch is processed by itself. `group`: the node's state and
       * output belong to one group.
       */
      readonly kind: 'message' | 'group';
      /** Groups its input by these tags; none means one group. */
      readonly groupsBy?: TagSelection | undefined;
      /** Groups with equal values of these tags belong together, for each selection. */
      readonly together?: readonly Together[] | undefined;
      /** Tags that may differ from those of the original point. */
      readonly setsTags?: readonly string[] | undefined;
    }
  | ({ readonly kind: 'all' } & SplitReason);

export type Together = SplitReason & { readonly by: TagSelection };

/** Why groups must stay together: a part of a sentence whose subject is the node. */
export type SplitReason = {
  readonly reason: string;
  readonly hint?: string | undefined;
  /** The property responsible for it; the node itself when absent. */
  readonly properties?: readonly string[] | undefined;
};

/** The rule of a definition: the same for all nodes of its kind, or depending on their options. */
export type SplitRule<Options> = NodeSplit | ((options: Options, wants: EdgeType) => NodeSplit);

export const PER_MESSAGE: NodeSplit = { kind: 'message' };
export const PER_GROUP: NodeSplit = { kind: 'group' };

/** The tags in both selections. */
export function commonTags(a: TagSelection, b: TagSelection): TagSelection {
  if (a.isAllBut && b.isAllBut)
    return { isAllBut: true, tags: [...new Set([...a.tags, ...b.tags])] };
  const [named, other] = a.isAllBut ? [b, a] : [a, b];
  const isCommon = (tag: string): boolean => other.tags.includes(tag) !== other.isAllBut;
  return { isAllBut: false, tags: [...new Set(named.tags)].filter(isCommon) };
}

/** Whether a selection contains any tag. */
export function hasTags({ isAllBut, tags }: TagSelection): boolean {
  return isAllBut || tags.length > 0;
}
