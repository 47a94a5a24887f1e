import { parseQuery, printStatement } from '@tidemark/influxql';
import type { SelectStatement } from '@tidemark/influxql';
import { expect, test } from 'vitest';

import { outlineOfSelect, unfolded } from './outline.ts';

const reduced = (text: string): string | undefined => {
  const [select] = parseQuery(text).query.statements;
  const outline = outlineOfSelect(select as SelectStatement, 10_000);
  return outline && printStatement(outline);
};

test.each([
  [
    'SELECT v FROM m WHERE time > 5m GROUP BY host',
    'SELECT min(v) AS min_v, max(v) AS max_v FROM m WHERE time > 5m GROUP BY time(10s), host fill(none)',
  ],
  [
    'SELECT v AS x FROM m',
    'SELECT min(v) AS min_x, max(v) AS max_x FROM m GROUP BY time(10s) fill(none)',
  ],
  ['SELECT * FROM m GROUP BY *', 'SELECT min(*), max(*) FROM m GROUP BY time(10s), * fill(none)'],
  ['SELECT mean(v) FROM m GROUP BY time(1m)', undefined],
  ['SELECT v * 2 FROM m', undefined],
])('%s', (text, expected) => {
  expect(reduced(text)).toBe(expected);
});

test('windows become points again', () => {
  const statement = {
    id: 0,
    rowCount: 1,
    messages: [],
    diagnostics: [],
    series: [
      {
        name: 'm',
        tags: {},
        columns: ['time', 'min_v', 'max_v'],
        rows: [['1970-01-01T00:00:00Z', 1, 5]],
      },
    ],
  };
  expect(unfolded(statement, 10_000).series[0]).toMatchObject({
    columns: ['time', 'v'],
    rows: [
      ['1970-01-01T00:00:00Z', 1],
      ['1970-01-01T00:00:05.000Z', 5],
    ],
  });
});
