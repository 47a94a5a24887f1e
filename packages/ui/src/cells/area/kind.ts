import { texts } from '../../texts/texts.ts';
import type { Kind } from '../kind.ts';
import { chartFormOf } from '../lines/grafana.ts';
import { LINE_OPTIONS } from '../lines/options.ts';

export const area: Kind = {
  id: 'area',
  title: texts.cells.kinds.area,
  draws: 'numbers',
  isScrolling: true,
  options: LINE_OPTIONS,
  isGrafana: (panel) => chartFormOf(panel) === 'area',
  isChronograf: ({ type }) => type === 'line-stacked',
  load: () => import('../lines/drawing.tsx'),
};
