// The tasks of the soak, and the parts of their state that can be read: counters, windows, and the
// levels of their alerts.
import { send } from '@tidemark/testkit';

/** A level changes after so many points of a task. */
export const POINTS_PER_LEVEL = 100;

const DATABASES = 20;

export const POLICY = 'r';

/** Tasks are spread over databases, as many of them see all points otherwise. */
export function databaseOf(task: number): string {
  return `d${task % DATABASES}`;
}

export const DATABASE_COUNT = DATABASES;

/** A point of a task; `n` counts them. */
export function lineOf(task: number, n: number): string {
  return `m${task},task=${task} n=${n}i ${BigInt(Date.now()) * 1_000_000n + BigInt(n)}`;
}

/** Number of the task whose alert it is. */
export function taskOf(eventId: string): number {
  return Number(eventId.slice('task-'.length));
}

/**
 * A point and its number among those that the task has seen. A write that is in the log twice
 * raises the same alerts twice: only that number tells them from alerts that are told again.
 */
const MESSAGE = `'{{ index .Fields "n" }}, {{ index .Fields "state_count" }}'`;

/** Defines so many tasks, through one engine after the other. */
export async function defineTasks(
  urls: readonly string[],
  { count, receiver }: { readonly count: number; readonly receiver: string },
): Promise<void> {
  for (let i = 0; i < count; i++) {
    const crit = `lambda: "n" % ${2 * POINTS_PER_LEVEL} < ${POINTS_PER_LEVEL}`;
    const script = `
var data = stream|from().measurement('m${i}').groupBy('task')
data|stateCount(lambda: TRUE)|httpOut('counted')
data|window().period(10s).every(1s)|sum('n').as('sum')|httpOut('summed')
data|stateCount(lambda: TRUE)|alert().id('task-${i}').message(${MESSAGE}).crit(${crit}).stateChangesOnly().post('${receiver}')`;
    await define(urls[i % urls.length] ?? '', { id: `task-${i}`, dbrps: [placeOf(i)], script });
  }
  // One that has a group for each task of a database, in parts where there are several instances.
  const script = `stream|from().groupBy('task')|stateCount(lambda: TRUE)|httpOut('counted')`;
  const parts = urls.length > 1 ? { split: 4 } : {};
  await define(urls[0] ?? '', { id: SPLIT_TASK, dbrps: [placeOf(0)], script, ...parts });
}

const SPLIT_TASK = 'split';

function placeOf(task: number): { readonly db: string; readonly rp: string } {
  return { db: databaseOf(task), rp: POLICY };
}

async function define(url: string, task: object): Promise<void> {
  const { status, text } = await send(`${url}/engine/v1/tasks`, {
    method: 'POST',
    body: JSON.stringify({ type: 'stream', status: 'enabled', ...task }),
  });
  if (status !== 200) throw new Error(text);
}

type Output = { readonly series?: readonly { readonly name: string }[] };

/** The series of an output in one order, whichever part has told them. */
function inOrder(text: string): string {
  const { series = [] } = JSON.parse(text) as Output;
  return series
    .map((one) => JSON.stringify(one))
    .sort()
    .join('');
}

type Topics = { readonly topics: readonly { readonly id: string }[] };
type Events = {
  readonly events: readonly { readonly id: string; readonly state: Record<string, unknown> }[];
};

/** An engine's state of each task, the split one last: the same text for the same state. */
export async function statesOf(url: string, count: number): Promise<readonly string[]> {
  const get = async (path: string): Promise<string> => {
    const { status, text } = await send(url + path);
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    return text;
  };
  const states: string[] = [];
  for (let i = 0; i < count; i++) {
    const outputs = ['counted', 'summed'].map((name) => get(`/engine/v1/tasks/task-${i}/${name}`));
    states.push((await Promise.all(outputs)).join(''));
  }
  const topics = '/engine/v1preview/alerts/topics';
  for (const { id: topic } of (JSON.parse(await get(topics)) as Topics).topics) {
    const found = JSON.parse(await get(`${topics}/${topic}/events`)) as Events;
    for (const { id, state } of found.events) {
      const { level, message, time, duration } = state;
      states[taskOf(id)] += JSON.stringify({ topic, level, message, time, duration });
    }
  }
  states.push(inOrder(await get(`/engine/v1/tasks/${SPLIT_TASK}/counted`)));
  return states;
}
