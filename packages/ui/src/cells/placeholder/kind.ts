import { textOf } from '../../dashboards/fields.ts';
import { texts } from '../../texts/texts.ts';
import type { Kind } from '../kind.ts';
import type { OptionRow } from '../option.ts';

const t = texts.cells;

/** Characters of the original that a placeholder stores. */
const ORIGINAL_MAX = 100_000;

/** Why the cell cannot be drawn. */
export const REASON: OptionRow<string> = {
  name: 'reason',
  label: t.reason,
  editor: { kind: 'none' },
  read: (value) => textOf(value),
};

/** The imported original, as JSON. */
export const ORIGINAL: OptionRow<string> = {
  name: 'original',
  label: t.original,
  editor: { kind: 'none' },
  read: (value) => textOf(value).slice(0, ORIGINAL_MAX),
};

export const placeholder: Kind = {
  id: 'placeholder',
  title: t.kinds.placeholder,
  isScrolling: true,
  options: [REASON, ORIGINAL],
  load: () => import('./drawing.tsx'),
};
