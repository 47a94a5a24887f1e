import { textOf } from '../../dashboards/fields.ts';
import { texts } from '../../texts/texts.ts';
import type { Kind } from '../kind.ts';
import { check, text } from '../option.ts';

const t = texts.cells;

export const NOTE = text(
  {
    name: 'note',
    label: t.note,
    hint: t.noteHint,
    grafanaPaths: ['options.content', 'content'],
    fromGrafana: ({ panel, options }) => textOf(options['content'], textOf(panel['content'])),
    fromChronograf: (cell) => textOf(cell['note']),
  },
  '',
  8,
);

export const IS_HTML = check({
  name: 'isHtml',
  label: t.noteIsHtml,
  grafanaPaths: ['options.mode', 'mode'],
  fromGrafana: ({ panel, options }) =>
    textOf(options['mode'], textOf(panel['mode'])) === 'html' ? true : undefined,
});

export const note: Kind = {
  id: 'note',
  title: t.kinds.note,
  isScrolling: true,
  options: [NOTE, IS_HTML],
  isGrafana: ({ type }) => type === 'text',
  isChronograf: ({ type }) => type === 'note',
  load: () => import('./drawing.tsx'),
};
