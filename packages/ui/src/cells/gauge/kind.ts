import { fieldAt, fieldsOf, listOf, numberOf } from '../../dashboards/fields.ts';
import type { Fields } from '../../dashboards/fields.ts';
import { texts } from '../../texts/texts.ts';
import type { Kind } from '../kind.ts';
import { number } from '../option.ts';
import { CALC } from '../options/calc.ts';
import { ARE_SHARES, THRESHOLDS } from '../options/levels.ts';
import { OVERRIDES } from '../options/overrides.ts';
import { TRANSFORMATIONS } from '../options/transformations.ts';
import { DECIMALS, MAPPINGS, NO_VALUE, PREFIX, SUFFIX, UNIT } from '../options/values.ts';

/** Chronograf stores the ends of a gauge among its colours. */
function endOf(cell: Fields, name: string): number | undefined {
  const found = listOf(cell['colors'])
    .map(fieldsOf)
    .find(({ type }) => type === name);
  return found === undefined ? undefined : numberOf(Number(found['value']), undefined);
}

export const MIN = number(
  {
    name: 'min',
    label: texts.cells.min,
    grafanaPaths: ['defaults.min', 'gauge.minValue', 'options.fieldOptions.defaults.min'],
    fromGrafana: ({ panel, defaults, options }) =>
      numberOf(
        defaults['min'],
        numberOf(
          fieldAt(options, 'fieldOptions', 'defaults', 'min'),
          numberOf(fieldAt(panel, 'gauge', 'minValue'), undefined),
        ),
      ),
    fromChronograf: (cell) => endOf(cell, 'min'),
  },
  0,
);

export const MAX = number(
  {
    name: 'max',
    label: texts.cells.max,
    grafanaPaths: ['defaults.max', 'gauge.maxValue', 'options.fieldOptions.defaults.max'],
    fromGrafana: ({ panel, defaults, options }) =>
      numberOf(
        defaults['max'],
        numberOf(
          fieldAt(options, 'fieldOptions', 'defaults', 'max'),
          numberOf(fieldAt(panel, 'gauge', 'maxValue'), undefined),
        ),
      ),
    fromChronograf: (cell) => endOf(cell, 'max'),
  },
  100,
);

export const gauge: Kind = {
  id: 'gauge',
  title: texts.cells.kinds.gauge,
  draws: 'numbers',
  options: [
    UNIT,
    DECIMALS,
    CALC,
    MIN,
    MAX,
    PREFIX,
    SUFFIX,
    NO_VALUE,
    MAPPINGS,
    THRESHOLDS,
    ARE_SHARES,
    OVERRIDES,
    TRANSFORMATIONS,
  ],
  isGrafana: ({ type, panel }) =>
    type === 'gauge' || (type === 'singlestat' && fieldAt(panel, 'gauge', 'show') === true),
  isChronograf: ({ type }) => type === 'gauge',
  load: () => import('./drawing.tsx'),
};
