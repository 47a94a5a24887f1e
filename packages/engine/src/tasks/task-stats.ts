// Statistics of a running task as the API shows them.
import type { PipelineStats } from '@tidemark/pipeline';
import type { Executing } from './unit.ts';

/**
 * `{task-stats, node-stats}`; counters are integers, in order of their names. `memory_bytes` and
 * `throughput_5m` are left out where they are 0.
 */
export function printTaskStats(
  executing: Pick<Executing, 'task' | 'throughput' | 'meanThroughput' | 'caughtUpCount'>,
): Readonly<Record<string, unknown>> {
  const stats = executing.task.stats();
  const { meanThroughput = 0 } = executing;
  let memoryBytes = 0;
  for (const node of stats.nodes.values()) memoryBytes += node.memory_bytes;
  const nodes = [...stats.nodes]
    .sort((a, b) => (a[0] < b[0] ? -1 : 1))
    .map(([name, counters]) => [
      name,
      Object.fromEntries(
        Object.entries(counters)
          // Tools expect the recorded counters, so others are only shown when they are not zero.
          .filter(([counter, value]) => counter !== 'memory_bytes' || value > 0)
          .sort((a, b) => (a[0] < b[0] ? -1 : 1))
          .map(([counter, value]) => [counter, Math.round(value)]),
      ),
    ]);
  return {
    'task-stats': {
      throughput: executing.throughput,
      ...(executing.caughtUpCount === undefined ? {} : { caught_up: executing.caughtUpCount }),
      ...(meanThroughput === 0 ? {} : { throughput_5m: meanThroughput }),
      ...(memoryBytes === 0 ? {} : { memory_bytes: memoryBytes }),
    },
    'node-stats': Object.fromEntries(nodes) as Readonly<Record<string, unknown>>,
  };
}

/** The same for the graph: counters by node and the messages along its edges. */
export function dotStats(executing: Executing): PipelineStats {
  const { nodes, edges } = executing.task.stats();
  return {
    throughput: executing.throughput,
    nodes: new Map(
      [...nodes].map(([name, { collected: _, emitted: __, memory_bytes: ___, ...counters }]) => [
        name,
        {
          counters,
          processed: new Map(
            edges
              .filter((edge) => edge.parent === name)
              .map((edge) => [edge.child, edge.collected]),
          ),
        },
      ]),
    ),
  };
}
