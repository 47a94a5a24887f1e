// Queries to the database about users, against fake responses: how often they are sent, how long
// results are cached, and how they are interpreted.
import { expect, test } from 'vitest';
import type { OutgoingRequest, IncomingResponse } from '@tidemark/settings';
import { optionsGiven, TestClock } from '@tidemark/testkit';
import { TSDB_SECTION } from '../config/cluster-section.ts';
import { Clusters } from '../database/clusters.ts';
import { DatabaseUsers } from './database-users.ts';

const OWN = { username: 'engine', password: 'own' };
const CLAIM = { authorization: 'Token tmk_x', address: '10.0.0.1' };
const ANA = { user: 'ana', admin: false, reads: ['r'], writes: ['d'] };

type Answer = { readonly status: number; readonly json?: unknown };

function make(
  answer: (request: OutgoingRequest) => Answer,
  credentials: Readonly<Record<string, string>> = OWN,
) {
  const requests: OutgoingRequest[] = [];
  const clusters = new Clusters({
    send: (request) => {
      requests.push(request);
      const { status, json } = answer(request);
      const response: IncomingResponse = { status, headers: {}, body: JSON.stringify(json ?? {}) };
      return Promise.resolve(response);
    },
    close: () => Promise.resolve(),
  });
  const configure = (more: Readonly<Record<string, string>> = credentials): void =>
    clusters.update([
      optionsGiven(TSDB_SECTION.options, { name: 'default', urls: ['http://db'], ...more }),
    ]);
  configure();
  const clock = new TestClock();
  const users = new DatabaseUsers({ clusters, clock });
  return { users, requests, clusters, configure, advance: (ms: number) => clock.advance(ms) };
}

/** A database that answers statements as one that knows `ana`, who is no admin. */
function statements({ url, headers }: OutgoingRequest): Answer {
  const { pathname, searchParams } = new URL(url);
  if (pathname === '/api/identity') return { status: 404 };
  if (headers?.['Authorization'] !== CLAIM.authorization) return { status: 401 };
  if (pathname === '/write') return { status: searchParams.get('db') === 'd' ? 204 : 403 };
  if (searchParams.get('q') === 'SHOW USERS') return { status: 403 };
  const policies = /^SHOW RETENTION POLICIES ON (.*)$/.exec(searchParams.get('q') ?? '');
  if (policies !== null) return { status: policies[1] === '"d"' ? 200 : 403 };
  const series = [{ name: 'databases', columns: ['name'], values: [['d']] }];
  return { status: 200, json: { results: [{ series }] } };
}

const pathOf = ({ url }: OutgoingRequest): string => new URL(url).pathname;

test('the database is asked once, by the engine, and told from where the client is', async () => {
  const { users, requests } = make(() => ({ status: 200, json: ANA }));

  const both = await Promise.all([users.user(CLAIM), users.user(CLAIM)]);

  expect(both[0]).toMatchObject({ name: 'ana', isAdmin: false });
  expect(both[1]).toBe(both[0]);
  expect([await both[0].canWrite('d'), await both[0].canWrite('e')]).toEqual([true, false]);
  expect([await both[0].canRead('r'), await both[0].canRead('d')]).toEqual([true, false]);
  expect(requests).toHaveLength(1);
  expect(requests[0]).toMatchObject({
    url: 'http://db/api/identity',
    headers: { Authorization: `Basic ${Buffer.from('engine:own').toString('base64')}` },
    body: JSON.stringify(CLAIM),
  });
});

test.each([
  [{ reads: [], writes: [] }, false],
  [{ reads: ['d'], writes: [] }, true],
  [{ reads: [], writes: ['d'] }, true],
])('a user with %j has something granted: %s', async (rights, hasGrant) => {
  const { users } = make(() => ({ status: 200, json: { ...ANA, ...rights } }));

  expect((await users.user(CLAIM)).hasGrant).toBe(hasGrant);
});

test('a database that only knows statements is asked for policies, which takes READ', async () => {
  const { users, requests } = make(statements, {});
  const user = await users.user(CLAIM);
  const before = requests.length;

  const answers = [await user.canRead('d'), await user.canRead('e'), await user.canRead('d')];

  expect(answers).toEqual([true, false, true]);
  expect(requests.length - before).toBe(2);
  expect(requests.at(-1)?.headers).toMatchObject({ Authorization: CLAIM.authorization });
});

test('an answer counts for a minute, and not after the cluster was changed', async () => {
  const { users, requests, configure, advance } = make(() => ({ status: 200, json: ANA }));
  await users.user(CLAIM);
  advance(59_999);
  await users.user(CLAIM);
  expect(requests).toHaveLength(1);
  advance(1);
  await users.user(CLAIM);
  expect(requests).toHaveLength(2);
  configure({ username: 'other', password: 'own' });
  await users.user(CLAIM);
  expect(requests).toHaveLength(3);
});

test('refusals are not kept', async () => {
  let answer: Answer = { status: 200, json: { user: null, reason: 'no', throttled: false } };
  const { users } = make(() => answer);

  await expect(users.user(CLAIM)).rejects.toMatchObject({ code: 'UNAUTHORIZED', message: 'no' });
  answer = { status: 200, json: { user: null, reason: 'later', throttled: true } };
  await expect(users.user(CLAIM)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  answer = { status: 503 };
  await expect(users.user(CLAIM)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  answer = { status: 409 };
  await expect(users.user(CLAIM)).rejects.toThrow('the database has no authentication');
  answer = { status: 200, json: ANA };
  expect((await users.user(CLAIM)).name).toBe('ana');
});

test.each([
  ['does not know the question', OWN, statements],
  [
    'is another product',
    OWN,
    (r: OutgoingRequest): Answer =>
      pathOf(r) === '/api/identity' ? { status: 200, json: ['page'] } : statements(r),
  ],
  [
    'does not let the engine ask',
    OWN,
    (r: OutgoingRequest): Answer =>
      pathOf(r) === '/api/identity' ? { status: 403 } : statements(r),
  ],
  ['is not told who the engine is', {}, statements],
] as const)('a database that %s is asked as the user', async (_why, credentials, answer) => {
  const { users, requests } = make(answer, credentials);

  const user = await users.user(CLAIM);
  await users.user({ ...CLAIM, authorization: 'Token tmk_other' }).catch(() => undefined);

  expect(user).toMatchObject({ name: '', isAdmin: false, hasGrant: true });
  expect([await user.canWrite('d'), await user.canWrite('e')]).toEqual([true, false]);
  const questions = requests.filter((request) => pathOf(request) === '/api/identity');
  expect(questions).toHaveLength(credentials === OWN ? 1 : 0);
});

test('a database that brakes the engine is no refusal of the user', async () => {
  const { users } = make(
    ({ headers }) => ({ status: headers?.['Authorization'] === undefined ? 401 : 429 }),
    {},
  );

  await expect(users.user(CLAIM)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
});

test('without a default cluster nobody is anybody', async () => {
  const { users, clusters, requests } = make(() => ({ status: 200, json: ANA }));
  await users.user(CLAIM);
  clusters.update([]);

  await expect(users.user(CLAIM)).rejects.toThrow('no default cluster that knows users');
  expect(requests).toHaveLength(1);
});

test('users are remembered up to a limit, the oldest is forgotten', async () => {
  const { users, requests } = make(() => ({ status: 200, json: ANA }));
  const claim = (i: number) => ({ ...CLAIM, authorization: `Token tmk_${i}` });
  for (let i = 0; i <= 10_000; i++) await users.user(claim(i));
  const before = requests.length;

  await users.user(claim(10_000));
  expect(requests.length).toBe(before);
  await users.user(claim(0));
  expect(requests.length).toBe(before + 1);
});
