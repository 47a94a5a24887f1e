import { expect, test } from 'vitest';

import { guessRole, linesOf, parseCsv } from './csv.ts';

test('cells with separators, quotes and line ends', () => {
  expect(parseCsv('a,b\r\n"x, y","say ""hi"""\n"two\nlines",\n\n')).toEqual([
    ['a', 'b'],
    ['x, y', 'say "hi"'],
    ['two\nlines', ''],
  ]);
  expect(parseCsv('a;b\n1,5;2')).toEqual([
    ['a', 'b'],
    ['1,5', '2'],
  ]);
});

test.each([
  ['time', ['x'], 'time'],
  ['celsius', ['1', '', '-2.5e3'], 'float'],
  ['open', ['true', 'FALSE'], 'boolean'],
  ['host', ['a', '1'], 'tag'],
  ['empty', ['', ''], 'ignore'],
] as const)('a column %s is taken for what it looks like', (name, values, role) => {
  expect(guessRole(name, values)).toBe(role);
});

test('rows become lines', () => {
  const mapping = {
    measurement: 'room climate',
    columns: [
      { name: 'time', role: 'time' },
      { name: 'host name', role: 'tag' },
      { name: 'celsius', role: 'float' },
      { name: 'doors', role: 'integer' },
      { name: 'note', role: 'string' },
      { name: 'unused', role: 'ignore' },
    ],
  } as const;
  const rows = [
    ['2024-01-01T00:00:00Z', 'a b', '21.5', '3', 'say "hi"', 'x'],
    ['1700000000000', '', '', '1', '', ''],
    ['1700000000000', 'a', '', '', '', 'x'],
  ];

  expect(linesOf(rows, mapping, 1)).toEqual([
    'room\\ climate,host\\ name=a\\ b celsius=21.5,doors=3i,note="say \\"hi\\"" 1704067200000',
    'room\\ climate doors=1i 1700000000000',
  ]);
});
