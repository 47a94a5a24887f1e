// ec2Autoscale: sets the desired capacity of an EC2 auto scaling group.
import { defineNode } from '../definition/node-definition.ts';
import { stringOption } from '../definition/option.ts';
import {
  ALL_SCALED,
  checkReplicas,
  scalerNeed,
  scalingOptions,
  validateScaling,
} from '../node-parts/autoscale.ts';

export const ec2AutoscaleNode = defineNode({
  type: 'ec2Autoscale',
  label: 'ec2_autoscale',
  className: 'Ec2AutoscaleNode',
  category: 'output',
  summary: 'sets the desired capacity of an EC2 auto scaling group',
  wants: 'any',
  provides: 'stream',
  split: ALL_SCALED,
  options: {
    ...scalingOptions,
    groupName: stringOption('groupName', 'name of the group'),
    groupNameTag: stringOption('groupNameTag', 'tag that holds the name of the group'),
    outputGroupNameTag: stringOption('outputGroupNameTag', 'tag of the result for the name'),
  },
  validate: (options) =>
    validateScaling(options, {
      name: options.groupName,
      tag: options.groupNameTag,
      what: 'GroupName',
    }),
  checkStart: checkReplicas,
  effects: scalerNeed('ec2'),
});
