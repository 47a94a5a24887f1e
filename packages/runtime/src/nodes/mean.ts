// mean: arithmetic mean.
import { meanNode } from '@tidemark/pipeline';
import { implement } from '../implement.ts';
import type { Aggregate } from '../influxql/aggregate.ts';
import { NUMBERS, one, sum } from '../influxql/aggregate.ts';
import { AggregateNode } from '../node-parts/aggregate-node.ts';

const aggregate: Aggregate = {
  types: NUMBERS,
  apply: (samples) => one(Number(sum(samples)) / samples.values.length, 'float'),
};

export const runningMean = implement(meanNode, (ctx) => new AggregateNode(ctx, aggregate));
