// “Point (written through /write)” and “POST /write”.
import { sentences, useDatabase } from './harness.ts';

useDatabase({
  statements: ['CREATE DATABASE d', 'CREATE RETENTION POLICY r2 ON d DURATION INF REPLICATION 1'],
});

const post = { method: 'POST' };
const written = { status: 204, answer: '' };

sentences([
  {
    sentence: 'Several points in one request are separated by a newline character',
    before: [['POST', '/write?db=d', 'lines,t=a f=1 1\nlines,t=b f=2 2']],
    path: '/query?db=d&epoch=ns&q=SELECT+*+FROM+lines',
    status: 200,
    answer: {
      results: [
        {
          statement_id: 0,
          series: [
            {
              name: 'lines',
              columns: ['time', 'f', 't'],
              values: [
                [1, 1, 'a'],
                [2, 2, 'b'],
              ],
            },
          ],
        },
      ],
    },
  },
  {
    sentence: 'Carriage returns in the body cause parse errors',
    ...post,
    path: '/write?db=d',
    body: 'cr f=1 1\r\ncr f=2 2',
    status: 400,
    answer: { error: "partial write: unable to parse 'cr f=1 1\r': bad timestamp dropped=0" },
  },
  {
    sentence: 'Carriage returns in the body cause parse errors: at the start of a line',
    ...post,
    path: '/write?db=d',
    body: '\rcr f=1 1',
    status: 400,
    answer: { error: "unable to parse '\rcr f=1 1': carriage return at the start of the line" },
  },
  {
    sentence: 'tag value: stored as a string',
    before: [['POST', '/write?db=d', 'tagged,t=5 f=1 1']],
    path: '/query?db=d&epoch=ns&q=SELECT+f,t+FROM+tagged',
    status: 200,
    answer: {
      results: [
        {
          statement_id: 0,
          series: [{ name: 'tagged', columns: ['time', 'f', 't'], values: [[1, 1, '5']] }],
        },
      ],
    },
  },
  {
    sentence:
      'a field keeps the type of its first written value, the integer type being reported as int64',
    before: [['POST', '/write?db=d', 'typed f=1i 1']],
    ...post,
    path: '/write?db=d',
    body: 'typed f=1.5 2',
    status: 400,
    answer: {
      error:
        'field type conflict: input field f on measurement typed is type float, already exists as type int64',
    },
  },
  ...[
    ['ns', 5],
    ['u', 5000],
    ['ms', 5_000_000],
    ['s', 5_000_000_000],
    ['m', 300_000_000_000],
    ['h', 18_000_000_000_000],
  ].map(([unit, nanos]) => ({
    sentence: `integer Unix time in the unit given by the precision parameter: ${unit}`,
    before: [['POST', `/write?db=d&precision=${unit}`, `unit_${unit} f=1 5`]] as const,
    path: `/query?db=d&epoch=ns&q=SELECT+f+FROM+unit_${unit}`,
    status: 200,
    answer: {
      results: [
        {
          statement_id: 0,
          series: [{ name: `unit_${unit}`, columns: ['time', 'f'], values: [[nanos, 1]] }],
        },
      ],
    },
  })),
  {
    sentence: 'default unit is nanoseconds',
    before: [['POST', '/write?db=d', 'default f=1 5']],
    path: '/query?db=d&epoch=ns&q=SELECT+f+FROM+%22default%22',
    status: 200,
    answer: {
      results: [
        {
          statement_id: 0,
          series: [{ name: 'default', columns: ['time', 'f'], values: [[5, 1]] }],
        },
      ],
    },
  },
  {
    sentence: 'rp: target retention policy; the database’s DEFAULT retention policy otherwise',
    before: [
      ['POST', '/write?db=d&rp=r2', 'held f=2 1'],
      ['POST', '/write?db=d', 'held f=1 1'],
    ],
    path: '/query?db=d&epoch=ns&q=SELECT+f+FROM+held;SELECT+f+FROM+r2.held',
    status: 200,
    answer: {
      results: [1, 2].map((value, i) => ({
        statement_id: i,
        series: [{ name: 'held', columns: ['time', 'f'], values: [[1, value]] }],
      })),
    },
  },
  ...['any', 'one', 'quorum', 'all'].map((level) => ({
    sentence: `consistency: one of any, one, quorum, all: ${level}`,
    ...post,
    path: `/write?db=d&consistency=${level}`,
    body: 'consistent f=1 1',
    ...written,
  })),
  {
    sentence: '204 with an empty body on success',
    ...post,
    path: '/write?db=d',
    body: 'success f=1 1',
    ...written,
  },
  {
    sentence: 'db: required',
    ...post,
    path: '/write',
    body: 'm f=1 1',
    status: 400,
    answer: { error: 'database is required' },
  },
]);
