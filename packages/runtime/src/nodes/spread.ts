// spread: largest minus smallest value.
import { wrapInteger } from '@tidemark/core';
import { spreadNode } from '@tidemark/pipeline';
import { implement } from '../implement.ts';
import type { Aggregate } from '../influxql/aggregate.ts';
import { NUMBERS, compareValues, one } from '../influxql/aggregate.ts';
import { AggregateNode } from '../node-parts/aggregate-node.ts';

const aggregate: Aggregate = {
  types: NUMBERS,
  apply: ({ values, type }) => {
    let min = values[0] ?? null;
    let max = min;
    for (const value of values) {
      if (compareValues(value, min) < 0) min = value;
      if (compareValues(value, max) > 0) max = value;
    }
    if (type === 'int') return one(wrapInteger('integer', (max as bigint) - (min as bigint)));
    return one((max as number) - (min as number));
  },
};

export const runningSpread = implement(spreadNode, (ctx) => new AggregateNode(ctx, aggregate));
