import { expect, test } from 'vitest';

import { expanded } from './expand.ts';
import { readCell } from './model.ts';

const VALUES = {
  chosen: new Map([
    ['host', []],
    ['disk', ['sda', 'sdb']],
  ]),
  offered: new Map([['host', ['a', 'b', 'c']]]),
};

const shown = (cells: readonly object[], isFolded = false) =>
  expanded(cells.map(readCell), VALUES, () => isFolded).map(({ cell, chosen }) => [
    cell.title,
    [cell.x, cell.y, cell.w, cell.h],
    chosen.get('host')?.join() ?? '',
  ]);

test('a cell is repeated across for each value, and later cells make room', () => {
  const cells = [
    { kind: 'line', title: 'CPU of $host', repeat: 'host', repeatMax: 2, x: 0, y: 0, w: 12, h: 4 },
    { kind: 'line', title: 'Below', x: 0, y: 4, w: 12, h: 4 },
  ];

  expect(shown(cells)).toEqual([
    ['CPU of a', [0, 0, 6, 4], 'a'],
    ['CPU of b', [6, 0, 6, 4], 'b'],
    ['CPU of c', [0, 4, 6, 4], 'c'],
    ['Below', [0, 8, 12, 4], ''],
  ]);
});

test('down, copies keep their width; only what is chosen is repeated', () => {
  const cell = {
    kind: 'line',
    title: '$disk',
    repeat: 'disk',
    repeatDirection: 'down',
    w: 3,
    h: 2,
  };

  expect(shown([cell]).map(([title, place]) => [title, place])).toEqual([
    ['sda', [0, 0, 3, 2]],
    ['sdb', [0, 2, 3, 2]],
  ]);
});

test('a row is repeated with its cells, and hides them when it is folded', () => {
  const cells = [
    { kind: 'line', title: 'Above', x: 0, y: 0, w: 12, h: 2 },
    { kind: 'row', title: 'Host [[host]]', repeat: 'host', x: 0, y: 2, w: 12, h: 1 },
    { kind: 'line', title: 'Load', x: 0, y: 3, w: 12, h: 2 },
  ];

  expect(shown(cells)).toEqual([
    ['Above', [0, 0, 12, 2], ''],
    ['Host a', [0, 2, 12, 1], 'a'],
    ['Load', [0, 3, 12, 2], 'a'],
    ['Host b', [0, 5, 12, 1], 'b'],
    ['Load', [0, 6, 12, 2], 'b'],
    ['Host c', [0, 8, 12, 1], 'c'],
    ['Load', [0, 9, 12, 2], 'c'],
  ]);
  expect(shown(cells, true).map(([title, place]) => [title, place])).toEqual([
    ['Above', [0, 0, 12, 2]],
    ['Host a', [0, 2, 12, 1]],
    ['Host b', [0, 3, 12, 1]],
    ['Host c', [0, 4, 12, 1]],
  ]);
});

test('copies have ids of their own, and the first keeps its', () => {
  const cells = [{ kind: 'line', id: 'cpu', title: 'CPU', repeat: 'host' }].map(readCell);

  expect(expanded(cells, VALUES, () => false).map(({ cell }) => cell.id)).toEqual([
    'cpu',
    'cpu b',
    'cpu c',
  ]);
});

test('a variable that nobody has does not repeat anything', () => {
  expect(shown([{ kind: 'line', title: 'CPU', repeat: 'none' }])).toHaveLength(1);
});
