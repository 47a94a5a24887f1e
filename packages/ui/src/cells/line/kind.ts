import { textOf } from '../../dashboards/fields.ts';
import { texts } from '../../texts/texts.ts';
import type { Kind } from '../kind.ts';
import { chartFormOf } from '../lines/grafana.ts';
import { LINE_OPTIONS } from '../lines/options.ts';

const OF_CHRONOGRAF = ['line', 'line-stepplot', 'line-plus-single-stat'];

export const line: Kind = {
  id: 'line',
  title: texts.cells.kinds.line,
  draws: 'numbers',
  isScrolling: true,
  options: LINE_OPTIONS,
  isGrafana: (panel) => chartFormOf(panel) === 'line',
  isChronograf: (cell) => OF_CHRONOGRAF.includes(textOf(cell['type'], 'line')),
  load: () => import('../lines/drawing.tsx'),
};
