// The counters of a task's nodes and edges.
import type { NodeHandle } from './node-handle.ts';
import type { EdgeStats, TaskStats } from './running-task.ts';

/** `entered`: the rows that entered the task, which its source has collected without an edge. */
export function nodeStats(
  handles: readonly NodeHandle[],
  entered: number,
): Pick<TaskStats, 'nodes' | 'edges'> {
  const edges: EdgeStats[] = handles.flatMap((handle) =>
    handle.outputs.map((edge) => ({
      parent: edge.parentName,
      child: edge.childName,
      type: handle.spec.provides === 'batch' ? 'batch' : 'stream',
      collected: edge.count,
      emitted: edge.count,
    })),
  );
  const nodes = new Map(
    handles.map((handle, i) => [
      handle.name,
      i === 0 ? { ...handle.stats(), collected: entered } : handle.stats(),
    ]),
  );
  return { nodes, edges };
}
