// Taps: the messages of an edge, as plain data for a debugger or a test.
import type { Group } from './data/group.ts';
import type { Barrier, Batch, Point } from './data/point.ts';
import { toOutputPoint } from './data/point.ts';
import { batchRow } from './data/rows.ts';
import type { EdgeObserver } from './edge.ts';
import type { NodeHandle } from './node-handle.ts';
import type { TapMessage, TapOptions } from './running-task.ts';

/**
 * Passes the output of a node to a listener, and its decisions if they are to be explained; returns
 * a function that ends that.
 */
export function tapNode(
  handle: NodeHandle,
  listener: (message: TapMessage) => void,
  options: TapOptions,
): () => void {
  const { name } = handle;
  const stop = handle.tapEdge.observe(tapObserver(name, listener, options));
  if (options.isExplaining !== true) return stop;
  const stopExplaining = handle.addExplainer(({ group, time, outcome, conditions }) => {
    if (!isWatched(group, options)) return;
    listener({ kind: 'why', edge: name, group: group.id, time, outcome, conditions });
  });
  return () => {
    stop();
    stopExplaining();
  };
}

/** Whether a tap observes the group: by its id, in which the measurement may be omitted. */
function isWatched(group: Group, options: TapOptions): boolean {
  const { group: wanted } = options;
  return wanted === undefined || group.id === wanted || group.id.endsWith(`\n${wanted}`);
}

/** An observer that passes the output of `nodeName` to a listener. */
function tapObserver(
  nodeName: string,
  listener: (message: TapMessage) => void,
  options: TapOptions,
): EdgeObserver {
  const wants = (group: Group): boolean => isWatched(group, options);
  return {
    point: (point: Point) => {
      if (!wants(point.group)) return;
      listener({
        kind: 'point',
        edge: nodeName,
        group: point.group.id,
        point: toOutputPoint(point),
      });
    },
    batch: (batch: Batch) => {
      if (!wants(batch.group)) return;
      listener({
        kind: 'batch',
        edge: nodeName,
        group: batch.group.id,
        name: batch.name,
        time: batch.time,
        points: batch.points.map((point) => toOutputPoint(point)),
        row: batchRow(batch),
      });
    },
    barrier: ({ group, time }: Barrier) => {
      if (wants(group)) listener({ kind: 'barrier', edge: nodeName, group: group.id, time });
    },
    deleteGroup: (group: Group) => {
      if (wants(group)) listener({ kind: 'delete-group', edge: nodeName, group: group.id });
    },
  };
}
