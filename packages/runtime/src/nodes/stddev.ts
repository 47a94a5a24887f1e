// stddev: standard deviation of a sample.
import { stddevNode } from '@tidemark/pipeline';
import { implement } from '../implement.ts';
import type { Aggregate } from '../influxql/aggregate.ts';
import { NUMBERS, one } from '../influxql/aggregate.ts';
import { AggregateNode } from '../node-parts/aggregate-node.ts';

const aggregate: Aggregate = {
  types: NUMBERS,
  apply: ({ values }) => {
    const numbers = Float64Array.from(values, Number);
    if (numbers.length < 2) return one(0, 'float');
    let average = 0;
    for (const [i, value] of numbers.entries()) average += (value - average) / (i + 1);
    let squares = 0;
    for (const value of numbers) squares += (value - average) ** 2;
    return one(Math.sqrt(squares / (numbers.length - 1)), 'float');
  },
};

export const runningStddev = implement(stddevNode, (ctx) => new AggregateNode(ctx, aggregate));
