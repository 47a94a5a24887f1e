// Which points a node must see together when the groups of a task run in several places: each node
// declares it, and `splitOf` derives whether and by which tags a task can be split
// (docs/adr/0025-split-tasks.md).
import type { EdgeType } from '../pipeline.ts';

/** Tags of a series: those named, or all but those named. */
export type TagSelection = { readonly isAllBut: boolean; readonly tags: readonly string[] };

export type NodeSplit =
  | {
      /**
       * `message`: every point or batch is treated by itself. `group`: what the node keeps, and
       * what it emits, belongs to one group.
       */
      readonly kind: 'message' | 'group';
      /** It groups what comes by these tags; none is one group. */
      readonly groupsBy?: TagSelection | undefined;
      /** Groups with equal values of these tags belong together, for each selection. */
      readonly together?: readonly Together[] | undefined;
      /** Tags that are not those of the written point behind it. */
      readonly setsTags?: readonly string[] | undefined;
    }
  | ({ readonly kind: 'all' } & SplitReason);

export type Together = SplitReason & { readonly by: TagSelection };

/** Why groups cannot be apart: a part of a sentence whose subject is the node. */
export type SplitReason = {
  readonly reason: string;
  readonly hint?: string | undefined;
  /** Where the script says it; the node itself when absent. */
  readonly properties?: readonly string[] | undefined;
};

/** What a definition says: the same for all nodes of its kind, or by their options. */
export type SplitRule<Options> = NodeSplit | ((options: Options, wants: EdgeType) => NodeSplit);

export const PER_MESSAGE: NodeSplit = { kind: 'message' };
export const PER_GROUP: NodeSplit = { kind: 'group' };

/** Those named by both. */
export function commonTags(a: TagSelection, b: TagSelection): TagSelection {
  if (a.isAllBut && b.isAllBut)
    return { isAllBut: true, tags: [...new Set([...a.tags, ...b.tags])] };
  const [named, other] = a.isAllBut ? [b, a] : [a, b];
  const isCommon = (tag: string): boolean => other.tags.includes(tag) !== other.isAllBut;
  return { isAllBut: false, tags: [...new Set(named.tags)].filter(isCommon) };
}

/** Whether it can name any tag. */
export function hasTags({ isAllBut, tags }: TagSelection): boolean {
  return isAllBut || tags.length > 0;
}
