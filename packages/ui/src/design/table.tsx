// Tables of named items: tasks, databases, users. Rows of a result use another table
// (result-table.tsx).
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { Icon } from './icon.tsx';

export type TableColumn<Row> = {
  readonly label: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** The sort key when the column's head is pressed; without it the column does not sort. */
  readonly sortBy?: ((row: Row) => string | number) | undefined;
  readonly isNumber?: boolean | undefined;
  /** Buttons: at the right, with a hidden head. */
  readonly isActions?: boolean | undefined;
};

/** A table that sorts. `empty` is shown without rows. */
export function Table<Row>({
  label,
  columns,
  rows,
  rowKey,
  selectedKey,
  empty,
}: {
  readonly label: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  readonly selectedKey?: string | undefined;
  readonly empty?: ComponentChildren;
}) {
  const [order, setOrder] = useState<{ readonly index: number; readonly isDown: boolean }>();
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>;
  const by = order === undefined ? undefined : columns[order.index]?.sortBy;
  const sorted = by === undefined ? rows : rows.toSorted((a, b) => compare(by(a), by(b)));
  const shown = order?.isDown === true ? sorted.toReversed() : sorted;
  return (
    <div class="table-frame" role="group" aria-label={label} tabIndex={0}>
      <table class="table">
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th
                key={column.label}
                scope="col"
                class={column.isNumber === true ? 'number' : ''}
                aria-sort={
                  order?.index === index ? (order.isDown ? 'descending' : 'ascending') : undefined
                }
              >
                {column.isActions === true ? (
                  <span class="hidden-visually">{column.label}</span>
                ) : column.sortBy === undefined ? (
                  column.label
                ) : (
                  <button
                    type="button"
                    onClick={() =>
                      setOrder({ index, isDown: order?.index === index && !order.isDown })
                    }
                  >
                    {column.label}
                    {order?.index === index ? <Icon name={order.isDown ? 'down' : 'up'} /> : null}
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => {
            const key = rowKey(row);
            return (
              <tr key={key} class={key === selectedKey ? 'selected' : ''}>
                {columns.map((column) => {
                  const content = column.cell(row);
                  return (
                    <td key={column.label} class={cellClass(column, content)}>
                      {content}
                    </td>
                  );
                })}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** Times and names stay on one line: a table scrolls where it has no room. */
const LINE_LENGTH_MAX = 30;

function cellClass(
  { isNumber, isActions }: TableColumn<never>,
  content: ComponentChildren,
): string {
  if (isActions === true) return 'actions';
  if (isNumber === true) return 'number';
  return typeof content === 'string' && content.length <= LINE_LENGTH_MAX ? 'in-line' : '';
}

function compare(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a).localeCompare(String(b), undefined, { numeric: true });
}
