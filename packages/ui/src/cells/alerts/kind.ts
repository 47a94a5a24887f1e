import { texts } from '../../texts/texts.ts';
import type { Kind } from '../kind.ts';
import { text } from '../option.ts';

export const TOPIC = text({ name: 'topic', label: texts.cells.topic }, '*');

export const alerts: Kind = {
  id: 'alerts',
  title: texts.cells.kinds.alerts,
  options: [TOPIC],
  isGrafana: ({ type }) => type === 'alertlist',
  isChronograf: ({ type }) => type === 'alerts',
  load: () => import('./drawing.tsx'),
};
