import { expect, test } from 'vitest';

import { formatResponse } from './format.ts';
import { isUnfinished } from './interactive.ts';
import { caret } from './session.ts';
import { sparkline } from './sparkline.ts';

const response = {
  results: [
    {
      statement_id: 0,
      series: [
        {
          name: 'cpu',
          tags: { host: 'a, b' },
          columns: ['time', 'usage', 'n'],
          values: [
            [1, 0.5, 9223372036854775807n],
            [2, null, 3],
          ],
        },
        {
          name: 'cpu',
          tags: { host: 'c' },
          columns: ['time', 'usage', 'n'],
          values: [[3, 1, null]],
        },
      ],
    },
  ],
};
const options = { format: 'column', isPretty: false, hasSparklines: false } as const;

test('prints columns as wide as their widest cell', () => {
  expect(formatResponse(response, options)).toBe(
    [
      'name: cpu',
      'tags: host=a, b',
      'time usage n',
      '---- ----- -',
      '1    0.5   9223372036854775807',
      '2          3',
      '',
      'name: cpu',
      'tags: host=c',
      'time usage n',
      '---- ----- -',
      '3    1',
    ].join('\n'),
  );
});

test('shortens the widest cells to fit the terminal', () => {
  const [longest] = formatResponse(response, { ...options, width: 20 })
    .split('\n')
    .toSorted((a, b) => b.length - a.length);

  expect(longest?.length).toBeLessThanOrEqual(20);
});

test('prints CSV with one header and quotes where needed', () => {
  expect(formatResponse(response, { ...options, format: 'csv' })).toBe(
    [
      'name,tags,time,usage,n',
      'cpu,"host=a, b",1,0.5,9223372036854775807',
      'cpu,"host=a, b",2,,3',
      'cpu,host=c,3,1,',
    ].join('\n'),
  );
});

test('prints JSON with all digits and without statement ids', () => {
  expect(
    formatResponse(
      {
        results: [
          { statement_id: 0, series: [{ columns: ['n'], values: [[9223372036854775807n]] }] },
        ],
      },
      { ...options, format: 'json' },
    ),
  ).toBe('{"results":[{"series":[{"columns":["n"],"values":[[9223372036854775807]]}]}]}');
});

test('draws numbers from lowest to highest', () => {
  expect(sparkline([0, 1, 2, 3, 4, 5, 6, 7], 8)).toBe('▁▂▃▄▅▆▇█');
  expect(sparkline(['a', null], 8)).toBe('');
});

test('continues a statement that stops in the middle, and nothing else', () => {
  expect(isUnfinished('SELECT mean(f)')).toBe(true);
  expect(isUnfinished('SELECT mean(f) FROM m')).toBe(false);
  expect(isUnfinished('SELECT FROM m')).toBe(false);
  expect(isUnfinished('use db')).toBe(false);
});

test('puts a caret below the finding, in its own line', () => {
  const text = 'SELECT f\nFORM m';

  expect(caret(text, { code: 'X', message: 'm', position: 9, length: 4, hint: 'FROM' })).toBe(
    '\n  FORM m\n  ^^^^\n  FROM',
  );
});
