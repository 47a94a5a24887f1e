// A cell or a row for each value of a variable.
import { numberOf, textOf } from '../../dashboards/fields.ts';
import { texts } from '../../texts/texts.ts';
import { choice, number, text } from '../option.ts';

const t = texts.cells;

export const REPEAT = text({
  name: 'repeat',
  group: 'cell',
  grafanaPaths: ['repeat'],
  label: t.repeat,
  hint: t.repeatHint,
  fromGrafana: ({ panel }) => textOf(panel['repeat']) || undefined,
});

export const REPEAT_DIRECTION = choice(
  {
    name: 'repeatDirection',
    group: 'cell',
    grafanaPaths: ['repeatDirection'],
    label: t.repeatDirection,
    fromGrafana: ({ panel }) => (panel['repeatDirection'] === 'v' ? 'down' : undefined),
  },
  t.repeatDirections,
  'across',
);

export const REPEAT_MAX = number(
  {
    name: 'repeatMax',
    group: 'cell',
    grafanaPaths: ['maxPerRow'],
    label: t.repeatMax,
    fromGrafana: ({ panel }) => numberOf(panel['maxPerRow'], undefined),
  },
  4,
);
