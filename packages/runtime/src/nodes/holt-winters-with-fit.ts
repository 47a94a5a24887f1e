// holtWintersWithFit: forecast together with the fitted values.
import { holtWintersWithFitNode } from '@tidemark/pipeline';
import { implement } from '../implement.ts';
import { forecastAggregate } from '../influxql/holt-winters.ts';
import { AggregateNode } from '../node-parts/aggregate-node.ts';

export const runningHoltWintersWithFit = implement(
  holtWintersWithFitNode,
  (ctx) => new AggregateNode(ctx, forecastAggregate(ctx.options, { withFit: true })),
);
