// last: the newest point.
import { lastNode } from '@tidemark/pipeline';
import { implement } from '../implement.ts';
import { ANY, compareAt, selector, timeAt } from '../influxql/aggregate.ts';
import { AggregateNode } from '../node-parts/aggregate-node.ts';

const aggregate = selector(ANY, (candidate, best, samples) => {
  const [a, b] = [timeAt(samples, candidate), timeAt(samples, best)];
  return a > b || (a === b && compareAt(samples, candidate, best) > 0);
});

export const runningLast = implement(lastNode, (ctx) => new AggregateNode(ctx, aggregate));
