// The section “Point (written through /write)” of the specification of the database's HTTP API.
import { expect } from 'vitest';

import { FORM, oneSeries, query, sentences, useDatabase } from './harness.ts';
import type { Asked } from './harness.ts';

useDatabase();

const db = { db: 'd', epoch: 'ns' };
const post = { method: 'POST', path: '/write?db=d' };
const written = { status: 204, answer: '' };
const LINE = 'whole,a=x,b=y f=1,i=2i,s="t",t=true 5';

/** Writes lines, and what is read then. */
function reads(name: string, lines: string, columns: string, values: unknown): Asked {
  return {
    before: [['POST', '/write?db=d', lines]],
    path: query(`SELECT ${columns.replace('time,', '')} FROM ${name}`, db),
    status: 200,
    answer: oneSeries(name, columns.split(','), values),
  };
}

sentences('Point (written through /write)', [
  [
    [
      'A point is one line of line protocol.',
      'Its logical shape is: measurement name, optional tag set, one or more fields, optional timestamp.',
    ],
    [
      reads('whole', LINE, 'time,a,b,f,i,s,t', [[5, 'x', 'y', 1, 2, 't', true]]),
      { of: 'no tags', ...post, body: 'bare f=1 5', ...written },
      { of: 'no timestamp', ...post, body: 'bare f=1', ...written },
      { of: 'no fields', ...post, body: 'bare 5', status: 400 },
    ],
  ],
  [
    'line | `<measurement>[,<tag_key>=<tag_value>...] <field_key>=<field_value>[,...] [<timestamp>]`',
    [reads('shape', 'shape,a=x f=1,g=2 5', 'time,a,f,g', [[5, 'x', 1, 2]])],
  ],
  [
    'tag value | stored as a string',
    [reads('tagged', 'tagged,t=5 f=1 1', 'time,f,t', [[1, 1, '5']])],
  ],
  [
    'field value | numeric (float or integer, the integer type being reported as int64) or other types; a field keeps the type of its first written value',
    [
      reads('kinds', 'kinds f=1.5,i=2i,s="t",b=false 1', 'time,b,f,i,s', [[1, false, 1.5, 2, 't']]),
      {
        of: 'of another type',
        before: [['POST', '/write?db=d', 'typed f=1i 1']],
        ...post,
        body: 'typed f=1.5 2',
        status: 400,
        answer: {
          error:
            'field type conflict: input field f on measurement typed is type float, already exists as type int64',
        },
      },
    ],
  ],
  [
    'timestamp | integer Unix time in the unit given by the `precision` parameter; default unit is nanoseconds; when omitted the server assigns its own current time in nanoseconds',
    [
      { of: 'the default', ...reads('nanos', 'nanos f=1 5', 'time,f', [[5, 1]]) },
      {
        of: 'seconds',
        ...reads('nanos', 'nanos f=1 5', 'time,f', [
          [5, 1],
          [9_000_000_000, 2],
        ]),
        before: [
          ['POST', '/write?db=d', 'nanos f=1 5'],
          ['POST', '/write?db=d&precision=s', 'nanos f=2 9'],
        ],
      },
      {
        of: 'omitted',
        before: [['POST', '/write?db=d', 'current f=1']],
        path: query('SELECT count(f) FROM current WHERE time > now() - 5m AND time <= now()', {
          ...db,
        }),
        status: 200,
        answer: {
          results: [
            {
              statement_id: 0,
              series: [
                { name: 'current', columns: ['time', 'count'], values: [[expect.any(Number), 1]] },
              ],
            },
          ],
        },
      },
    ],
  ],
  [
    'Several points in one request are separated by a newline character (`\\n`).',
    [
      reads('lines', 'lines,t=a f=1 1\nlines,t=b f=2 2', 'time,f,t', [
        [1, 1, 'a'],
        [2, 2, 'b'],
      ]),
    ],
  ],
  [
    'Carriage returns in the body cause parse errors.',
    [
      {
        of: 'at the end of a line',
        ...post,
        body: 'cr f=1 1\r\ncr f=2 2',
        status: 400,
        answer: { error: "partial write: unable to parse 'cr f=1 1\r': bad timestamp dropped=0" },
      },
      {
        of: 'at the start of a line',
        ...post,
        body: '\rcr f=1 1',
        status: 400,
        answer: { error: "unable to parse '\rcr f=1 1': carriage return at the start of the line" },
      },
    ],
  ],
  [
    'The body must be sent as raw binary, not form-encoded; form encodings may strip newlines or alter formatting.',
    [
      {
        of: 'whatever its type says, it is taken as it is',
        ...post,
        headers: FORM,
        body: 'raw f=1 1\nraw f=2 2',
        ...written,
      },
      { of: 'encoded', ...post, headers: FORM, body: 'raw+f%3D1+1', status: 400 },
    ],
  ],
  [
    'They are created and changed only through query statements.',
    [
      {
        of: 'a write creates no database',
        method: 'POST',
        path: '/write?db=other',
        body: 'm f=1',
        status: 404,
      },
      {
        of: 'and no retention policy',
        method: 'POST',
        path: '/write?db=d&rp=other',
        body: 'm f=1',
        status: 500,
      },
      { of: 'a statement does', method: 'POST', path: query('CREATE DATABASE other'), status: 200 },
    ],
  ],
]);
