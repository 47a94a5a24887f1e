// max: the point with the largest value.
import { maxNode } from '@tidemark/pipeline';
import { implement } from '../implement.ts';
import { NUMBERS, compareAt, selector, timeAt } from '../influxql/aggregate.ts';
import { AggregateNode } from '../node-parts/aggregate-node.ts';

const aggregate = selector(NUMBERS, (candidate, best, samples) => {
  const order = compareAt(samples, candidate, best);
  return order > 0 || (order === 0 && timeAt(samples, candidate) < timeAt(samples, best));
});

export const runningMax = implement(maxNode, (ctx) => new AggregateNode(ctx, aggregate));
