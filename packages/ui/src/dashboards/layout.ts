// The layout of cells on the grid: no overlaps, and no gap above a cell that it could move into.
import { COLUMNS, ROWS_MAX } from './model.ts';
import type { Cell, CellPlace } from './model.ts';

const overlap = (a: CellPlace, b: CellPlace): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

/** By row, then by column: the reading order. */
export function readingOrder<T extends CellPlace>(cells: readonly T[]): readonly T[] {
  return cells.toSorted((a, b) => a.y - b.y || a.x - b.x);
}

/** Limits a place to the grid. */
export function clamped(place: CellPlace): CellPlace {
  const w = clamp(place.w, 1, COLUMNS);
  return {
    w,
    h: clamp(place.h, 1, ROWS_MAX),
    x: clamp(place.x, 0, COLUMNS - w),
    y: Math.max(0, place.y),
  };
}

/** Moves every cell up as far as there is room; `first` takes precedence in its row. */
export function settled(cells: readonly Cell[], first?: string): readonly Cell[] {
  const isFirst = (cell: Cell): number => (cell.id === first ? 0 : 1);
  const order = cells.toSorted((a, b) => a.y - b.y || isFirst(a) - isFirst(b) || a.x - b.x);
  const placed: Cell[] = [];
  for (const cell of order) {
    const isFree = (y: number): boolean => placed.every((other) => !overlap({ ...cell, y }, other));
    let { y } = cell;
    while (!isFree(y)) y++;
    while (y > 0 && isFree(y - 1)) y--;
    placed.push(y === cell.y ? cell : { ...cell, y });
  }
  // In the original order, so that unmoved cells are not drawn again.
  const byId = new Map(placed.map((cell) => [cell.id, cell]));
  return cells.map((cell) => byId.get(cell.id) ?? cell);
}

/** Moves or resizes a cell; the others make room. */
export function moved(cells: readonly Cell[], id: string, to: Partial<CellPlace>): readonly Cell[] {
  return settled(
    cells.map((cell) => {
      if (cell.id !== id) return cell;
      const w = clamp(to.w ?? cell.w, 1, COLUMNS);
      return {
        ...cell,
        w,
        h: clamp(to.h ?? cell.h, 2, ROWS_MAX),
        x: clamp(to.x ?? cell.x, 0, COLUMNS - w),
        y: Math.max(0, to.y ?? cell.y),
      };
    }),
    id,
  );
}

/** Anything that is no number counts as the minimum. */
const clamp = (value: number, min: number, max: number): number =>
  Math.min(max, Math.max(min, Number.isNaN(value) ? min : value));

/** The first row below all cells. */
export function below(cells: readonly CellPlace[]): number {
  return cells.reduce((bottom, { y, h }) => Math.max(bottom, y + h), 0);
}

/** The first place in reading order that has room. */
export function freePlace(
  cells: readonly CellPlace[],
  { w, h }: Pick<CellPlace, 'w' | 'h'>,
): CellPlace {
  for (let y = 0; y < below(cells); y++) {
    for (let x = 0; x + w <= COLUMNS; x++) {
      const place = { x, y, w, h };
      if (cells.every((other) => !overlap(place, other))) return place;
    }
  }
  return { x: 0, y: below(cells), w, h };
}

/** A new cell in the first place that has room. */
export function withCell(cells: readonly Cell[], cell: Cell): readonly Cell[] {
  return settled([...cells, { ...cell, ...freePlace(cells, cell), id: freeId(cells) }]);
}

/** An unused cell id. */
export function freeId(cells: readonly Pick<Cell, 'id'>[]): string {
  let number = cells.length + 1;
  while (cells.some(({ id }) => id === `cell-${number}`)) number++;
  return `cell-${number}`;
}
