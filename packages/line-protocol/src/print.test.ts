import { expect, test } from 'vitest';

import { printFieldValue, printLine } from './index.ts';

test('prints sorted tags, escaped names and every type of value', () => {
  expect(
    printLine({
      measurement: 'a b,c',
      tags: [
        ['z', '1'],
        ['k =', 'v,w'],
        ['empty', ''],
      ],
      fields: [
        ['f', 1],
        ['i', -2n],
        ['u', { unsigned: 3n }],
        ['s', 'say "x" \\'],
        ['b', false],
        ['n', Number.NaN],
      ],
      time: -5n,
    }),
  ).toBe('a\\ b\\,c,k\\ \\==v\\,w,z=1 f=1,i=-2i,u=3u,s="say \\"x\\" \\\\",b=false -5');
});

test('prints nothing when no field can be carried', () => {
  expect(printLine({ measurement: 'm', tags: [], fields: [['f', Infinity]], time: 0n })).toBe(
    undefined,
  );
});

test('keeps the sign of zero', () => {
  expect(printFieldValue(-0)).toBe('-0');
});
