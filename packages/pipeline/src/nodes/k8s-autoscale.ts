// k8sAutoscale: sets the number of replicas of a Kubernetes resource.
import { didYouMean } from '../evaluate/hints.ts';
import { defineNode } from '../definition/node-definition.ts';
import { stringOption } from '../definition/option.ts';
import {
  ALL_SCALED,
  checkReplicas,
  scalerNeed,
  scalingOptions,
  validateScaling,
} from '../node-parts/autoscale.ts';

const KINDS = ['deployments', 'replicasets', 'replicationcontrollers'];

export const k8sAutoscaleNode = defineNode({
  type: 'k8sAutoscale',
  label: 'k8s_autoscale',
  className: 'K8sAutoscaleNode',
  category: 'output',
  summary: 'sets the number of replicas of a Kubernetes resource',
  wants: 'any',
  provides: 'stream',
  split: ALL_SCALED,
  options: {
    ...scalingOptions,
    namespace: stringOption('namespace', 'namespace; the configured one if not given'),
    kind: stringOption('kind', 'deployments, replicasets or replicationcontrollers', 'deployments'),
    resourceName: stringOption('resourceName', 'name of the resource'),
    resourceNameTag: stringOption('resourceNameTag', 'tag that holds the name of the resource'),
    namespaceTag: stringOption('namespaceTag', 'tag of the result for the namespace', 'namespace'),
    kindTag: stringOption('kindTag', 'tag of the result for the kind', 'kind'),
    resourceTag: stringOption('resourceTag', 'tag of the result for the name', 'resource'),
  },
  validate: (options) => {
    const { resourceName: name, resourceNameTag: tag, kind } = options;
    if (KINDS.includes(kind)) return validateScaling(options, { name, tag, what: 'ResourceName' });
    return {
      text: `invalid kind ${kind}`,
      properties: ['kind'],
      found: kind,
      expected: KINDS,
      hint: didYouMean(kind, KINDS),
    };
  },
  checkStart: checkReplicas,
  effects: scalerNeed('k8s'),
});
