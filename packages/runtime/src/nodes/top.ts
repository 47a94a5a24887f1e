// top: the points with the largest values.
import { topNode } from '@tidemark/pipeline';
import { implement } from '../implement.ts';
import { ranked } from '../influxql/ranked.ts';
import { AggregateNode } from '../node-parts/aggregate-node.ts';

export const runningTop = implement(topNode, (ctx) => {
  const { count, fieldsAndTags } = ctx.options;
  return new AggregateNode(ctx, ranked(Number(count), -1, fieldsAndTags));
});
