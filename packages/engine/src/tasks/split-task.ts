// A split task as the API shows it: its parts combined.
import { LEVELS } from '@tidemark/alerting';
import type { Pipeline } from '@tidemark/pipeline';
import { ALERT_GROUPS_MAX } from '@tidemark/runtime';
import type {
  AlertGroups,
  EdgeStats,
  EndpointRows,
  NodeStats,
  RunningTask,
  TapMessage,
  TapOptions,
  TaskReach,
  TaskStats,
} from '@tidemark/runtime';
import type { EngineServices } from '../services/task-services.ts';
import type { Executing, ShownTask, Unit } from './unit.ts';

/** Counters are sums over the parts; their outputs are combined. */
export class SplitTask implements ShownTask {
  readonly taskId: string;
  readonly #parts: readonly RunningTask[];

  /** At least one. */
  constructor(taskId: string, parts: readonly RunningTask[]) {
    this.taskId = taskId;
    this.#parts = parts;
  }

  /** The first part that ended by itself ends all. */
  get error(): string | undefined {
    return this.#parts.find(({ error }) => error !== undefined)?.error;
  }

  get reached(): TaskReach {
    const reached = this.#parts.map((part) => part.reached);
    const times = reached.flatMap(({ newest }) => (newest === undefined ? [] : [newest]));
    return {
      newest: times.length === 0 ? undefined : times.reduce((a, b) => (a > b ? a : b)),
      waitingRows: reached.reduce((sum, { waitingRows }) => sum + waitingRows, 0),
    };
  }

  stats(): TaskStats {
    return sumOfStats(this.#parts.map((part) => part.stats()));
  }

  async refresh(options?: { readonly onlyChanged: boolean }): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.refresh(options)));
  }

  /** Rows of all groups, part by part. */
  async httpOutput(endpoint: string): Promise<EndpointRows | undefined> {
    const outputs = await Promise.all(this.#parts.map((part) => part.httpOutput(endpoint)));
    if (outputs.every((rows) => rows === undefined)) return undefined;
    if (outputs.every((rows) => rows === undefined || rows === null)) return null;
    return outputs.flatMap((rows) => rows ?? []);
  }

  /** Groups of all parts, the most severe first. */
  async alertGroups(nodeName: string): Promise<AlertGroups | undefined> {
    const all = await Promise.all(this.#parts.map((part) => part.alertGroups(nodeName)));
    const known = all.filter((each) => each !== undefined);
    const [first] = known;
    if (first === undefined) return undefined;
    const groups = known.flatMap((each) => each.groups);
    return {
      total: known.reduce((sum, { total }) => sum + total, 0),
      topic: first.topic,
      groups: LEVELS.toReversed()
        .flatMap((level) => groups.filter((each) => each.level === level))
        .slice(0, ALERT_GROUPS_MAX),
    };
  }

  tap(nodeName: string, listener: (message: TapMessage) => void, options?: TapOptions): () => void {
    const stops = this.#parts.map((part) => part.tap(nodeName, listener, options));
    return () => {
      for (const stop of stops) stop();
    };
  }
}

/** All parts of a task as one. */
export class SplitExecuting implements Executing {
  readonly id: string;
  readonly pipeline: Pipeline;
  readonly databases: readonly string[];
  readonly task: ShownTask;
  readonly #units: readonly Unit[];

  constructor(id: string, pipeline: Pipeline, units: readonly Unit[]) {
    this.id = id;
    this.pipeline = pipeline;
    this.databases = [...new Set(units.flatMap(({ databases }) => databases))];
    this.#units = units;
    this.task = new SplitTask(
      id,
      units.map(({ task }) => task),
    );
  }

  get meanThroughput(): number {
    return this.#units.reduce((sum, { meanThroughput }) => sum + meanThroughput, 0);
  }

  get throughput(): number {
    return this.#units.reduce((sum, { throughput }) => sum + throughput, 0);
  }

  get problem(): string | undefined {
    return this.#units.find(({ problem }) => problem !== undefined)?.problem;
  }

  get caughtUpCount(): number | undefined {
    const counts = this.#units.flatMap(({ caughtUpCount }) => caughtUpCount ?? []);
    return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0);
  }
}

function sumOfStats(all: readonly TaskStats[]): TaskStats {
  const nodes = new Map<string, NodeStats>();
  const edges: EdgeStats[] = [];
  for (const stats of all) {
    for (const [name, counters] of stats.nodes)
      nodes.set(name, sumOfCounters(nodes.get(name), counters));
    // In the order of the pipeline, which is that of all parts.
    for (const [i, edge] of stats.edges.entries()) {
      const before = edges[i];
      edges[i] = {
        ...edge,
        collected: edge.collected + (before?.collected ?? 0),
        emitted: edge.emitted + (before?.emitted ?? 0),
      };
    }
  }
  const sum = (of: (stats: TaskStats) => number): number =>
    all.reduce((total, stats) => total + of(stats), 0);
  return {
    nodes,
    edges,
    collected: sum(({ collected }) => collected),
    heldPointCount: sum(({ heldPointCount }) => heldPointCount),
    heldBytes: sum(({ heldBytes }) => heldBytes),
    groupCount: sum(({ groupCount }) => groupCount),
  };
}

/** Counts are added; the mean time of a point is that of all points. */
function sumOfCounters(a: NodeStats | undefined, b: NodeStats): NodeStats {
  if (a === undefined) return b;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  const sums = [...names].map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)] as const);
  const count = a.collected + b.collected;
  const nanos = a.avg_exec_time_ns * a.collected + b.avg_exec_time_ns * b.collected;
  const mean = count === 0 ? 0 : nanos / count;
  return { ...(Object.fromEntries(sums) as NodeStats), avg_exec_time_ns: mean };
}

/**
 * Services of the parts of one task. A topic that all of them publish to is opened with the first
 * and closed with the last of them.
 */
export function servicesOfParts(services: EngineServices): (index: number) => EngineServices {
  const { alerts } = services;
  const openedBy = new Map<string, Set<number>>();
  return (index) => ({
    ...services,
    alerts: {
      inhibitions: alerts.inhibitions,
      openTopic: (topic) => alerts.openTopic(topic),
      publish: (topic, event) => alerts.publish(topic, event),
      updateEvent: (topic, event) => alerts.updateEvent(topic, event),
      lastCause: (unit) => alerts.lastCause(unit),
      eventState: (topic, eventId) => alerts.eventState(topic, eventId),
      eventStates: (topic) => alerts.eventStates(topic),
      openAnonymousTopic: (topic, handlers) => {
        openedBy.set(topic, (openedBy.get(topic) ?? new Set()).add(index));
        alerts.openAnonymousTopic(topic, handlers);
      },
      closeAnonymousTopic: (topic) => {
        const parts = openedBy.get(topic);
        parts?.delete(index);
        if (parts === undefined || parts.size === 0) alerts.closeAnonymousTopic(topic);
      },
    },
  });
}
