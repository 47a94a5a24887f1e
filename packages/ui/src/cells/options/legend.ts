// The position of the legend, and the figures in it.
import { fieldAt, fieldsOf, listOf, textOf } from '../../dashboards/fields.ts';
import { texts } from '../../texts/texts.ts';
import { check, choice } from '../option.ts';
import type { GrafanaPanel, OptionRow } from '../option.ts';
import { isCalc } from '../../charts/calc.ts';
import type { Calc } from '../../charts/calc.ts';
import { calcOfGrafana } from './calc.ts';

const t = texts.cells;

export const HAS_LEGEND = check(
  {
    name: 'hasLegend',
    group: 'legend',
    grafanaPaths: ['options.legend.showLegend', 'legend.show'],
    label: t.hasLegend,
    fromGrafana: ({ panel, options }) => {
      const { showLegend, displayMode } = fieldsOf(options['legend']);
      const isHidden =
        showLegend === false ||
        displayMode === 'hidden' ||
        fieldAt(panel, 'legend', 'show') === false;
      return isHidden ? false : undefined;
    },
    fromChronograf: (cell) =>
      Object.keys(fieldsOf(cell['legend'])).length === 0 ? undefined : true,
  },
  true,
);

export const LEGEND_FORM = choice(
  {
    name: 'legendForm',
    group: 'legend',
    grafanaPaths: ['options.legend.displayMode', 'legend.alignAsTable', 'legend.values'],
    label: t.legendForm,
    fromGrafana: ({ panel, options }) => {
      const { displayMode } = fieldsOf(options['legend']);
      const old = fieldsOf(panel['legend']);
      const isTable = displayMode === 'table' || old['alignAsTable'] === true;
      return isTable || old['values'] === true ? 'table' : undefined;
    },
  },
  { list: t.legendForms.list, table: t.legendForms.table },
  'list',
);

export const LEGEND_SIDE = choice(
  {
    name: 'legendSide',
    group: 'legend',
    grafanaPaths: ['options.legend.placement', 'legend.rightSide'],
    label: t.legendSide,
    fromGrafana: ({ panel, options }) => {
      const isRight =
        fieldAt(options, 'legend', 'placement') === 'right' ||
        fieldAt(panel, 'legend', 'rightSide') === true;
      return isRight ? 'right' : undefined;
    },
    fromChronograf: (cell) =>
      fieldAt(cell, 'legend', 'orientation') === 'right' ? 'right' : undefined,
  },
  { bottom: t.legendSides.bottom, right: t.legendSides.right },
  'bottom',
);

/** Aggregates shown in the table; none means all. */
export const LEGEND_CALCS: OptionRow<readonly Calc[]> = {
  name: 'legendCalcs',
  group: 'legend',
  grafanaPaths: [
    'options.legend.calcs',
    'legend.min',
    'legend.max',
    'legend.avg',
    'legend.current',
    'legend.total',
  ],
  label: t.legendCalcs,
  editor: { kind: 'calcs' },
  read: (value) => listOf(value).filter(isCalc),
  fromGrafana: (panel) => {
    const found = calcsOf(panel);
    return found.length === 0 ? undefined : found;
  },
};

const LEGACY = ['min', 'max', 'avg', 'current', 'total'];

function calcsOf({ panel, options }: GrafanaPanel): readonly Calc[] {
  const newer = listOf(fieldAt(options, 'legend', 'calcs')).map((each) => textOf(each));
  const old = fieldsOf(panel['legend']);
  const named = [...newer, ...LEGACY.filter((name) => old[name] === true)];
  return [...new Set(named.flatMap((name) => calcOfGrafana(name) ?? []))];
}
