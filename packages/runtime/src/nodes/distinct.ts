// distinct: distinct values.
import { distinctNode } from '@tidemark/pipeline';
import type { Value } from '../data/schema.ts';
import { implement } from '../implement.ts';
import type { Aggregate } from '../influxql/aggregate.ts';
import { ANY, compareAt, compareValues, timeAt } from '../influxql/aggregate.ts';
import { AggregateNode } from '../node-parts/aggregate-node.ts';

/** One result per distinct value, in order of first appearance in time. */
const aggregate: Aggregate = {
  types: ANY,
  isMany: true,
  apply: (samples) => {
    const firstOf = new Map<Value, number>();
    for (const [i, value] of samples.values.entries()) {
      const known = firstOf.get(value);
      if (known === undefined || timeAt(samples, i) < timeAt(samples, known)) firstOf.set(value, i);
    }
    const indexes = [...firstOf.values()].sort(
      (a, b) => compareValues(timeAt(samples, a), timeAt(samples, b)) || compareAt(samples, a, b),
    );
    return indexes.map((index) => ({
      value: samples.values[index] ?? null,
      index,
      isAtPoint: true,
    }));
  },
};

export const runningDistinct = implement(distinctNode, (ctx) => new AggregateNode(ctx, aggregate));
