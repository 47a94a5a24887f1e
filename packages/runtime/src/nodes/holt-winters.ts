// holtWinters: forecast.
import { holtWintersNode } from '@tidemark/pipeline';
import { implement } from '../implement.ts';
import { forecastAggregate } from '../influxql/holt-winters.ts';
import { AggregateNode } from '../node-parts/aggregate-node.ts';

export const runningHoltWinters = implement(
  holtWintersNode,
  (ctx) => new AggregateNode(ctx, forecastAggregate(ctx.options, { withFit: false })),
);
