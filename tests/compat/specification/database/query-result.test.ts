// The section “Query result” of the specification of the database's HTTP API.
import { oneSeries, query, sentences, useDatabase } from './harness.ts';
import type { Asked } from './harness.ts';

useDatabase();

const before = [['POST', '/write?db=d', 'm,t=a f=1,i=1i 1\nm,t=b f=2 2']] as const;
const db = { db: 'd', epoch: 'ns' };
const post = { method: 'POST' };
const first = oneSeries('m', ['time', 'f'], [[1, 1]]);

const withNulls: Asked = {
  before,
  path: query('SELECT i, f FROM m', db),
  status: 200,
  answer: oneSeries(
    'm',
    ['time', 'i', 'f'],
    [
      [1, 1, 1],
      [2, null, 2],
    ],
  ),
};
const written: Asked = {
  before,
  ...post,
  path: query('SELECT f INTO copy FROM m', { db: 'd' }),
  status: 200,
  answer: oneSeries('result', ['time', 'written'], [['1970-01-01T00:00:00Z', 2]]),
};

sentences('Query result', [
  [
    [
      '{ results: [ { statement_id: <integer>,',
      '               series?: [ { name: <string>, columns: [<string>...], values: [[<value>...]...] } ],',
      '               error?: <string> } ] }',
    ],
    [
      {
        of: 'series',
        before,
        path: query('SELECT f FROM m LIMIT 1', db),
        status: 200,
        answer: first,
      },
      {
        of: 'error',
        path: query('SELECT f FROM m', { db: 'no' }),
        status: 200,
        answer: { results: [{ statement_id: 0, error: 'database not found: no' }] },
      },
    ],
  ],
  [
    [
      'results | array | one entry per statement, in request order',
      'statement_id | integer | zero-based index of the statement in the request',
    ],
    [
      {
        before,
        path: query('SELECT f FROM m LIMIT 1; SHOW MEASUREMENTS', db),
        status: 200,
        answer: {
          results: [
            ...first.results,
            {
              statement_id: 1,
              series: [{ name: 'measurements', columns: ['name'], values: [['m']] }],
            },
          ],
        },
      },
    ],
  ],
  [
    'series | array | present when the statement returns data; omitted for statements that return nothing (for example creating a database)',
    [
      {
        ...post,
        path: query('CREATE DATABASE d'),
        status: 200,
        answer: { results: [{ statement_id: 0 }] },
      },
      {
        of: 'a SELECT that finds nothing',
        path: query('SELECT f FROM nothing', db),
        status: 200,
        answer: { results: [{ statement_id: 0 }] },
      },
    ],
  ],
  [
    'series[].name | string | measurement name (or `result` for a SELECT with INTO)',
    [
      {
        of: 'a measurement',
        before,
        path: query('SELECT f FROM m LIMIT 1', db),
        status: 200,
        answer: first,
      },
      { of: 'with INTO', ...written },
    ],
  ],
  [
    'series[].columns | array of string | column names; the first is `time` for time-based results',
    [
      { of: 'of times', ...withNulls },
      {
        of: 'of names',
        path: query('SHOW DATABASES'),
        status: 200,
        answer: oneSeries('databases', ['name'], [['_internal'], ['d']]),
      },
    ],
  ],
  ['series[].values | array of arrays | rows; a missing tag or field value is `null`', [withNulls]],
  [
    'error | string | present in an entry when that statement failed',
    [
      {
        before,
        path: query('SELECT f FROM m LIMIT 1; SELECT f FROM no..m', db),
        status: 200,
        answer: {
          results: [...first.results, { statement_id: 1, error: 'database not found: no' }],
        },
      },
    ],
  ],
  [
    'Time values: RFC3339 strings with nanosecond precision by default; integers when `epoch` is set or when CSV is requested.',
    [
      {
        of: 'by default',
        before,
        path: query('SELECT f FROM m LIMIT 1', { db: 'd' }),
        status: 200,
        answer: oneSeries('m', ['time', 'f'], [['1970-01-01T00:00:00.000000001Z', 1]]),
      },
      {
        of: 'with epoch',
        before,
        path: query('SELECT f FROM m LIMIT 1', db),
        status: 200,
        answer: first,
      },
      {
        of: 'as CSV',
        before,
        path: query('SELECT f FROM m LIMIT 1', { db: 'd' }),
        headers: { Accept: 'application/csv' },
        status: 200,
        answer: 'name,tags,time,f\nm,,1,1\n',
      },
    ],
  ],
  [
    'A SELECT with an INTO clause returns one series named `result` with columns `time` and `written`; `time` is the epoch 0 timestamp (used as a null timestamp) and `written` is the number of points written.',
    [
      written,
      {
        of: 'with epoch',
        ...written,
        path: query('SELECT f INTO copy FROM m', { db: 'd', epoch: 's' }),
        answer: oneSeries('result', ['time', 'written'], [[0, 2]]),
      },
    ],
  ],
]);
