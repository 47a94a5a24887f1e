import { texts } from '../../texts/texts.ts';
import type { Kind } from '../kind.ts';
import { check } from '../option.ts';
import { chartFormOf } from '../lines/grafana.ts';
import { LINE_OPTIONS } from '../lines/options.ts';
import { CALC } from '../options/calc.ts';
import { MAPPINGS } from '../options/values.ts';

/** Panels that draw groups rather than times. */
const OF_GROUPS = ['bargauge', 'barchart', 'piechart', 'grafana-piechart-panel'];

/** One bar with one number for each series; otherwise bars over time, if there are times. */
export const IS_PER_SERIES = check({
  name: 'isPerSeries',
  label: texts.cells.isPerSeries,
  grafanaPaths: ['xaxis.mode', 'xaxis.values'],
  fromGrafana: ({ type, panel }) => {
    const { mode } = (panel['xaxis'] ?? {}) as { readonly mode?: unknown };
    return OF_GROUPS.includes(type) || mode === 'series' ? true : undefined;
  },
});

export const bar: Kind = {
  id: 'bar',
  title: texts.cells.kinds.bar,
  draws: 'numbers',
  options: [IS_PER_SERIES, CALC, MAPPINGS, ...LINE_OPTIONS],
  isGrafana: (panel) => chartFormOf(panel) === 'bar' || OF_GROUPS.includes(panel.type),
  isChronograf: ({ type }) => type === 'bar',
  load: () => import('./drawing.tsx'),
};
