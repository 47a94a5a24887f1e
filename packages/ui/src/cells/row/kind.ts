import { texts } from '../../texts/texts.ts';
import type { Kind } from '../kind.ts';
import { check } from '../option.ts';

export const IS_FOLDED = check({
  name: 'isFolded',
  label: texts.cells.isFolded,
  grafanaPaths: ['collapsed', 'collapse'],
  fromGrafana: ({ panel }) =>
    panel['collapsed'] === true || panel['collapse'] === true ? true : undefined,
});

/** A heading of the cells below it, which it can hide. The grid draws it. */
export const row: Kind = {
  id: 'row',
  title: texts.cells.kinds.row,
  options: [IS_FOLDED],
  isGrafana: ({ type }) => type === 'row',
  load: () => import('./drawing.tsx'),
};
