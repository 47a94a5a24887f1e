// holtWintersWithFit: forecast together with the fitted values.
import { durationArgument, integerArgument } from '../definition/option.ts';
import { defineFunction, FIELD } from '../node-parts/function-node.ts';

export const holtWintersWithFitNode = defineFunction({
  type: 'holtWintersWithFit',
  // Both forecasts carry the same name, as recorded.
  label: 'holtWinters',
  summary: 'forecast together with the fitted values',
  provides: 'batch',
  options: {
    field: FIELD,
    forecastCount: integerArgument('forecastCount'),
    season: integerArgument('season'),
    intervalNanos: durationArgument('interval'),
  },
});
