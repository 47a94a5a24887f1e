// The section “POST /write” of the specification of the database's HTTP API.
import { oneSeries, query, sentences, useDatabase } from './harness.ts';

useDatabase({
  statements: ['CREATE DATABASE d', 'CREATE RETENTION POLICY r2 ON d DURATION INF REPLICATION 1'],
});

const db = { db: 'd', epoch: 'ns' };
const post = { method: 'POST', path: '/write?db=d' };
const written = { status: 204, answer: '' };
const UNITS = [
  ['ns', 5],
  ['u', 5000],
  ['ms', 5_000_000],
  ['s', 5_000_000_000],
  ['m', 300_000_000_000],
  ['h', 18_000_000_000_000],
] as const;

sentences('POST /write', [
  [
    [
      'Writes points to an existing database.',
      'Response: 204 with an empty body on success.',
      'Request body: line protocol text, binary-encoded, points separated by newlines.',
      'A body may come from a file.',
    ],
    [
      { of: 'the response', ...post, body: 'm f=1 1\nm f=2 2', ...written },
      {
        of: 'both points',
        before: [['POST', '/write?db=d', 'm f=1 1\nm f=2 2']],
        path: query('SELECT f FROM m', db),
        status: 200,
        answer: oneSeries(
          'm',
          ['time', 'f'],
          [
            [1, 1],
            [2, 2],
          ],
        ),
      },
      {
        of: 'as curl sends a file',
        ...post,
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: 'm f=1 1\nm f=2 2\n',
        ...written,
      },
    ],
  ],
  [
    'db | string | yes | - | target database',
    [
      {
        of: 'missing',
        ...post,
        path: '/write',
        body: 'm f=1 1',
        status: 400,
        answer: { error: 'database is required' },
      },
    ],
  ],
  [
    "rp | string | no | the database's DEFAULT retention policy | target retention policy",
    [
      {
        before: [
          ['POST', '/write?db=d&rp=r2', 'held f=2 1'],
          ['POST', '/write?db=d', 'held f=1 1'],
        ],
        path: query('SELECT f FROM held; SELECT f FROM r2.held', db),
        status: 200,
        answer: {
          results: [1, 2].map((value, i) => ({
            statement_id: i,
            series: [{ name: 'held', columns: ['time', 'f'], values: [[1, value]] }],
          })),
        },
      },
    ],
  ],
  [
    'precision | one of `ns`, `u`, `ms`, `s`, `m`, `h` | no | `ns` | unit of supplied timestamps; the least precise workable unit is recommended because it improves compression',
    [['', 5] as const, ...UNITS].map(([unit, time]) => ({
      of: unit === '' ? 'by default' : unit,
      before: [
        ['POST', `/write?db=d${unit === '' ? '' : `&precision=${unit}`}`, `unit_${unit} f=1 5`],
      ] as const,
      path: query(`SELECT f FROM unit_${unit}`, db),
      status: 200,
      answer: oneSeries(`unit_${unit}`, ['time', 'f'], [[time, 1]]),
    })),
  ],
  [
    'consistency | one of `any`, `one`, `quorum`, `all` | no; clustered enterprise edition only | `one` | write consistency',
    ['any', 'one', 'quorum', 'all'].map((level) => ({
      of: level,
      ...post,
      path: `/write?db=d&consistency=${level}`,
      body: 'consistent f=1 1',
      ...written,
    })),
  ],
  [
    [
      'u | string | required when authentication is enabled | - | username; needs write access to the database',
      'p | string | required when authentication is enabled | - | password',
    ],
    [
      {
        of: 'not needed when it is not (see Authentication)',
        ...post,
        path: '/write?db=d&u=nobody&p=no',
        body: 'm f=1 1',
        ...written,
      },
    ],
  ],
  [
    'Failures: see Errors.',
    [
      { of: '400', ...post, body: 'm f= 1', status: 400 },
      { of: '404', ...post, path: '/write?db=no', body: 'm f=1', status: 404 },
      { of: '500', ...post, path: '/write?db=d&rp=no', body: 'm f=1', status: 500 },
    ],
  ],
]);
