// The section “GET /query and POST /query” of the specification of the database's HTTP API.
import { expect } from 'vitest';

import { ask, FORM, oneSeries, query, sentences, useDatabase } from './harness.ts';
import type { Asked } from './harness.ts';

useDatabase();

const before = [['POST', '/write?db=d', 'm,t=a f=1,i=1i 1\nm,t=b f=2 2']] as const;
const db = { db: 'd' };
const nanos = { db: 'd', epoch: 'ns' };
const columns = ['time', 'f'];
const rows = [
  [1, 1],
  [2, 2],
];
const both = oneSeries('m', columns, rows);
const first = oneSeries('m', columns, [[1, 1]]);
const ok = { results: [{ statement_id: 0 }] };
const plain: Asked = { before, path: query('SELECT f FROM m', nanos), status: 200, answer: both };
const form: Asked = {
  before,
  method: 'POST',
  path: '/query?db=d&epoch=ns',
  headers: FORM,
  body: 'q=SELECT+f+FROM+m',
  status: 200,
  answer: both,
};

/** Runs, and a warning says which verb it should have been. */
function warned(text: string): Asked {
  const message = `deprecated use of '${text}' in a read only context, please use a POST request instead`;
  const messages = [{ level: 'warning', text: message }];
  return {
    of: `${text} by GET`,
    path: query(text, db),
    status: 200,
    answer: { results: [{ statement_id: 0, messages }] },
  };
}

const CHANGES = [
  'ALTER RETENTION POLICY autogen ON d DEFAULT',
  'CREATE DATABASE d',
  'DELETE FROM nothing',
  'DROP MEASUREMENT nothing',
] as const;
/** Their users and queries do not exist, which is what they say: they have run. */
const FAILING = ['GRANT ALL ON d TO nobody', 'KILL QUERY 999999', 'REVOKE ALL ON d FROM nobody'];

sentences('GET /query and POST /query', [
  [
    'Runs one or more statements.',
    [
      plain,
      {
        of: 'two',
        before,
        path: query('SELECT f FROM m; SELECT f FROM m LIMIT 1', nanos),
        status: 200,
        answer: { results: [both.results[0], { ...first.results[0], statement_id: 1 }] },
      },
    ],
  ],
  [
    'GET | SELECT, SHOW',
    [
      { of: 'SELECT', ...plain },
      { of: 'SHOW', path: query('SHOW DATABASES'), status: 200 },
    ],
  ],
  [
    'POST | ALTER, CREATE, DELETE, DROP, GRANT, KILL, REVOKE',
    [
      ...CHANGES.map((text) => ({
        of: text,
        method: 'POST',
        path: query(text, db),
        status: 200,
        answer: ok,
      })),
      ...FAILING.map((text) => ({
        of: text,
        method: 'POST',
        path: query(text, db),
        status: 200,
        answer: {
          results: [
            {
              statement_id: 0,
              error: expect.stringMatching(/nobody|no such|999999|user not found/),
            },
          ],
        },
      })),
      ...CHANGES.map(warned),
    ],
  ],
  [
    'A SELECT statement that contains an INTO clause must be sent with POST.',
    [
      {
        before,
        method: 'POST',
        path: query('SELECT f INTO copy FROM m', nanos),
        status: 200,
        answer: oneSeries('result', ['time', 'written'], [[0, 2]]),
      },
    ],
  ],
  [
    [
      'q | string (query language text) | yes (query-string or form body, URL-encoded) | the statement(s); several statements are separated by `;`',
      'URL-encoded form | field `q` holds the statement text',
    ],
    [
      { of: 'in the query string', ...plain },
      { of: 'in a form', ...form },
      { of: 'missing', path: '/query?db=d', status: 400 },
    ],
  ],
  [
    'db | string | required for database-dependent statements (most SELECT and SHOW) | target database',
    ['SELECT f FROM m', 'SHOW MEASUREMENTS'].map((text) => ({
      of: `${text} without it`,
      path: query(text),
      status: 200,
      answer: { results: [{ statement_id: 0, error: 'database name required' }] },
    })),
  ],
  [
    'chunked | `true` or integer | no | stream results in batches; `true` chunks by series or every 10,000 points, whichever comes first; an integer chunks by series or by that many points',
    [
      {
        of: 'an integer',
        before,
        path: query('SELECT f FROM m', { ...nanos, chunked: '1' }),
        status: 200,
        answer:
          '{"results":[{"statement_id":0,"series":[{"name":"m","columns":["time","f"],"values":[[1,1]],"partial":true}],"partial":true}]}\n' +
          '{"results":[{"statement_id":0,"series":[{"name":"m","columns":["time","f"],"values":[[2,2]]}]}]}\n',
      },
      {
        of: 'true',
        before,
        path: query('SELECT f FROM m GROUP BY t', { ...nanos, chunked: 'true' }),
        status: 200,
        answer:
          '{"results":[{"statement_id":0,"series":[{"name":"m","tags":{"t":"a"},"columns":["time","f"],"values":[[1,1]]}],"partial":true}]}\n' +
          '{"results":[{"statement_id":0,"series":[{"name":"m","tags":{"t":"b"},"columns":["time","f"],"values":[[2,2]]}]}]}\n',
      },
    ],
  ],
  [
    'epoch | one of `ns`, `u`, `µ`, `ms`, `s`, `m`, `h` | no | return timestamps as integers of that precision; `u` and `µ` both mean microseconds; default is RFC3339 with nanoseconds',
    (
      [
        [undefined, '1970-01-01T02:00:00Z'],
        ['ns', 7_200_000_000_000],
        ['u', 7_200_000_000],
        ['µ', 7_200_000_000],
        ['ms', 7_200_000],
        ['s', 7200],
        ['m', 120],
        ['h', 2],
      ] as const
    ).map(([epoch, time]) => ({
      of: epoch ?? 'by default',
      before: [['POST', '/write?db=d', 'hours f=1 7200000000000']] as const,
      path: query('SELECT f FROM hours', epoch === undefined ? db : { ...db, epoch }),
      status: 200,
      answer: oneSeries('hours', columns, [[time, 1]]),
    })),
  ],
  [
    [
      'u | string | required when authentication is enabled | username; the user needs read access to the database; used together with `p`',
      'p | string | required when authentication is enabled | password; used together with `u`',
    ],
    [
      {
        of: 'not needed when it is not (see Authentication)',
        ...plain,
        path: query('SELECT f FROM m', { ...nanos, u: 'nobody', p: 'no' }),
      },
    ],
  ],
  [
    'pretty | `true` | no | pretty-printed JSON (for debugging)',
    async () => {
      const { text } = await ask('GET', query('SHOW DATABASES', { pretty: 'true' }));
      expect(text).toBe(`${JSON.stringify(JSON.parse(text), null, 4)}\n`);
    },
  ],
  [
    'Statements from a file | multipart POST with form file field `q` holding statements separated by `;`, plus form field `async=true`',
    [
      {
        ...form,
        headers: { 'Content-Type': 'multipart/form-data; boundary=X' },
        body: '--X\r\nContent-Disposition: form-data; name="q"; filename="q.txt"\r\n\r\nSELECT f FROM m;SELECT f FROM m LIMIT 1\r\n--X--\r\n',
        answer: { results: [both.results[0], { ...first.results[0], statement_id: 1 }] },
      },
      {
        of: 'async',
        ...form,
        headers: { 'Content-Type': 'multipart/form-data; boundary=X' },
        body: '--X\r\nContent-Disposition: form-data; name="q"; filename="q.txt"\r\n\r\nSELECT f FROM m;\r\n--X\r\nContent-Disposition: form-data; name="async"\r\n\r\ntrue\r\n--X--\r\n',
        status: 204,
        answer: '',
      },
    ],
  ],
  [
    'Bind parameters | form field `params` holding a JSON object mapping `<placeholder_key>` to a value; the statement references it as `$<placeholder_key>` in a WHERE clause; values: number (float or integer), boolean, or a double-quoted string; tag values are strings and are given as JSON strings',
    (
      [
        ['an integer', '{"v":1}', 'i = $v', oneSeries('m', columns, [[1, 1]])],
        ['a float', '{"v":1.5}', 'f < $v', first],
        ['a float with an exponent', '{"v":1.5e0}', 'f < $v', first],
        ['a float with an exponent and no point', '{"v":1e+22}', 'f < $v', both],
        ['a boolean', '{"v":true}', 'f > 0 AND $v', both],
        ['a string', '{"v":"a"}', 't = $v', first],
      ] as const
    ).map(([of, params, condition, answer]) => ({
      ...form,
      of,
      body: new URLSearchParams({ q: `SELECT f FROM m WHERE ${condition}`, params }).toString(),
      answer,
    })),
  ],
  [
    'CSV output | request header `Accept: application/csv`; timestamps are then epoch integers (nanoseconds in the observed output), not RFC3339; the first line is a header `name,tags,time,<column>...`, each row is comma separated, a missing value is an empty cell',
    [
      {
        before,
        path: query('SELECT f, i FROM m GROUP BY t', db),
        headers: { Accept: 'application/csv' },
        status: 200,
        answer: 'name,tags,time,f,i\nm,t=a,1,1,1\nm,t=b,2,2,\n',
        answerHeaders: { 'content-type': 'application/csv' },
      },
      {
        of: 'a failing statement',
        path: query('SELECT f FROM m', { db: 'nothing' }),
        headers: { Accept: 'application/csv' },
        status: 200,
        answer: 'error\n"database not found: nothing"\n',
      },
    ],
  ],
  [
    'Responses: 200 with the Query result object (including when an individual statement failed, in which case that entry carries `error`); 400 and 401 as in Errors.',
    [
      plain,
      {
        of: 'a statement fails',
        before,
        path: query('SELECT f FROM m; SELECT f FROM no..m', nanos),
        status: 200,
        answer: {
          results: [both.results[0], { statement_id: 1, error: 'database not found: no' }],
        },
      },
      { of: '400', path: query('SELEC', db), status: 400 },
    ],
  ],
  [
    'Without `chunked`, the number of rows is not truncated unless a server setting named `max-row-limit` is configured.',
    async () => {
      const lines = Array.from({ length: 10_001 }, (_, i) => `many f=${i} ${i}`).join('\n');
      await ask('POST', '/write?db=d', { body: lines });
      const { text } = await ask('GET', query('SELECT f FROM many', db));
      expect(JSON.parse(text).results[0].series[0].values).toHaveLength(10_001);
    },
  ],
]);
