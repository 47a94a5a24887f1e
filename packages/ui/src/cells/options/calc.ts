// Which number of many a single value shows.
import type { Calc } from '../../charts/calc.ts';
import { fieldAt, listOf, textOf } from '../../dashboards/fields.ts';
import { texts } from '../../texts/texts.ts';
import { choice } from '../option.ts';

const t = texts.cells;

/** Their names in all versions of Grafana. */
const NAMES: Readonly<Record<string, Calc>> = {
  last: 'last',
  lastNotNull: 'last',
  current: 'last',
  first: 'first',
  firstNotNull: 'first',
  min: 'min',
  max: 'max',
  mean: 'mean',
  avg: 'mean',
  median: 'median',
  sum: 'sum',
  total: 'sum',
  count: 'count',
  range: 'range',
  diff: 'difference',
  delta: 'increase',
  diffperc: 'percent-change',
  logmin: 'positive-min',
  stdDev: 'deviation',
  variance: 'variance',
  distinctCount: 'distinct',
  changeCount: 'changes',
};

export const calcOfGrafana = (name: string): Calc | undefined =>
  Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;

export const CALC = choice<Calc>(
  {
    name: 'calc',
    grafanaPaths: ['options.reduceOptions.calcs', 'options.fieldOptions.calcs', 'valueName'],
    label: t.calc,
    fromGrafana: ({ panel, options }) => {
      const [newer] = listOf(fieldAt(options, 'reduceOptions', 'calcs'));
      const [early] = listOf(fieldAt(options, 'fieldOptions', 'calcs'));
      const name = textOf(newer, textOf(early, textOf(panel['valueName'])));
      return calcOfGrafana(name === '' && panel['type'] === 'singlestat' ? 'avg' : name);
    },
  },
  t.calcs,
  'last',
);
