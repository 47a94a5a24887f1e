// Events of alerts, as several pages read them. A node with `.topic()` and with handlers of its
// own, such as `.post()`, publishes each event twice: to its topic, and to one that belongs to the
// node.

import type { TopicEvent } from '@tidemark/client';

import { engine } from './clients.ts';

/** The least severe first. */
export const EVENT_LEVELS = ['OK', 'INFO', 'WARNING', 'CRITICAL'];

/** Grows with the severity of a level. */
export const severityOf = (level: string): number => EVENT_LEVELS.indexOf(level);

/** `main:task:node`: the topic of a node with handlers of its own. */
const TOPIC_OF_NODE = /^[^:]+:(.+):alert\d+$/;
const isOfNode = (topic: string): boolean => TOPIC_OF_NODE.test(topic);

/** The task of a topic that belongs to a node. */
export const taskOfTopic = (topic: string): string | undefined => TOPIC_OF_NODE.exec(topic)?.[1];

type Published = { readonly topic: string; readonly id: string; readonly time: string };

/** An event with its topic and its time. */
export type PublishedEvent = TopicEvent & Published;

export type ReadEvents = {
  /** The most severe first, of one level the newest. */
  readonly events: readonly PublishedEvent[];
  /** How many there are; more than are read of topics with very many. */
  readonly counts: ReadonlyMap<string, number>;
  readonly total: number;
};

/** Events of a list that a page reads: more than anybody looks through. */
export const EVENTS_MAX = 1000;

/** The glob of ids that contain a text; all if it is empty. */
export function containing(text: string): string | undefined {
  return text === '' ? undefined : `*${text.replaceAll(/[[\]*?\\]/g, '\\$&')}*`;
}

/** The most severe events of topics, each once. `pattern` selects by their ids. */
export async function readEvents(
  topics: readonly string[],
  filter: { readonly minLevel?: string; readonly pattern?: string | undefined } = {},
): Promise<ReadEvents> {
  const lists = await Promise.all(
    topics.map(async (topic) => ({
      topic,
      ...(await engine.mostSevereEvents(topic, { ...filter, limit: EVENTS_MAX })),
    })),
  );
  const read = lists.flatMap(({ topic, events }) =>
    events.map((event) => ({ ...event, topic, time: event.state.time })),
  );
  const events = withoutDuplicates(read).toSorted(
    (a, b) => severityOf(b.state.level) - severityOf(a.state.level) || (a.time < b.time ? 1 : -1),
  );
  const counts = new Map(EVENT_LEVELS.map((level) => [level, 0]));
  const add = (level: string, count: number): void =>
    void counts.set(level, (counts.get(level) ?? 0) + count);
  for (const { levels } of lists)
    for (const [level, count] of Object.entries(levels)) add(level, count);
  // What is read twice counts once.
  for (const { state } of read) add(state.level, -1);
  for (const { state } of events) add(state.level, 1);
  return { events, counts, total: [...counts.values()].reduce((sum, count) => sum + count, 0) };
}

/** Events without those that are also in a topic with a name. */
export function withoutDuplicates<T extends Published>(events: readonly T[]): readonly T[] {
  const keyOf = ({ id, time }: Published): string => JSON.stringify([id, time]);
  const named = new Set(events.filter(({ topic }) => !isOfNode(topic)).map(keyOf));
  return events.filter((event) => !isOfNode(event.topic) || !named.has(keyOf(event)));
}
