// ec2Autoscale: sets the desired capacity of an EC2 auto scaling group.
import { ec2AutoscaleNode } from '@tidemark/pipeline';
import { ec2Scaler } from '../autoscale/scaler.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import { AutoscaleNode, nameOf } from '../node-parts/autoscale-node.ts';

export const runningEc2Autoscale = implement(ec2AutoscaleNode, createEc2Autoscale);

function createEc2Autoscale(ctx: ContextOf<typeof ec2AutoscaleNode>): RunningNode {
  const { options } = ctx;
  return new AutoscaleNode(ctx, {
    kind: 'ec2',
    scaler: ec2Scaler,
    resource: (point) => {
      const name = nameOf(point, options.groupName, options.groupNameTag);
      if (name === undefined) return `tag ${options.groupNameTag} is missing from point`;
      return { namespace: '', kind: '', name };
    },
    outputTags: ({ name }) => [[options.outputGroupNameTag, name]],
  });
}
