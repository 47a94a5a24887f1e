// The disturbances of the cluster, round after round.
import { eventually, send } from '@tidemark/testkit';

import type { EngineCluster, Instance } from './cluster.ts';
import { sleep } from './load.ts';
import type { Load } from './load.ts';
import { LogTimeline } from './log-timeline.ts';
import type { SentEvents } from './sent-events.ts';

export const ACTIONS = ['kill', 'stop', 'cut', 'end', 'coordinator', 'roll'] as const;

export type Action = (typeof ACTIONS)[number];

/** Begin and end of a disturbance of the leader, by the monotonic clock. */
export type Disturbance = { readonly fromMs: number; readonly untilMs: number };

export type DisturbOptions = {
  readonly rounds: number;
  readonly actions: readonly Action[];
  readonly patienceMs: number;
  /** A gap of so long is told with what the instances have logged meanwhile. */
  readonly timelineMs: number;
  readonly say: (line: string) => void;
};

export type Disturbed = {
  /** Longest time without an acknowledgement, by what was done. */
  readonly gapMsMax: Readonly<Record<string, number>>;
  /** Longest time without an event, by what was done. */
  readonly eventGapMsMax: Readonly<Record<string, number>>;
  readonly disturbances: readonly Disturbance[];
};

export async function disturb(
  cluster: EngineCluster,
  { load, told }: { readonly load: Load; readonly told: SentEvents },
  { rounds, actions, patienceMs, timelineMs, say }: DisturbOptions,
): Promise<Disturbed> {
  const gapMsMax: Record<string, number> = {};
  const eventGapMsMax: Record<string, number> = {};
  const disturbances: Disturbance[] = [];
  const timeline = new LogTimeline();
  const patiently = <T>(what: string, ask: () => Promise<T>): Promise<T> =>
    eventually(what, () => ask().catch(() => undefined), patienceMs);
  // The time before it, in which tasks are defined, is none without an event.
  await patiently('the first event', async () => (told.count > 0 ? true : undefined));
  for (let round = 0; round < rounds; round++) {
    await sleep(2000);
    load.takeGapMs();
    told.takeGapMs();
    const action = actions[round % actions.length] ?? 'kill';
    const asked = cluster.instances[round % cluster.instances.length];
    if (asked === undefined) throw new Error('a cluster has instances');
    const leader = await patiently('a leader', () => cluster.leader(asked));
    // Every action comes to both in turn.
    const isOfLeader = (round + Math.floor(round / actions.length)) % 2 === 0;
    const { tasks, other } = await patiently('members', () => cluster.busiest(leader));
    const target = isOfLeader || action === 'coordinator' ? leader : other;
    const fromMs = performance.now();
    timeline.take(cluster.instances, Date.now());
    const began = Date.now();
    await act(cluster, load, { action, target, patienceMs });
    if (target === leader || action === 'roll')
      disturbances.push({ fromMs, untilMs: performance.now() });
    await sleep(1000);
    const [gap, eventGap] = [Math.round(load.takeGapMs()), Math.round(told.takeGapMs())];
    const role = target === leader ? 'leader' : 'other';
    const name = action === 'coordinator' || action === 'roll' ? action : `${action} ${role}`;
    gapMsMax[name] = Math.max(gapMsMax[name] ?? 0, gap);
    eventGapMsMax[name] = Math.max(eventGapMsMax[name] ?? 0, eventGap);
    const waits = `${gap} ms without an answer, ${eventGap} ms without an event`;
    const steps = timeline.take(cluster.instances, began);
    if (gap >= timelineMs) for (const step of steps) say(step);
    const times = `${Math.round(fromMs)} to ${Math.round(performance.now())} ms`;
    say(
      `round ${round + 1} of ${rounds}, ${times}: ${name} ${target.name}, ${waits}, tasks before ${tasks.join(' ')}`,
    );
  }
  return { gapMsMax, eventGapMsMax, disturbances };
}

async function act(
  cluster: EngineCluster,
  load: Load,
  {
    action,
    target,
    patienceMs,
  }: { readonly action: Action; readonly target: Instance; readonly patienceMs: number },
): Promise<void> {
  const { leaseMs } = cluster;
  if (action !== 'coordinator' && action !== 'roll') await load.avoid(target);
  try {
    switch (action) {
      case 'kill':
        await target.process.kill();
        await cluster.restart(target);
        break;
      case 'end':
        await target.process.stop();
        await cluster.restart(target);
        break;
      case 'stop':
        target.process.process.kill('SIGSTOP');
        await sleep(2 * leaseMs);
        target.process.process.kill('SIGCONT');
        break;
      case 'cut':
        target.link.cut();
        await sleep(2 * leaseMs);
        target.link.restore();
        break;
      case 'roll':
        for (const instance of cluster.instances)
          await restartOne(cluster, load, { instance, patienceMs });
        break;
      case 'coordinator':
        await cluster.coordinator.kill();
        await cluster.coordinator.start();
    }
    await sleep(leaseMs);
  } finally {
    load.avoided.delete(target);
  }
}

/** A step of a rolling restart: nobody uses the instance, another one leads, it is restarted. */
async function restartOne(
  cluster: EngineCluster,
  load: Load,
  { instance, patienceMs }: { readonly instance: Instance; readonly patienceMs: number },
): Promise<void> {
  await load.avoid(instance);
  try {
    const asked = cluster.instances.find((one) => one !== instance);
    const path = `/engine/v1/cluster/members/${encodeURIComponent(instance.url)}/drain`;
    // An instance that was restarted before may have led, and nobody may lead yet.
    await eventually(
      'a leader that drains an instance',
      async () =>
        (await send(`${asked?.url}${path}`, { method: 'POST' })).status === 204 || undefined,
      patienceMs,
    );
    await instance.process.stop();
    await cluster.restart(instance);
  } finally {
    load.avoided.delete(instance);
  }
}
