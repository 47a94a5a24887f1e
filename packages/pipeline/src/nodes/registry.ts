// All nodes that scripts can make, one row each. Names are found with their first letter in either
// case.
import type { NodeRow } from '../node-definition.ts';
import { alertNode } from './alert.ts';
import { ec2AutoscaleNode, k8sAutoscaleNode, swarmAutoscaleNode } from './autoscale.ts';
import { barrierNode } from './barrier.ts';
import { batchNode } from './batch.ts';
import { changeDetectNode } from './change-detect.ts';
import { combineNode } from './combine.ts';
import { defaultNode } from './default.ts';
import { deleteNode } from './delete.ts';
import { derivativeNode } from './derivative.ts';
import { evalNode } from './eval.ts';
import { flattenNode } from './flatten.ts';
import { fromNode } from './from.ts';
import { groupByNode } from './group-by.ts';
import { httpOutNode } from './http-out.ts';
import { httpPostNode } from './http-post.ts';
import { influxdbOutNode } from './influxdb-out.ts';
import { influxqlNodes } from './influxql.ts';
import { joinNode } from './join.ts';
import { kapacitorLoopbackNode } from './kapacitor-loopback.ts';
import { logNode } from './log.ts';
import { noOpNode } from './no-op.ts';
import { queryNode } from './query.ts';
import { sampleNode } from './sample.ts';
import { shiftNode } from './shift.ts';
import { sideloadNode } from './sideload.ts';
import { stateCountNode } from './state-count.ts';
import { stateDurationNode } from './state-duration.ts';
import { statsNode } from './stats.ts';
import { streamNode } from './stream.ts';
import { trickleNode } from './trickle.ts';
import { unionNode } from './union.ts';
import { whereNode } from './where.ts';
import { windowNode } from './window.ts';

/** Every node type; user-defined functions come on top of them. */
export const NODES: readonly NodeRow[] = [
  streamNode,
  batchNode,
  fromNode,
  queryNode,
  windowNode,
  groupByNode,
  whereNode,
  evalNode,
  defaultNode,
  deleteNode,
  shiftNode,
  sampleNode,
  derivativeNode,
  changeDetectNode,
  stateDurationNode,
  stateCountNode,
  ...influxqlNodes,
  combineNode,
  flattenNode,
  joinNode,
  unionNode,
  barrierNode,
  sideloadNode,
  trickleNode,
  statsNode,
  noOpNode,
  logNode,
  httpOutNode,
  httpPostNode,
  influxdbOutNode,
  kapacitorLoopbackNode,
  alertNode,
  k8sAutoscaleNode,
  swarmAutoscaleNode,
  ec2AutoscaleNode,
];

const byType: ReadonlyMap<string, NodeRow> = new Map(NODES.map((row) => [row.type, row]));

export function findNode(type: string): NodeRow | undefined {
  return byType.get(type);
}
