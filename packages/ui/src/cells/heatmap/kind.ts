import { texts } from '../../texts/texts.ts';
import type { Kind } from '../kind.ts';
import { OVERRIDES } from '../options/overrides.ts';
import { TRANSFORMATIONS } from '../options/transformations.ts';
import { DECIMALS, UNIT } from '../options/values.ts';

export const heatmap: Kind = {
  id: 'heatmap',
  title: texts.cells.kinds.heatmap,
  draws: 'numbers',
  isScrolling: true,
  options: [UNIT, DECIMALS, OVERRIDES, TRANSFORMATIONS],
  isGrafana: ({ type }) => type === 'heatmap',
  load: () => import('./drawing.tsx'),
};
