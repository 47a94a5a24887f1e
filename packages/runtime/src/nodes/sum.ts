// sum: sum.
import { wrapInteger } from '@tidemark/core';
import { sumNode } from '@tidemark/pipeline';
import { implement } from '../implement.ts';
import type { Aggregate } from '../influxql/aggregate.ts';
import { NUMBERS, one, sum } from '../influxql/aggregate.ts';
import { AggregateNode } from '../node-parts/aggregate-node.ts';

const aggregate: Aggregate = {
  types: NUMBERS,
  empty: { type: 'float', value: 0 },
  emptyAfterErrors: { type: 'float', value: 0 },
  apply: (samples) => {
    const total = sum(samples);
    return one(typeof total === 'bigint' ? wrapInteger('integer', total) : total);
  },
};

export const runningSum = implement(sumNode, (ctx) => new AggregateNode(ctx, aggregate));
