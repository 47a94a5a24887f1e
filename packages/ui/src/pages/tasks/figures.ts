// Figures from the counters of a task.
import type { Task } from '@tidemark/client';

export type NodeFigures = Readonly<Record<string, number>>;

export type TaskFigures = {
  /** Points per second, over the last five minutes. */
  readonly throughput: number;
  readonly errorCount: number;
  /** Of the node with the most groups. */
  readonly groupCount: number;
  readonly memoryBytes: number;
  readonly nodes: Readonly<Record<string, NodeFigures>>;
};

type Stats = {
  readonly 'task-stats'?: NodeFigures;
  readonly 'node-stats'?: Readonly<Record<string, NodeFigures>>;
};

/** All zero for a task that does not run. */
export function figuresOf({ stats }: Pick<Task, 'stats'>): TaskFigures {
  // The engine's answer, any part of which may be missing.
  const { 'task-stats': task = {}, 'node-stats': nodes = {} } = (stats ?? {}) as Stats;
  const each = Object.values(nodes);
  return {
    throughput: task['throughput_5m'] ?? task['throughput'] ?? 0,
    errorCount: each.reduce((sum, node) => sum + (node['errors'] ?? 0), 0),
    groupCount: each.reduce((most, node) => Math.max(most, node['working_cardinality'] ?? 0), 0),
    memoryBytes: task['memory_bytes'] ?? 0,
    nodes,
  };
}
