// percentile: the point whose value is greater than that share of the values.
import { percentileNode } from '@tidemark/pipeline';
import { implement } from '../implement.ts';
import { percentile } from '../influxql/percentile.ts';
import { AggregateNode } from '../node-parts/aggregate-node.ts';

export const runningPercentile = implement(
  percentileNode,
  (ctx) => new AggregateNode(ctx, percentile(ctx.options.percentile)),
);
