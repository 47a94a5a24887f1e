// The groups of a task's alert node, each with its level and the last event of it.
import type { AlertGroup, Task } from '@tidemark/client';

import { engine } from '../../api/clients.ts';
import { containing, readEvents } from '../../api/events.ts';

/** Groups that are shown at once. */
export const PAGE_ROWS = 100;

/** Enough to find the groups of most events. */
const CHANGES_MAX = 1000;

export type GroupState = {
  readonly key: string;
  readonly level: string;
  readonly isFlapping: boolean;
  /** Tags as text; empty for data without groups. */
  readonly group: string;
  /** When it left OK. */
  readonly since?: string | undefined;
  readonly lastEvent?: string | undefined;
  /** The id and the message of its last event, as far as they are known. */
  readonly event: string;
  readonly message: string;
};

export type GroupList = {
  readonly total: number;
  /** How many are before the first one. */
  readonly offset: number;
  /** Whether another page follows: the engine lists no more than the most severe of very many. */
  readonly hasNext: boolean;
  readonly states: readonly GroupState[];
};

type Shown = Pick<Task, 'id' | 'script' | 'executing'>;

/** What a topic has of an event, and the group that the history names. */
type TopicState = Omit<GroupState, 'key' | 'isFlapping' | 'since'> & {
  readonly topic: string;
  readonly id: string;
  readonly time: string;
};

export type GroupChoice = {
  /** An alert node; all of them where the task does not run. */
  readonly node: string;
  /** Part of the group's id. */
  readonly search: string;
  readonly offset: number;
};

/**
 * One page of groups, the most severe first. Events without a group are at the end of the list:
 * those of a task that does not run, and of groups that it no longer has.
 */
export async function groupsOf(
  task: Shown,
  { node, search, offset }: GroupChoice,
  signal: AbortSignal,
): Promise<GroupList> {
  // One more tells whether another page follows.
  const options = { pattern: containing(search), offset, limit: PAGE_ROWS + 1, signal };
  const isRunning = task.executing && node !== '';
  const found = isRunning ? await engine.alertGroups(task.id, node, options) : undefined;
  const groups = found?.groups.slice(0, PAGE_ROWS) ?? [];
  const hasNext = (found?.groups.length ?? 0) > PAGE_ROWS;
  const total = found?.total ?? 0;
  const states = groups.map((each, i) => stateOf(each, `${offset + i} ${each.group}`));
  // Only of a list that is shown as a whole it is known which events have no group.
  if (total > groups.length || search !== '') return { total, offset, hasNext, states };
  const listed = new Set(states.flatMap(({ group, event }) => [`group ${group}`, `id ${event}`]));
  const events = await eventsOf(task, isRunning ? node : undefined);
  const others = events.filter(
    ({ group, event }) => !listed.has(`group ${group}`) && !listed.has(`id ${event}`),
  );
  return {
    total: total + others.length,
    offset,
    hasNext,
    states: [
      ...states,
      ...others.map((event) => ({
        ...event,
        key: `${event.topic} ${event.id}`,
        isFlapping: false,
      })),
    ],
  };
}

function stateOf(
  { level, tags, since, flapping, event = '', message = '', 'last-event': lastEvent }: AlertGroup,
  key: string,
): GroupState {
  const group = tagsText(tags);
  return { key, level, isFlapping: flapping, group, since, lastEvent, event, message };
}

const tagsText = (tags: Readonly<Record<string, string>>): string =>
  Object.entries(tags)
    .map(([key, value]) => `${key}=${value}`)
    .toSorted()
    .join(' ');

/** Topics that the task, or one of its nodes, publishes to. */
async function topicsOf(
  { id, script }: Pick<Task, 'id' | 'script'>,
  of: string | undefined,
): Promise<readonly string[]> {
  const { buildPipeline, effectsOf } = await import('@tidemark/pipeline');
  const { pipeline } = buildPipeline(script);
  const possible = new Set(
    (pipeline?.nodes ?? []).flatMap((node) => {
      const { publishesTo } = effectsOf(node);
      if (publishesTo === undefined || (of !== undefined && node.name !== of)) return [];
      return [publishesTo.topic, `main:${id}:${node.name}`];
    }),
  );
  return (await engine.topics()).map((topic) => topic.id).filter((name) => possible.has(name));
}

async function eventsOf(task: Shown, node: string | undefined): Promise<readonly TopicState[]> {
  const topics = await topicsOf(task, node);
  const [{ events }, ...histories] = await Promise.all([
    readEvents(topics),
    ...topics.map((topic) => engine.alertHistory({ topic, limit: CHANGES_MAX })),
  ]);
  const keyOf = (topic: string, id: string): string => JSON.stringify([topic, id]);
  // The newest change of an event comes first, and is set last.
  const changes = histories.flatMap((history) => history.changes.toReversed());
  const origins = new Map(changes.map((each) => [keyOf(each.topic, each.id), each]));
  return events.flatMap(({ topic, id, time, state: { level, message } }): TopicState[] => {
    const { task: of, group = {} } = origins.get(keyOf(topic, id)) ?? {};
    // Other tasks may publish to the same topic.
    if (of !== undefined && of !== '' && of !== task.id) return [];
    const shown = { level, message, event: id, lastEvent: time, group: tagsText(group) };
    return [{ topic, id, time, ...shown }];
  });
}
