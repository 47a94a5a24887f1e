import { texts } from '../../texts/texts.ts';
import type { Kind } from '../kind.ts';
import { LINK } from '../options/common.ts';
import { THRESHOLDS } from '../options/levels.ts';
import { OVERRIDES } from '../options/overrides.ts';
import { TRANSFORMATIONS } from '../options/transformations.ts';
import { DECIMALS, MAPPINGS, NO_VALUE, UNIT } from '../options/values.ts';

const OF_GRAFANA = ['table', 'table-old'];

export const table: Kind = {
  id: 'table',
  title: texts.cells.kinds.table,
  draws: 'rows',
  isScrolling: true,
  options: [UNIT, DECIMALS, NO_VALUE, LINK, MAPPINGS, THRESHOLDS, OVERRIDES, TRANSFORMATIONS],
  isGrafana: ({ type }) => OF_GRAFANA.includes(type),
  isChronograf: ({ type }) => type === 'table',
  load: () => import('./drawing.tsx'),
};
