// The section “Authentication” of the specification of the database's HTTP API.
import { createHmac } from 'node:crypto';

import { removeDirectory, send, startTidemark } from '@tidemark/testkit';
import { expect } from 'vitest';

import { ask, query, sentences, useDatabase } from './harness.ts';
import type { Asked } from './harness.ts';

const SECRET = 'a secret of sixteen letters or more';

useDatabase({
  args: ['--http-auth-enabled', 'true', '--http-realm', 'Rooms', '--http-shared-secret', SECRET],
  statements: ["CREATE USER root WITH PASSWORD 'pw' WITH ALL PRIVILEGES"],
});

const ROOT = { u: 'root', p: 'pw' };
const basic = (text: string) => ({
  Authorization: `Basic ${Buffer.from(text).toString('base64')}`,
});
const admin = (q: string) => ['POST', query(q, ROOT)] as const;
const before = [
  admin('CREATE DATABASE d'),
  admin("CREATE USER reader WITH PASSWORD 'r'"),
  admin("CREATE USER writer WITH PASSWORD 'w'"),
  admin('GRANT READ ON d TO reader'),
  admin('GRANT WRITE ON d TO writer'),
];
const refused = {
  status: 401,
  answer: { error: 'authorization failed' },
  answerHeaders: { 'www-authenticate': 'Basic realm="Rooms"' },
};
const empty = { status: 200, answer: { results: [{ statement_id: 0 }] } };
const read = { before, path: query('SELECT f FROM nothing', { db: 'd' }) };
const write = { before, method: 'POST', path: '/write?db=d', body: 'm f=1 1' };
const written = { status: 204, answer: '' };

sentences('Authentication', [
  [
    ['Authentication is optional.', 'When it is not enabled, credentials are not needed.'],
    async () => {
      const open = await startTidemark({ command: 'tsdb' });
      try {
        const { status } = await send(open.tsdb + query('SHOW DATABASES'), { method: 'GET' });
        expect(status).toBe(200);
      } finally {
        await open.stop();
        await removeDirectory(open.directory);
      }
    },
  ],
  [
    'When enabled, a request to /query or /write must carry credentials in one of two ways: query-string parameters `u` and `p`, or HTTP basic authentication.',
    [
      {
        of: '/query, parameters',
        ...read,
        path: query('SELECT f FROM nothing', { db: 'd', ...ROOT }),
        ...empty,
      },
      { of: '/query, basic', ...read, headers: basic('root:pw'), ...empty },
      { of: '/write, parameters', ...write, path: '/write?db=d&u=root&p=pw', ...written },
      { of: '/write, basic', ...write, headers: basic('root:pw'), ...written },
      { of: '/query, none', ...read, ...refused },
      { of: '/write, none', ...write, ...refused },
    ],
  ],
  [
    'Reading through /query requires read access on the database; writing through /write requires write access.',
    [
      { of: 'reading with it', ...read, headers: basic('reader:r'), ...empty },
      { of: 'reading without it', ...read, headers: basic('writer:w'), status: 403 },
      { of: 'writing with it', ...write, headers: basic('writer:w'), ...written },
      { of: 'writing without it', ...write, headers: basic('reader:r'), status: 403 },
    ],
  ],
  [
    'With invalid credentials the response is 401 with body `{"error":"authorization failed"}` and the header `Www-Authenticate: Basic realm=<realm_name>`.',
    (
      [
        ['a wrong password', query('SHOW DATABASES', { u: 'root', p: 'no' }), {}],
        ['an unknown user', query('SHOW DATABASES', { u: 'no', p: 'pw' }), {}],
        ['what is no token', query('SHOW DATABASES'), { Authorization: 'Bearer x' }],
      ] as const
    ).map(([of, path, headers]): Asked => ({ of, path, headers, ...refused })),
  ],
  [
    'The service states that JWT tokens are also supported.',
    async () => {
      const soon = Math.floor(Date.now() / 1000) + 600;
      for (const [claims, secret, status] of [
        [{ username: 'root', exp: soon }, SECRET, 200],
        [{ username: 'root', exp: 1 }, SECRET, 401],
        [{ username: 'root' }, SECRET, 401],
        [{ username: 'nobody', exp: soon }, SECRET, 401],
        [{ username: 'root', exp: soon }, `not ${SECRET}`, 401],
      ] as const) {
        const headers = { Authorization: `Bearer ${sign(claims, secret)}` };
        const answer = await ask('GET', query('SHOW DATABASES'), { headers });

        expect([claims, answer.status]).toEqual([claims, status]);
        if (status === 401) expect(JSON.parse(answer.text)).toEqual(refused.answer);
      }
    },
  ],
]);

function sign(claims: Record<string, unknown>, secret: string): string {
  const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}
