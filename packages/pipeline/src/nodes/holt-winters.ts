// holtWinters: forecast.
import { durationArgument, integerArgument } from '../definition/option.ts';
import { defineFunction, FIELD } from '../node-parts/function-node.ts';

export const holtWintersNode = defineFunction({
  type: 'holtWinters',
  summary: 'forecast',
  provides: 'batch',
  options: {
    field: FIELD,
    forecastCount: integerArgument('forecastCount'),
    season: integerArgument('season'),
    intervalNanos: durationArgument('interval'),
  },
});
