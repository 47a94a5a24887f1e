import { expect, test } from 'vitest';

import { below, freePlace, moved, settled } from './layout.ts';
import { EMPTY_CELL } from './model.ts';
import type { Cell } from './model.ts';

const cell = (id: string, x: number, y: number, w = 6, h = 4): Cell => ({
  ...EMPTY_CELL,
  id,
  x,
  y,
  w,
  h,
});
const places = (cells: readonly Cell[]) => cells.map(({ id, x, y, w, h }) => [id, x, y, w, h]);

test('cells rise to where there is room, and none lies over another', () => {
  const all = settled([cell('a', 0, 3), cell('b', 0, 4), cell('c', 6, 9)]);
  expect(places(all)).toEqual([
    ['a', 0, 0, 6, 4],
    ['b', 0, 4, 6, 4],
    ['c', 6, 0, 6, 4],
  ]);
});

test('a cell that is moved goes before those it comes upon', () => {
  const all = [cell('a', 0, 0), cell('b', 6, 0), cell('c', 0, 4)];
  expect(places(moved(all, 'c', { y: 0 }))).toEqual([
    ['a', 0, 4, 6, 4],
    ['b', 6, 0, 6, 4],
    ['c', 0, 0, 6, 4],
  ]);
});

test('a cell stays on the grid, whatever is asked of it', () => {
  const [only] = moved([cell('a', 0, 0)], 'a', { x: 30, y: -4, w: 40, h: 0 });
  expect(only).toMatchObject({ x: 0, y: 0, w: 12, h: 2 });
});

test('a wider cell pushes down what it covers', () => {
  const all = moved([cell('a', 0, 0), cell('b', 6, 0)], 'a', { w: 8 });
  expect(places(all)).toEqual([
    ['a', 0, 0, 8, 4],
    ['b', 6, 4, 6, 4],
  ]);
  expect(below(all)).toBe(8);
});

test('a new cell fills the first place that has room', () => {
  const cells = [cell('a', 0, 0, 6, 4), cell('b', 0, 4, 12, 4)];
  expect(freePlace(cells, { w: 6, h: 4 })).toEqual({ x: 6, y: 0, w: 6, h: 4 });
  expect(freePlace(cells, { w: 6, h: 5 })).toEqual({ x: 0, y: 8, w: 6, h: 5 });
  expect(freePlace([], { w: 6, h: 5 })).toEqual({ x: 0, y: 0, w: 6, h: 5 });
});
