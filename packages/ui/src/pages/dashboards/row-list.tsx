// A list of items with fields, which can be added and removed.
import type { ComponentChildren } from 'preact';

import { Button, IconButton } from '../../design/button.tsx';
import { texts } from '../../texts/texts.ts';

export function RowList<T extends object>({
  title,
  itemTitle,
  add,
  items,
  newItem,
  onChange,
  children,
}: {
  readonly title: string;
  /** The title of the item with a number. */
  readonly itemTitle: (number: number) => string;
  readonly add: string;
  readonly items: readonly T[];
  readonly newItem: T;
  readonly onChange: (items: readonly T[]) => void;
  readonly children: (item: T, change: (changed: Partial<T>) => void) => ComponentChildren;
}) {
  return (
    <fieldset class="chips-field stack">
      <legend>{title}</legend>
      {items.map((item, at) => (
        <div key={at} class="form-grid" role="group" aria-label={itemTitle(at + 1)}>
          {children(item, (changed) => onChange(items.with(at, { ...item, ...changed })))}
          <IconButton
            isSmall
            icon="trash"
            label={texts.dashboards.removeIt(itemTitle(at + 1))}
            onClick={() => onChange(items.toSpliced(at, 1))}
          />
        </div>
      ))}
      <div class="row">
        <Button isSmall icon="plus" onClick={() => onChange([...items, newItem])}>
          {add}
        </Button>
      </div>
    </fieldset>
  );
}
