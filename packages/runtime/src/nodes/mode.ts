// mode: most frequent value.
import { modeNode } from '@tidemark/pipeline';
import type { Value } from '../data/schema.ts';
import { implement } from '../implement.ts';
import type { Aggregate } from '../influxql/aggregate.ts';
import { NUMBERS, compareValues, one } from '../influxql/aggregate.ts';
import { AggregateNode } from '../node-parts/aggregate-node.ts';

/**
 * Most frequent value; the first of equally frequent ones, unless all are single: then the
 * smallest.
 */
const aggregate: Aggregate = {
  types: NUMBERS,
  apply: ({ values }) => {
    const counts = new Map<Value, number>();
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
    let best: Value = null;
    let bestCount = 0;
    for (const [value, count] of counts) {
      const isSmaller = count === 1 && bestCount === 1 && compareValues(value, best) < 0;
      if (count > bestCount || isSmaller) [best, bestCount] = [value, count];
    }
    return one(best);
  },
};

export const runningMode = implement(modeNode, (ctx) => new AggregateNode(ctx, aggregate));
