import { expect, test } from 'vitest';

import { EMPTY_QUERY, parseBuilt, printBuilt } from './builder.ts';

const BUILT = {
  policy: 'week',
  measurement: 'room climate',
  fields: [
    { name: 'celsius', call: 'mean' },
    { name: 'select', call: 'max' },
  ],
  filters: [
    { tag: 'name', isNot: false, values: ['kitchen', "o'clock"] },
    { tag: 'floor', isNot: true, values: ['1'] },
    { tag: 'side', isNot: true, values: ['a', 'b'] },
  ],
  groupTags: ['name'],
  window: '$interval',
  fill: 'none',
  limit: '10',
};

test('a form is printed as a statement, and the statement fills the form again', () => {
  const text = printBuilt(BUILT);

  expect(text).toBe(
    `SELECT mean(celsius), max("select") FROM week."room climate" WHERE $timeFilter AND ("name" = 'kitchen' OR "name" = 'o\\'clock') AND floor != '1' AND (side != 'a' AND side != 'b') GROUP BY time($interval), "name" fill(none) LIMIT 10`,
  );
  expect(parseBuilt(text)).toEqual(BUILT);
});

test('a window is a duration, too; no field means all', () => {
  const built = { ...EMPTY_QUERY, measurement: 'm', window: '90s' };

  expect(printBuilt(built)).toBe('SELECT * FROM m WHERE $timeFilter GROUP BY time(90s)');
  expect(parseBuilt(printBuilt(built))).toEqual(built);
});

test.each([
  'SELECT x FROM m',
  'SELECT x FROM m WHERE time > now() - 1h',
  'SELECT x + 1 FROM m WHERE $timeFilter',
  'SELECT x AS y FROM m WHERE $timeFilter',
  'SELECT percentile(x, 90) FROM m WHERE $timeFilter',
  "SELECT x FROM m WHERE $timeFilter OR a = 'b'",
  'SELECT x FROM m WHERE $timeFilter AND a =~ /b/',
  'SELECT x FROM m WHERE $timeFilter AND time > 5',
  'SELECT x FROM (SELECT y FROM m) WHERE $timeFilter',
  'SELECT x INTO z FROM m WHERE $timeFilter',
  'SELECT x FROM m, n WHERE $timeFilter',
  "SELECT x FROM m WHERE $timeFilter tz('UTC')",
  'SELECT x FROM m WHERE $timeFilter; SELECT y FROM m WHERE $timeFilter',
  'SELECT x FROM m WHERE $timeFilter ORDER BY time DESC',
  'nonsense $timeFilter',
])('%s says more than a form can, or nothing', (text) => {
  expect(parseBuilt(text)).toBeUndefined();
});
