// swarmAutoscale: sets the number of replicas of a Docker Swarm service.
import { swarmAutoscaleNode } from '@tidemark/pipeline';
import { swarmScaler } from '../autoscale/scaler.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import { AutoscaleNode, nameOf } from '../node-parts/autoscale-node.ts';

export const runningSwarmAutoscale = implement(swarmAutoscaleNode, createSwarmAutoscale);

function createSwarmAutoscale(ctx: ContextOf<typeof swarmAutoscaleNode>): RunningNode {
  const { options } = ctx;
  return new AutoscaleNode(ctx, {
    kind: 'swarm',
    scaler: swarmScaler,
    resource: (point) => {
      const name = nameOf(point, options.serviceName, options.serviceNameTag);
      if (name === undefined) return `tag ${options.serviceNameTag} is missing from point`;
      return { namespace: '', kind: '', name };
    },
    outputTags: ({ name }) => [[options.outputServiceNameTag, name]],
  });
}
