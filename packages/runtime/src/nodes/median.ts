// median: middle value.
import { medianNode } from '@tidemark/pipeline';
import { implement } from '../implement.ts';
import type { Aggregate } from '../influxql/aggregate.ts';
import { NUMBERS, compareValues, one } from '../influxql/aggregate.ts';
import { AggregateNode } from '../node-parts/aggregate-node.ts';

const aggregate: Aggregate = {
  types: NUMBERS,
  apply: ({ values }) => {
    const sorted = [...values].sort(compareValues);
    const middle = sorted.length >> 1;
    const high = sorted[middle] ?? null;
    if (sorted.length % 2 === 1) return one(Number(high), 'float');
    const low = sorted[middle - 1] ?? null;
    // As recorded: the lower middle plus half of the difference.
    return one(Number(low) + (Number(high) - Number(low)) / 2, 'float');
  },
};

export const runningMedian = implement(medianNode, (ctx) => new AggregateNode(ctx, aggregate));
