// swarmAutoscale: sets the number of replicas of a Docker Swarm service.
import { defineNode } from '../definition/node-definition.ts';
import { stringOption } from '../definition/option.ts';
import {
  ALL_SCALED,
  checkReplicas,
  scalerNeed,
  scalingOptions,
  validateScaling,
} from '../node-parts/autoscale.ts';

export const swarmAutoscaleNode = defineNode({
  type: 'swarmAutoscale',
  label: 'swarm_autoscale',
  className: 'SwarmAutoscaleNode',
  category: 'output',
  summary: 'sets the number of replicas of a Docker Swarm service',
  wants: 'any',
  provides: 'stream',
  split: ALL_SCALED,
  options: {
    ...scalingOptions,
    serviceName: stringOption('serviceName', 'name of the service'),
    serviceNameTag: stringOption('serviceNameTag', 'tag that holds the name of the service'),
    outputServiceNameTag: stringOption('outputServiceNameTag', 'tag of the result for the name'),
  },
  validate: (options) =>
    validateScaling(options, {
      name: options.serviceName,
      tag: options.serviceNameTag,
      what: 'ServiceName',
    }),
  checkStart: checkReplicas,
  effects: scalerNeed('swarm'),
});
