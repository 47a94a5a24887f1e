// Names of the topics that nodes with handlers of their own publish to.

/** A task, or a replay of it, whose id is then the scope. */
export type TopicOwner = { readonly scope: string; readonly taskId: string };

/** The topic of a node. */
export function anonymousTopic(owner: TopicOwner, nodeName: string): string {
  return `${anonymousTopicPrefix(owner)}${nodeName}`;
}

/** The prefix of all topics of an owner, and of no others. */
export function anonymousTopicPrefix({ scope, taskId }: TopicOwner): string {
  return `${scope}:${taskId}:`;
}
