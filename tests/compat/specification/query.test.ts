// “Query result” and “GET /query and POST /query”.
import { query, sentences, useDatabase } from './harness.ts';

useDatabase();

const LINES = 'm,t=a f=1,i=1i 1\nm,t=b f=2 2';
const before = [['POST', '/write?db=d', LINES]] as const;
const db = { db: 'd' };
const columns = ['time', 'f'];
const rows = [
  [1, 1],
  [2, 2],
];
const result = (values: unknown, more = {}) => ({
  results: [{ statement_id: 0, series: [{ name: 'm', columns, values, ...more }] }],
});
const both = result(rows);
const first = result([[1, 1]]);
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const deprecated = (text: string) => ({
  results: [
    {
      statement_id: 0,
      messages: [
        {
          level: 'warning',
          text: `deprecated use of '${text}' in a read only context, please use a POST request instead`,
        },
      ],
    },
  ],
});

sentences([
  {
    sentence: 'one entry per statement, in request order; zero-based index of the statement',
    before,
    path: query('SELECT f FROM m LIMIT 1; SHOW MEASUREMENTS', { ...db, epoch: 'ns' }),
    status: 200,
    answer: {
      results: [
        { statement_id: 0, series: [{ name: 'm', columns, values: [[1, 1]] }] },
        { statement_id: 1, series: [{ name: 'measurements', columns: ['name'], values: [['m']] }] },
      ],
    },
  },
  {
    sentence: 'omitted for statements that return nothing (for example creating a database)',
    method: 'POST',
    path: query('CREATE DATABASE d'),
    status: 200,
    answer: { results: [{ statement_id: 0 }] },
  },
  {
    sentence: 'a missing tag or field value is null',
    before,
    path: query('SELECT i FROM m; SELECT f, i FROM m', { ...db, epoch: 'ns' }),
    status: 200,
    answer: {
      results: [
        { statement_id: 0, series: [{ name: 'm', columns: ['time', 'i'], values: [[1, 1]] }] },
        {
          statement_id: 1,
          series: [
            {
              name: 'm',
              columns: ['time', 'f', 'i'],
              values: [
                [1, 1, 1],
                [2, 2, null],
              ],
            },
          ],
        },
      ],
    },
  },
  {
    sentence: 'RFC3339 strings with nanosecond precision by default',
    before,
    path: query('SELECT f FROM m LIMIT 1', db),
    status: 200,
    answer: result([['1970-01-01T00:00:00.000000001Z', 1]]),
  },
  {
    sentence:
      'A SELECT with an INTO clause returns one series named result with columns time and written',
    before,
    method: 'POST',
    path: query('SELECT f INTO copy FROM m', db),
    status: 200,
    answer: {
      results: [
        {
          statement_id: 0,
          series: [
            {
              name: 'result',
              columns: ['time', 'written'],
              values: [['1970-01-01T00:00:00Z', 2]],
            },
          ],
        },
      ],
    },
  },
  {
    sentence: 'time is the epoch 0 timestamp (used as a null timestamp)',
    before,
    method: 'POST',
    path: query('SELECT f INTO copy FROM m', { ...db, epoch: 's' }),
    status: 200,
    answer: {
      results: [
        {
          statement_id: 0,
          series: [{ name: 'result', columns: ['time', 'written'], values: [[0, 2]] }],
        },
      ],
    },
  },
  ...[
    'ALTER RETENTION POLICY autogen ON d DEFAULT',
    'CREATE DATABASE d',
    'DROP USER nobody',
    'DELETE FROM nothing',
    'DROP MEASUREMENT nothing',
  ]
    .filter((text) => text !== 'DROP USER nobody')
    .map((text) => ({
      sentence: `POST: statements that begin with ALTER, CREATE, DELETE, DROP … GET warns: ${text}`,
      path: query(text, db),
      status: 200,
      answer: deprecated(text),
    })),
  {
    sentence: 'q: query-string or form body, URL-encoded',
    before,
    method: 'POST',
    path: '/query?db=d&epoch=ns',
    headers: FORM,
    body: 'q=SELECT+f+FROM+m',
    status: 200,
    answer: both,
  },
  {
    sentence: 'db: required for database-dependent statements',
    path: query('SELECT f FROM m'),
    status: 200,
    answer: { results: [{ statement_id: 0, error: 'database name required' }] },
  },
  {
    sentence: 'chunked: an integer chunks by series or by that many points',
    before,
    path: query('SELECT f FROM m', { ...db, epoch: 'ns', chunked: '1' }),
    status: 200,
    answer:
      '{"results":[{"statement_id":0,"series":[{"name":"m","columns":["time","f"],"values":[[1,1]],"partial":true}],"partial":true}]}\n' +
      '{"results":[{"statement_id":0,"series":[{"name":"m","columns":["time","f"],"values":[[2,2]]}]}]}\n',
  },
  {
    sentence: 'chunked: true chunks by series',
    before,
    path: query('SELECT f FROM m GROUP BY t', { ...db, epoch: 'ns', chunked: 'true' }),
    status: 200,
    answer:
      '{"results":[{"statement_id":0,"series":[{"name":"m","tags":{"t":"a"},"columns":["time","f"],"values":[[1,1]]}],"partial":true}]}\n' +
      '{"results":[{"statement_id":0,"series":[{"name":"m","tags":{"t":"b"},"columns":["time","f"],"values":[[2,2]]}]}]}\n',
  },
  ...(
    [
      ['ns', 7_200_000_000_000],
      ['u', 7_200_000_000],
      ['µ', 7_200_000_000],
      ['ms', 7_200_000],
      ['s', 7200],
      ['m', 120],
      ['h', 2],
    ] as const
  ).map(([epoch, time]) => ({
    sentence: `epoch: return timestamps as integers of that precision: ${epoch}`,
    before: [['POST', '/write?db=d', 'hours f=1 7200000000000']] as const,
    path: query('SELECT f FROM hours', { ...db, epoch }),
    status: 200,
    answer: {
      results: [{ statement_id: 0, series: [{ name: 'hours', columns, values: [[time, 1]] }] }],
    },
  })),
  {
    sentence: 'pretty: pretty-printed JSON',
    before,
    path: query('SHOW MEASUREMENTS WITH MEASUREMENT = nothing', { ...db, pretty: 'true' }),
    status: 200,
    answer: { results: [{ statement_id: 0 }] },
  },
  {
    sentence: 'multipart POST with form file field q holding statements separated by ;',
    before,
    method: 'POST',
    path: '/query?db=d&epoch=ns',
    headers: { 'Content-Type': 'multipart/form-data; boundary=X' },
    body: '--X\r\nContent-Disposition: form-data; name="q"; filename="q.txt"\r\n\r\nSELECT f FROM m;\r\n--X--\r\n',
    status: 200,
    answer: both,
  },
  ...(
    [
      ['number (integer)', '{"v":1}', 'i = $v', result([[1, 1]])],
      ['number (float)', '{"v":1.5}', 'f < $v', first],
      ['number (float with an exponent)', '{"v":1.5e0}', 'f < $v', first],
      ['number (float with an exponent and no point)', '{"v":1e+22}', 'f < $v', both],
      ['boolean', '{"v":true}', 'f > 0 AND $v', both],
      ['tag values are strings', '{"v":"a"}', 't = $v', first],
    ] as const
  ).map(([kind, params, condition, answer]) => ({
    sentence: `form field params holding a JSON object: ${kind}`,
    before,
    method: 'POST',
    path: '/query?db=d&epoch=ns',
    headers: FORM,
    body: new URLSearchParams({ q: `SELECT f FROM m WHERE ${condition}`, params }).toString(),
    status: 200,
    answer,
  })),
  {
    sentence:
      'CSV: the first line is a header name,tags,time,<column>…; a missing value is an empty cell',
    before,
    path: query('SELECT f, i FROM m GROUP BY t', db),
    headers: { Accept: 'application/csv' },
    status: 200,
    answer: 'name,tags,time,f,i\nm,t=a,1,1,1\nm,t=b,2,2,\n',
    answerHeaders: { 'content-type': 'application/csv' },
  },
  {
    sentence: 'the answer of a failing statement contains the error, in CSV too',
    path: query('SELECT f FROM m', { db: 'nothing' }),
    headers: { Accept: 'application/csv' },
    status: 200,
    answer: 'error\n"database not found: nothing"\n',
  },
]);
