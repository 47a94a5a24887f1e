// “Authentication”, and 401 of “Errors”.
import { createHmac } from 'node:crypto';

import { expect, test } from 'vitest';

import { ask, query, sentences, useDatabase } from './harness.ts';

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

sentences([
  {
    sentence: 'credentials as query-string parameters u and p',
    before,
    path: query('SELECT f FROM nothing', { db: 'd', ...ROOT }),
    ...empty,
  },
  {
    sentence: 'or HTTP basic authentication',
    before,
    path: query('SELECT f FROM nothing', { db: 'd' }),
    headers: basic('root:pw'),
    ...empty,
  },
  {
    sentence: 'Reading through /query requires read access on the database',
    before,
    path: query('SELECT f FROM nothing', { db: 'd' }),
    headers: basic('reader:r'),
    ...empty,
  },
  {
    sentence: 'Reading … without it',
    before,
    path: query('SELECT f FROM nothing', { db: 'd' }),
    headers: basic('writer:w'),
    status: 403,
  },
  {
    sentence: 'writing through /write requires write access',
    before,
    method: 'POST',
    path: '/write?db=d&u=writer&p=w',
    body: 'm f=1 1',
    status: 204,
    answer: '',
  },
  {
    sentence: 'writing … without it',
    before,
    method: 'POST',
    path: '/write?db=d&u=reader&p=r',
    body: 'm f=1 1',
    status: 403,
  },
  {
    sentence: 'With invalid credentials: a wrong password',
    path: query('SHOW DATABASES', { u: 'root', p: 'no' }),
    ...refused,
  },
  {
    sentence: 'With invalid credentials: an unknown user',
    path: query('SHOW DATABASES', { u: 'no', p: 'pw' }),
    ...refused,
  },
  { sentence: 'With invalid credentials: none', path: query('SHOW DATABASES'), ...refused },
  {
    sentence: 'With invalid credentials: /write',
    before,
    method: 'POST',
    path: '/write?db=d',
    body: 'm f=1 1',
    ...refused,
  },
  {
    sentence: 'With invalid credentials: what is no token',
    path: query('SHOW DATABASES'),
    headers: { Authorization: 'Bearer x' },
    ...refused,
  },
]);

function sign(claims: Record<string, unknown>, secret: string): string {
  const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

const soon = Math.floor(Date.now() / 1000) + 600;

test.each([
  ['good', { username: 'root', exp: soon }, SECRET, 200],
  ['expired', { username: 'root', exp: 1 }, SECRET, 401],
  ['without an end', { username: 'root' }, SECRET, 401],
  ['of nobody', { username: 'nobody', exp: soon }, SECRET, 401],
  ['signed by somebody else', { username: 'root', exp: soon }, `not ${SECRET}`, 401],
])('JWT tokens are also supported: one that is %s', async (_, claims, secret, status) => {
  const headers = { Authorization: `Bearer ${sign(claims, secret)}` };
  const answer = await ask('GET', query('SHOW DATABASES'), { headers });

  expect(answer.status).toBe(status);
  if (status === 401) expect(JSON.parse(answer.text)).toEqual({ error: 'authorization failed' });
});
