import { texts } from '../../texts/texts.ts';
import type { Kind } from '../kind.ts';
import { THRESHOLDS } from '../options/levels.ts';
import { OVERRIDES } from '../options/overrides.ts';
import { TRANSFORMATIONS } from '../options/transformations.ts';
import { DECIMALS, MAPPINGS, UNIT } from '../options/values.ts';

const OF_GRAFANA = ['state-timeline', 'status-history', 'natel-discrete-panel'];

export const states: Kind = {
  id: 'states',
  title: texts.cells.kinds.states,
  draws: 'rows',
  options: [UNIT, DECIMALS, MAPPINGS, THRESHOLDS, OVERRIDES, TRANSFORMATIONS],
  isGrafana: ({ type }) => OF_GRAFANA.includes(type),
  load: () => import('./drawing.tsx'),
};
