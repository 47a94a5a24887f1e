// count: number of values.
import { countNode } from '@tidemark/pipeline';
import { implement } from '../implement.ts';
import type { Aggregate } from '../influxql/aggregate.ts';
import { ANY, one } from '../influxql/aggregate.ts';
import { AggregateNode } from '../node-parts/aggregate-node.ts';

const aggregate: Aggregate = {
  types: ANY,
  empty: { type: 'int', value: 0n },
  emptyAfterErrors: { type: 'int', value: 0n },
  apply: ({ values }) => one(BigInt(values.length), 'int'),
};

export const runningCount = implement(countNode, (ctx) => new AggregateNode(ctx, aggregate));
