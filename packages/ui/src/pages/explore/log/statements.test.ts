import { parseQuery } from '@tidemark/influxql';
import { expect, test } from 'vitest';

import { countText, eventsText, levelTexts, openText } from './statements.ts';
import type { LogQuery } from './statements.ts';

const SOURCE = {
  policy: '',
  measurement: 'events',
  text: 'message',
  level: 'level',
  fieldTypes: new Map([
    ['message', 'string'],
    ['level', 'string'],
    ['code', 'integer'],
    ['ok', 'boolean'],
  ]),
  tags: ['host'],
};
const BOUNDS = { from: '>= 0ms', to: "<= '2024-01-01T00:00:00.000000001Z'" };
const ALL: LogQuery = { source: SOURCE, filters: [], terms: [] };
const is = (name: string, value: string) => ({ name, isNot: false, value });

test('a page of events is the newest below a time', () => {
  expect(eventsText(ALL, BOUNDS, 200)).toMatchInlineSnapshot(
    `"SELECT * FROM events WHERE time >= 0ms AND time <= '2024-01-01T00:00:00.000000001Z' ORDER BY time DESC LIMIT 200"`,
  );
});

test('values of one column are alternatives; numbers and flags have no quotes', () => {
  const filters = [
    is('level', 'error'),
    is('code', '500'),
    is('level', 'warning'),
    is('ok', 'true'),
    { name: 'host', isNot: true, value: 'a' },
    { name: 'host', isNot: true, value: '' },
  ];
  const terms = [
    { pattern: '(?i)a/b', isNot: false },
    { pattern: 'c', isNot: true },
  ];

  expect(openText({ source: SOURCE, filters, terms }, 10)).toBe(
    "SELECT * FROM events WHERE $timeFilter AND host != 'a' AND host != '' AND " +
      `(level = 'error' OR level = 'warning') AND code = 500 AND ok = true AND ` +
      String.raw`message =~ /(?i)a\/b/ AND message !~ /c/ ORDER BY time DESC LIMIT 10`,
  );
});

test('levels are counted one by one, or by the values of a tag', () => {
  expect(levelTexts(SOURCE, BOUNDS)[0]).toContain('SELECT distinct(level) FROM events');
  expect(countText(ALL, BOUNDS, { interval: '1m', level: 'error' })).toMatch(
    /^SELECT count\(message\) AS "count" FROM events WHERE .* AND level = 'error' GROUP BY time\(1m\) fill\(none\)$/,
  );
  expect(countText(ALL, BOUNDS, { interval: '1m', tag: 'level' })).toMatch(
    /GROUP BY time\(1m\), level fill\(none\)$/,
  );
});

test('what a link contains stays a name or a value', () => {
  const evil = `x'; DROP MEASUREMENT events; --\\ "y`;
  const source = { ...SOURCE, measurement: evil, policy: evil, text: evil, level: evil };
  const query: LogQuery = {
    source,
    filters: [is(evil, evil), is('code', '1 OR 1=1')],
    terms: [{ pattern: String.raw`a/; DROP MEASUREMENT x\\`, isNot: false }],
  };

  for (const text of [
    eventsText(query, BOUNDS, 1),
    ...levelTexts(source, BOUNDS),
    countText(query, BOUNDS, { interval: '1m', level: evil }),
  ]) {
    const { query: parsed, error } = parseQuery(text);
    expect(error, text).toBeUndefined();
    expect(parsed.statements.map(({ kind }) => kind)).toEqual(['select']);
  }
});
