// Rows of a result: dense, with all digits; only visible rows are drawn.
import type { Cell } from '@tidemark/client';
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';

const ROW_PIXELS = 22.75;
/** Rows drawn beyond both edges, so that scrolling shows no gaps. */
const SPARE_ROWS = 20;

/** A text, and its level: a class of its cell. */
export type Formatted = { readonly text: string; readonly level?: string | undefined };

export type ResultTableProps = {
  readonly label: string;
  readonly caption?: ComponentChildren;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  /** Formats a cell that is not shown as it is. */
  readonly format?: ((value: Cell, column: number) => string | Formatted) | undefined;
  /** The address that a cell leads to. */
  readonly hrefOf?: ((row: number, column: number) => string | undefined) | undefined;
  readonly height?: number | undefined;
};

/** A table that scrolls through any number of rows. */
export function ResultTable(props: ResultTableProps) {
  const { label, caption, columns, rows, height = 420, format = plain } = props;
  const frame = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const first = Math.max(0, Math.floor(top / ROW_PIXELS) - SPARE_ROWS);
  const last = Math.min(rows.length, first + Math.ceil(height / ROW_PIXELS) + SPARE_ROWS * 2);
  return (
    <div
      ref={frame}
      class="table-frame"
      role="group"
      aria-label={label}
      tabIndex={0}
      style={{ maxHeight: `${height}px` }}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <table class="table dense" aria-rowcount={rows.length}>
        {caption === undefined ? null : <caption>{caption}</caption>}
        <thead>
          <tr>
            {columns.map((column, i) => (
              <th key={i} scope="col" class={isNumeric(rows, i) ? 'number' : ''}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Spacer rowCount={first} columnCount={columns.length} />
          {rows.slice(first, last).map((row, i) => (
            <tr key={first + i}>
              {row.map((value, j) => {
                const shown = format(value, j);
                const href = props.hrefOf?.(first + i, j);
                const { text, level = '' } = typeof shown === 'string' ? { text: shown } : shown;
                return (
                  <td key={j} class={`${typeof value === 'string' ? '' : 'number'} ${level}`}>
                    {href === undefined || text === '' ? text : <a href={href}>{text}</a>}
                  </td>
                );
              })}
            </tr>
          ))}
          <Spacer rowCount={rows.length - last} columnCount={columns.length} />
        </tbody>
      </table>
    </div>
  );
}

function Spacer({
  rowCount,
  columnCount,
}: {
  readonly rowCount: number;
  readonly columnCount: number;
}) {
  if (rowCount <= 0) return null;
  return (
    <tr aria-hidden="true">
      <td colSpan={columnCount} style={{ height: `${rowCount * ROW_PIXELS}px`, padding: 0 }} />
    </tr>
  );
}

const plain = (value: Cell): string => (value === null ? '' : String(value));

function isNumeric(rows: ResultTableProps['rows'], column: number): boolean {
  const value = rows.find((row) => row[column] !== null)?.[column];
  return typeof value === 'number' || typeof value === 'bigint';
}
