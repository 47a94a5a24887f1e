// Events of alerts. A node with `.topic()` and with handlers of its own, such as `.post()`,
// publishes each event twice: to its topic, and to one that belongs to the node.

/** `main:task:node`: the topic of a node with handlers of its own. */
const TOPIC_OF_NODE = /^[^:]+:(.+):alert\d+$/;
const isOfNode = (topic: string): boolean => TOPIC_OF_NODE.test(topic);

/** The task of a topic that belongs to a node. */
export const taskOfTopic = (topic: string): string | undefined => TOPIC_OF_NODE.exec(topic)?.[1];

type Published = { readonly topic: string; readonly id: string; readonly time: string };

/** Events of a list that a page reads: more than anybody looks through. */
export const EVENTS_MAX = 1000;

/** The glob of ids that contain a text; all if it is empty. */
export function containing(text: string): string | undefined {
  return text === '' ? undefined : `*${text.replaceAll(/[[\]*?\\]/g, '\\$&')}*`;
}

/** Events without those that are also in a topic with a name. */
export function withoutDuplicates<T extends Published>(events: readonly T[]): readonly T[] {
  const keyOf = ({ id, time }: Published): string => JSON.stringify([id, time]);
  const named = new Set(events.filter(({ topic }) => !isOfNode(topic)).map(keyOf));
  return events.filter((event) => !isOfNode(event.topic) || !named.has(keyOf(event)));
}
