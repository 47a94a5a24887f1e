// k8sAutoscale: sets the number of replicas of a Kubernetes resource.
import { k8sAutoscaleNode } from '@tidemark/pipeline';
import { kubernetesScaler } from '../autoscale/scaler.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import { AutoscaleNode, nameOf } from '../node-parts/autoscale-node.ts';

export const runningK8sAutoscale = implement(k8sAutoscaleNode, createK8sAutoscale);

function createK8sAutoscale(ctx: ContextOf<typeof k8sAutoscaleNode>): RunningNode {
  const { options } = ctx;
  return new AutoscaleNode(ctx, {
    kind: 'k8s',
    scaler: kubernetesScaler,
    resource: (point) => {
      const name = nameOf(point, options.resourceName, options.resourceNameTag);
      if (name === undefined) return `tag ${options.resourceNameTag} is missing from point`;
      return { namespace: options.namespace, kind: options.kind, name };
    },
    outputTags: ({ namespace, kind, name }) => [
      [options.namespaceTag, namespace],
      [options.kindTag, kind],
      [options.resourceTag, name],
    ],
  });
}
