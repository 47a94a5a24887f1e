import { texts } from '../../texts/texts.ts';
import type { Kind } from '../kind.ts';
import { chartFormOf } from '../lines/grafana.ts';
import { LINE_OPTIONS } from '../lines/options.ts';

export const scatter: Kind = {
  id: 'scatter',
  title: texts.cells.kinds.scatter,
  draws: 'numbers',
  isScrolling: true,
  options: LINE_OPTIONS,
  isGrafana: (panel) => chartFormOf(panel) === 'scatter',
  load: () => import('../lines/drawing.tsx'),
};
