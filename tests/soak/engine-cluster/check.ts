// Compares the results of the cluster with those of a single engine for the same points.
import { messageOf } from '@tidemark/core';
import { eventually } from '@tidemark/testkit';

import type { Disturbance } from './disturb.ts';
import { statesOf } from './tasks.ts';
import type { SentEvent, SentEvents } from './sent-events.ts';

export type Sides = {
  /** Events of the cluster, and of the single engine. */
  readonly told: SentEvents;
  readonly expected: SentEvents;
  readonly url: string;
  readonly expectedUrl: string;
  readonly tasks: number;
  readonly disturbances: readonly Disturbance[];
  readonly leaseMs: number;
  readonly patienceMs: number;
};

export type Checked = { readonly repeatedEvents: number; readonly problems: readonly string[] };

/** Waits until both sides have told everything and know the same, and says what they do not. */
export async function checkSame(sides: Sides): Promise<Checked> {
  const { told, expected, tasks, patienceMs } = sides;
  const problems: string[] = [];
  const differing = async (): Promise<readonly string[]> => {
    const [is, should] = await Promise.all([
      statesOf(sides.url, tasks),
      statesOf(sides.expectedUrl, tasks),
    ]);
    return should.flatMap((state, i) =>
      state === is[i] ? [] : [`task ${i} is ${is[i]}, and should be ${state}`],
    );
  };
  const untilNone = async (what: string, ask: () => Promise<readonly string[]>): Promise<void> => {
    // A busy host may have no answer yet.
    const found = (): Promise<readonly string[]> =>
      ask().catch((error: unknown) => [`${what}: ${messageOf(error)}`]);
    const isNone = async () => ((await found()).length === 0 ? true : undefined);
    await eventually(what, isNone, patienceMs).catch(async () => problems.push(...(await found())));
  };
  await untilNone('the same states', differing);
  await untilNone('all events', () => Promise.resolve(untold(told, expected)));
  let repeatedEvents = 0;
  for (let task = 0; task < tasks; task++) {
    const own = compareEvents(told.byTask[task] ?? [], expected.byTask[task] ?? [], sides);
    repeatedEvents += own.repeated;
    problems.push(...own.problems.map((problem) => `task ${task}: ${problem}`));
  }
  return { repeatedEvents, problems };
}

/** Every write that was acknowledged was taken, and no write more often than it was sent. */
export function checkWrites(
  sent: ReadonlyMap<string, number>,
  taken: ReadonlyMap<string, number>,
): readonly string[] {
  const problems: string[] = [];
  for (const [first, attempts] of sent) {
    const count = taken.get(first) ?? 0;
    if (count === 0) problems.push(`a write was acknowledged and is gone: ${first}`);
    if (count > attempts) problems.push(`sent ${attempts} times, taken ${count} times: ${first}`);
  }
  for (const first of taken.keys())
    if (!sent.has(first)) problems.push(`nobody has written this: ${first}`);
  return problems;
}

function untold(told: SentEvents, expected: SentEvents): readonly string[] {
  return expected.byTask.flatMap((events, task) => {
    const seen = new Set(told.byTask[task]?.map(({ text }) => text));
    return events
      .filter(({ text }) => !seen.has(text))
      .map(({ text }) => `task ${task}: an event was not told: ${text}`);
  });
}

/**
 * Events are told in the order of the single engine. After a change of leaders, those are told
 * again whose success was not stored: the newest, in their order, and nothing that was told long
 * before.
 */
export function compareEvents(
  told: readonly SentEvent[],
  expected: readonly SentEvent[],
  { disturbances, leaseMs }: Pick<Sides, 'disturbances' | 'leaseMs'>,
): { readonly repeated: number; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const firstMs: number[] = [];
  let repeated = 0;
  let at = -1;
  for (const { text, atMs } of told) {
    if (expected[at + 1]?.text === text) at++;
    else {
      const before = expected.findLastIndex((event, i) => i <= at && event.text === text);
      if (before < 0) {
        const found = expected.findIndex((event, i) => i > at && event.text === text);
        const what = found < 0 ? 'of no single engine' : `told before ${found - at - 1} others`;
        problems.push(`an event ${what}, at ${Math.round(atMs)} ms: ${text}`);
        if (found >= 0) firstMs[(at = found)] ??= atMs;
        continue;
      }
      at = before;
      const sinceMs = firstMs[at] ?? 0;
      const isRule = disturbances.some(
        ({ fromMs, untilMs }) => fromMs < atMs && sinceMs > fromMs - leaseMs && sinceMs < untilMs,
      );
      if (!isRule) {
        const when = `${Math.round(sinceMs)} and ${Math.round(atMs)} ms`;
        problems.push(`an event was told again without a change of leaders, at ${when}: ${text}`);
      }
    }
    if (firstMs[at] === undefined) firstMs[at] = atMs;
    else repeated++;
  }
  return { repeated, problems };
}
