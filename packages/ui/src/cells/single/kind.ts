import { fieldAt } from '../../dashboards/fields.ts';
import { texts } from '../../texts/texts.ts';
import type { Kind } from '../kind.ts';
import { check } from '../option.ts';
import { CALC } from '../options/calc.ts';
import { THRESHOLDS } from '../options/levels.ts';
import { OVERRIDES } from '../options/overrides.ts';
import { TRANSFORMATIONS } from '../options/transformations.ts';
import { DECIMALS, MAPPINGS, NO_VALUE, PREFIX, SUFFIX, UNIT } from '../options/values.ts';

/** Shows the course of the value. */
export const HAS_TREND = check(
  {
    name: 'hasTrend',
    label: texts.cells.hasTrend,
    grafanaPaths: ['options.graphMode', 'sparkline.show'],
    fromGrafana: ({ panel, options }) => {
      const shown = fieldAt(panel, 'sparkline', 'show');
      return options['graphMode'] === 'none' || shown === false ? false : undefined;
    },
  },
  true,
);

export const single: Kind = {
  id: 'single',
  title: texts.cells.kinds.single,
  draws: 'numbers',
  options: [
    UNIT,
    DECIMALS,
    CALC,
    PREFIX,
    SUFFIX,
    NO_VALUE,
    HAS_TREND,
    MAPPINGS,
    THRESHOLDS,
    OVERRIDES,
    TRANSFORMATIONS,
  ],
  isGrafana: ({ type, panel }) =>
    type === 'stat' || (type === 'singlestat' && fieldAt(panel, 'gauge', 'show') !== true),
  isChronograf: ({ type }) => type === 'single-stat',
  load: () => import('./drawing.tsx'),
};
