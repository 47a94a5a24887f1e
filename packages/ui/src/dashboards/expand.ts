// Expands cells for viewing: repeated rows and cells once for each value of their variable, and
// collapsed rows without their cells.
import { valueOf } from '../cells/option.ts';
import { REPEAT, REPEAT_DIRECTION, REPEAT_MAX } from '../cells/options/repeat.ts';
import { readingOrder, settled } from './layout.ts';
import { COLUMNS } from './model.ts';
import type { Cell } from './model.ts';
import { withValues } from './variables.ts';
import type { Chosen } from './variables.ts';

export type ShownCell = {
  readonly cell: Cell;
  /** The selected values for this copy: one value of the repeated variable. */
  readonly chosen: Chosen;
};

/** Copies of one cell: nobody looks through more. */
const COPIES_MAX = 100;

type Values = {
  readonly chosen: Chosen;
  /** The possible values of each variable. */
  readonly offered: ReadonlyMap<string, readonly string[]>;
};

/** Whether a folded row hides its cells. */
export type IsFolded = (row: Cell) => boolean;

/** Cells by row: the first group lies above all rows. */
function groupsOf(cells: readonly Cell[]): readonly (readonly Cell[])[] {
  const groups: Cell[][] = [[]];
  for (const cell of readingOrder(cells)) {
    if (cell.kind === 'row') groups.push([cell]);
    else groups.at(-1)?.push(cell);
  }
  return groups.filter((group) => group.length > 0);
}

/** Values that a cell repeats for; `undefined` if it does not repeat. */
function valuesOf(cell: Cell, { chosen, offered }: Values): readonly string[] | undefined {
  const name = valueOf(cell, REPEAT);
  const wanted = chosen.get(name);
  if (name === '' || wanted === undefined) return undefined;
  // No selection means everything.
  const values = wanted.length === 0 ? (offered.get(name) ?? []) : wanted;
  return values.length === 0 ? undefined : values.slice(0, COPIES_MAX);
}

export function expanded(
  cells: readonly Cell[],
  values: Values,
  isFolded: IsFolded,
): readonly ShownCell[] {
  const { chosen: all } = values;
  const isAsItIs = cells.every(
    (cell) => valuesOf(cell, values) === undefined && !(cell.kind === 'row' && isFolded(cell)),
  );
  const shown = isAsItIs
    ? readingOrder(cells).map((cell) => ({ cell, chosen: all }))
    : rearranged(cells, values, isFolded);
  return shown.map(({ cell, chosen }) => {
    const title = withValues(cell.title, chosen);
    return { cell: title === cell.title ? cell : { ...cell, title }, chosen };
  });
}

/** Groups one below the other, copies beside or below their originals. */
function rearranged(
  cells: readonly Cell[],
  values: Values,
  isFolded: IsFolded,
): readonly ShownCell[] {
  const shown: ShownCell[] = [];
  let bottom = 0;
  for (const group of groupsOf(cells)) {
    const top = group.reduce((least, { y }) => Math.min(least, y), Infinity);
    const [row] = group;
    const isRow = row?.kind === 'row';
    const copies = isRow ? valuesOf(row, values) : undefined;
    for (const [i, value] of (copies ?? [undefined]).entries()) {
      const chosen =
        row === undefined || value === undefined
          ? values.chosen
          : new Map([...values.chosen, [valueOf(row, REPEAT), [value]]]);
      const own = isRow && isFolded(row) ? [row] : group;
      const placed = own
        .map((cell) => ({
          ...cell,
          id: i === 0 ? cell.id : `${cell.id} ${value ?? ''}`,
          y: cell.y - top,
        }))
        .flatMap((cell) => repeated(cell, { ...values, chosen }));
      const settledCells = settled(placed.map(({ cell }) => cell));
      placed.forEach((one, at) => {
        const cell = settledCells[at] ?? one.cell;
        shown.push({ ...one, cell: { ...cell, y: cell.y + bottom } });
      });
      bottom += settledCells.reduce((low, { y, h }) => Math.max(low, y + h), 0);
    }
  }
  return shown;
}

/** One copy of a cell for each value, across or down; rows repeat with their cells instead. */
function repeated(cell: Cell, values: Values): readonly ShownCell[] {
  const { chosen } = values;
  const copies = cell.kind === 'row' ? undefined : valuesOf(cell, values);
  if (copies === undefined) return [{ cell, chosen }];
  const isDown = valueOf(cell, REPEAT_DIRECTION) === 'down';
  const perRow = isDown
    ? 1
    : Math.max(1, Math.min(copies.length, valueOf(cell, REPEAT_MAX), COLUMNS));
  const w = isDown ? cell.w : Math.floor(COLUMNS / perRow);
  return copies.map((value, i) => ({
    chosen: new Map([...chosen, [valueOf(cell, REPEAT), [value]]]),
    cell: {
      ...cell,
      id: i === 0 ? cell.id : `${cell.id} ${value}`,
      w,
      x: isDown ? cell.x : (i % perRow) * w,
      y: cell.y + Math.floor(i / perRow) * cell.h,
    },
  }));
}
