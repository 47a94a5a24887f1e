// Writes points to a cluster of engines while its leader, or an instance that runs tasks, is
// killed, suspended, cut off or stopped, all instances are restarted one after another, and the
// coordinator is restarted. Every acknowledged point must be in the log. The final states and the
// delivered events must be those of a single engine that received the same points, except for
// events that a new leader delivers again.
import { checkSame, checkWrites } from './check.ts';
import { EngineCluster } from './cluster.ts';
import { ACTIONS, disturb } from './disturb.ts';
import type { Action, Disturbed } from './disturb.ts';
import { Load } from './load.ts';
import { SingleEngine } from './single-engine.ts';
import { defineTasks } from './tasks.ts';
import { SentEvents } from './sent-events.ts';

export type SoakOptions = {
  readonly rounds: number;
  readonly tasks: number;
  readonly pointsPerSecond: number;
  readonly seed: number;
  /** `cluster.lease` of the instances. */
  readonly leaseMs?: number | undefined;
  /** How many leases are waited for a leader, or for the last events, before that fails. */
  readonly patienceLeases?: number | undefined;
  readonly actions?: readonly Action[] | undefined;
  /** Percent of one processor that each instance may use; default: no limit. */
  readonly quotaPercent?: number | undefined;
  /** A gap of so long is told with its timeline; default: none is. */
  readonly timelineMs?: number | undefined;
  readonly say: (line: string) => void;
};

export type SoakResult = Pick<Disturbed, 'gapMsMax' | 'eventGapMsMax'> & {
  readonly points: number;
  /** Points of writes that were sent again; they may have been counted twice. */
  readonly repeated: number;
  readonly events: number;
  readonly repeatedEvents: number;
  readonly problems: readonly string[];
};

const LEASE_MS = 3000;
const PATIENCE_LEASES = 20;

export async function soakCluster(options: SoakOptions): Promise<SoakResult> {
  const { tasks, leaseMs = LEASE_MS, patienceLeases = PATIENCE_LEASES, say } = options;
  const patienceMs = patienceLeases * leaseMs;
  const closing: (() => Promise<void>)[] = [];
  try {
    const [told, expected] = await Promise.all([SentEvents.open(tasks), SentEvents.open(tasks)]);
    closing.push(
      () => told.close(),
      () => expected.close(),
    );
    const cluster = await EngineCluster.start(3, { leaseMs, quotaPercent: options.quotaPercent });
    closing.push(() => cluster.close());
    const single = await SingleEngine.start(cluster.coordinator.url);
    closing.push(() => single.close());
    const urls = cluster.instances.map(({ url }) => url);
    await defineTasks(urls, { count: tasks, receiver: told.url });
    await defineTasks([single.url], { count: tasks, receiver: expected.url });
    const load = new Load(cluster, { ...options, patienceMs });
    const running = load.run();
    const { actions = ACTIONS, timelineMs = Number.POSITIVE_INFINITY } = options;
    const disturbed = await disturb(
      cluster,
      { load, told },
      { ...options, actions, patienceMs, timelineMs, say },
    );
    load.stop();
    await running;
    await single.caughtUp(patienceMs);
    const [{ url = '' } = {}] = cluster.instances;
    const { repeatedEvents, problems } = await checkSame({
      told,
      expected,
      url,
      expectedUrl: single.url,
      tasks,
      ...disturbed,
      leaseMs,
      patienceMs,
    });
    return {
      points: load.acknowledged,
      repeated: load.repeated,
      events: expected.count,
      repeatedEvents,
      gapMsMax: disturbed.gapMsMax,
      eventGapMsMax: disturbed.eventGapMsMax,
      problems: [
        ...cluster.failures,
        ...problems,
        ...single.problems,
        ...checkWrites(load.sent, single.taken),
      ],
    };
  } finally {
    for (const close of closing.reverse()) await close();
  }
}
