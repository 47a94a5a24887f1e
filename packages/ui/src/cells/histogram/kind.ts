import { fieldAt, numberOf } from '../../dashboards/fields.ts';
import { texts } from '../../texts/texts.ts';
import type { Kind } from '../kind.ts';
import { number } from '../option.ts';
import { chartFormOf } from '../lines/grafana.ts';
import { OVERRIDES } from '../options/overrides.ts';
import { TRANSFORMATIONS } from '../options/transformations.ts';
import { DECIMALS, UNIT } from '../options/values.ts';

export const BUCKETS = number(
  {
    name: 'buckets',
    label: texts.cells.buckets,
    grafanaPaths: ['xaxis.buckets', 'xaxis.mode', 'options.bucketCount'],
    fromGrafana: ({ panel, options }) =>
      numberOf(options['bucketCount'], numberOf(fieldAt(panel, 'xaxis', 'buckets'), undefined)),
  },
  24,
);

export const histogram: Kind = {
  id: 'histogram',
  title: texts.cells.kinds.histogram,
  draws: 'numbers',
  isScrolling: true,
  options: [UNIT, DECIMALS, BUCKETS, OVERRIDES, TRANSFORMATIONS],
  isGrafana: (panel) => panel.type === 'histogram' || chartFormOf(panel) === 'histogram',
  load: () => import('./drawing.tsx'),
};
