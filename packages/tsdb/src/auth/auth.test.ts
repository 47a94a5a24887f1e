import { systemClock } from '@tidemark/core';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { ENDPOINTS, OPENAPI_ENDPOINT } from '../http/endpoints.ts';
import type { Endpoint, EndpointRight } from '../http/endpoints.ts';
import { startTestService, untilDefined } from '../testing.ts';
import type { TestService } from '../testing.ts';

const SECRET = 'shared between us';
let service: TestService;

const basic = (user: string, password: string): Record<string, string> => ({
  Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});

beforeAll(async () => {
  service = await startTestService({
    // Throttled users stay throttled, however long a test takes.
    clock: { ...systemClock(), monotonicMs: () => 0 },
    config: {
      http: {
        'auth-enabled': true,
        'shared-secret': SECRET,
        'ping-auth-enabled': true,
        'trusted-proxies': ['127.0.0.1'],
      },
    },
  });
});
afterAll(() => service.close());

test('before there is an admin, only the first one can be made', async () => {
  const refused = await service.query('SHOW DATABASES');
  expect([refused.status, refused.json]).toEqual([
    403,
    { error: 'error authorizing query: create admin user first or disable authentication' },
  ]);
  const write = await service.write('m f=1', { db: 'nosuch' });
  expect(write.status).toBe(404);

  const made = await service.query(
    "CREATE USER root WITH PASSWORD 'pw' WITH ALL PRIVILEGES; CREATE DATABASE d",
  );
  expect([made.status, made.json.results]).toEqual([
    200,
    [{ statement_id: 0 }, { statement_id: 1 }],
  ]);

  const admin = { headers: basic('root', 'pw') };
  for (const q of [
    "CREATE USER reader WITH PASSWORD 'pw'",
    "CREATE USER writer WITH PASSWORD 'pw'",
    "CREATE USER nobody WITH PASSWORD 'pw'",
    'GRANT READ ON d TO reader',
    'GRANT WRITE ON d TO writer',
    'CREATE DATABASE hidden',
    "CREATE USER other WITH PASSWORD 'pw'",
    'GRANT READ ON hidden TO other',
  ]) {
    const answer = await service.query(q, {}, admin);
    expect(answer.text).toBe('{"results":[{"statement_id":0}]}\n');
  }
});

describe('every endpoint asks for the right that the table names', () => {
  const users = {
    unknown: undefined,
    wrong: basic('reader', 'wrong'),
    nobody: basic('nobody', 'pw'),
    // Reads another database.
    other: basic('other', 'pw'),
    reader: basic('reader', 'pw'),
    writer: basic('writer', 'pw'),
    root: basic('root', 'pw'),
  };
  type Who = keyof typeof users;

  // The users that each right lets in; all other users get 403.
  const allowed: Record<EndpointRight, readonly Who[]> = {
    open: ['unknown', 'wrong', 'nobody', 'other', 'reader', 'writer', 'root'],
    ping: ['nobody', 'other', 'reader', 'writer', 'root'],
    user: ['nobody', 'other', 'reader', 'writer', 'root'],
    grant: ['other', 'reader', 'writer', 'root'],
    debug: ['root'],
    admin: ['root'],
    write: ['writer', 'root'],
    read: ['reader', 'root'],
    statements: ['reader', 'root'],
  };

  const cases = [...ENDPOINTS, OPENAPI_ENDPOINT].flatMap((endpoint: Endpoint) =>
    (Object.keys(users) as Who[]).map((who): [Endpoint, Who] => [endpoint, who]),
  );
  test.each(cases.map(([endpoint, who]) => [endpoint.path, who, endpoint] as const))(
    '%s for %s',
    async (path, who, endpoint) => {
      const parameters = new URLSearchParams({
        db: 'd',
        bucket: 'd',
        q: 'SELECT * FROM m',
        seconds: path === '/debug/pprof/profile' ? '0.01' : '0',
      });
      // A heap snapshot takes seconds; whether it may be taken does not.
      const isSlow = path === '/debug/pprof/heap';
      const method = endpoint.methods.includes('POST') ? 'POST' : isSlow ? 'HEAD' : 'GET';
      const answer = await service.get(`${path}?${parameters.toString()}`, {
        method,
        headers: users[who] ?? {},
        ...(endpoint.right === 'write' ? { body: 'm f=1 1' } : {}),
      });

      const isLetIn = allowed[endpoint.right].includes(who);
      if (!isLetIn && (who === 'unknown' || who === 'wrong')) {
        expect(answer.status).toBe(401);
        if (!isSlow) expect(answer.json).toEqual({ error: 'authorization failed' });
        expect(answer.headers.get('www-authenticate')).toBe('Basic realm="InfluxDB"');
      } else if (isLetIn) {
        // Let in: what the endpoint then says about the request is its own matter, but not that it
        // is forbidden.
        const isRefusal = answer.status === 403 && endpoint.path !== '/api/v2/query';
        expect([isRefusal, answer.status]).toEqual([false, answer.status]);
        expect(answer.status).not.toBe(401);
      } else expect(answer.status).toBe(403);
    },
  );
});

describe('statements', () => {
  const ask = (user: string, q: string, parameters: Record<string, string> = { db: 'd' }) =>
    service.query(q, parameters, { headers: basic(user, 'pw') });

  test.each([
    ['reader', 'SELECT * FROM m', true],
    ['writer', 'SELECT * FROM m', 'requires READ on d'],
    ['reader', 'SELECT * FROM hidden..m', 'requires READ on hidden'],
    ['reader', 'SELECT * FROM (SELECT * FROM hidden..m)', 'requires READ on hidden'],
    ['reader', 'SELECT * INTO copy FROM m', 'requires WRITE on d'],
    ['reader', 'DELETE FROM m', 'requires WRITE on d'],
    ['writer', 'DELETE FROM m', true],
    ['reader', 'DROP MEASUREMENT m', 'requires admin privilege'],
    ['reader', 'CREATE DATABASE x', 'requires admin privilege'],
    ['reader', "SET PASSWORD FOR reader = 'x'", 'requires admin privilege'],
    ['reader', 'SHOW RETENTION POLICIES ON hidden', 'requires READ on hidden'],
    ['nobody', 'SHOW DATABASES', true],
  ] as const)('%s: %s', async (user, q, expected) => {
    const answer = await ask(user, q);
    if (expected === true) expect(answer.status).toBe(200);
    else {
      expect(answer.status).toBe(403);
      expect(answer.json.error).toMatch(
        new RegExp(
          `^error authorizing query: ${user} not authorized to execute statement '.*', ${expected}$`,
        ),
      );
    }
  });

  test('nothing of a query runs when a part of it is forbidden', async () => {
    await ask('root', 'CREATE DATABASE probe');
    expect((await ask('writer', 'DROP RETENTION POLICY x ON d; DROP DATABASE probe')).status).toBe(
      403,
    );
    expect((await ask('root', 'SHOW DATABASES')).text).toContain('probe');
  });

  test('SHOW DATABASES lists what the user may see', async () => {
    const names = async (user: string) =>
      ((await ask(user, 'SHOW DATABASES')).json.results[0].series[0].values ?? []).flat();
    expect(await names('reader')).toEqual(['d']);
    expect(await names('nobody')).toEqual([]);
    expect(await names('root')).toEqual(expect.arrayContaining(['d', 'hidden']));
  });

  test('a password never shows in errors or logs', async () => {
    const answer = await ask('reader', "CREATE USER x WITH PASSWORD 'top secret'");
    expect(answer.json.error).toContain('[REDACTED]');
    await ask('root', "CREATE USER y WITH PASSWORD 'top secret'");
    await service.get(`/query?u=reader&p=top+secret&q=SHOW+USERS`);
    expect(service.logged.join('')).not.toMatch(/top.secret/);
  });
});

describe('credentials that another service was given', () => {
  const identify = (authorization: string, address = '10.1.1.1') =>
    service.get('/api/identity', {
      method: 'POST',
      headers: basic('root', 'pw'),
      body: JSON.stringify({ authorization, address }),
    });

  test('belong to a user with rights', async () => {
    const { Authorization: writer = '' } = basic('writer', 'pw');
    expect((await identify(writer)).json).toEqual({
      user: 'writer',
      admin: false,
      reads: [],
      writes: ['d'],
    });
    expect((await identify('Token reader:pw')).json).toEqual({
      user: 'reader',
      admin: false,
      reads: ['d'],
      writes: [],
    });
    const { Authorization: root = '' } = basic('root', 'pw');
    expect((await identify(root)).json).toMatchObject({ user: 'root', admin: true });
  });

  test('are wrong for the address they came from, not for the one that asks', async () => {
    const refused = { user: null, reason: 'authorization failed', throttled: false };
    for (let i = 0; i < 11; i++)
      expect((await identify('Token writer:wrong')).json).toEqual(refused);

    expect((await identify('Token writer:pw')).json).toMatchObject({ user: null, throttled: true });
    expect((await identify('Token writer:pw', '10.1.1.2')).json).toMatchObject({ user: 'writer' });
    const own = await service.query('SHOW DATABASES', {}, { headers: basic('writer', 'pw') });
    expect(own.status).toBe(200);
    expect(service.logged.join('')).toContain('"address":"10.1.1.1"');
  });

  test.each(['', 'Basic x', 'nonsense', 'Bearer x', 'Token tmk_unknown'])(
    '%j belongs to nobody',
    async (authorization) => {
      expect((await identify(authorization)).json).toMatchObject({ user: null, throttled: false });
    },
  );

  test('come as JSON with both texts', async () => {
    for (const body of ['', '[]', '{"authorization":"x"}', '{"authorization":1,"address":"x"}']) {
      const options = { method: 'POST', headers: basic('root', 'pw'), body };
      expect((await service.get('/api/identity', options)).status).toBe(400);
    }
  });
});

describe('credentials', () => {
  const sign = (claims: Record<string, unknown>, secret = SECRET) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(secret));
  const soon = Math.floor(Date.now() / 1000) + 600;
  const as = (authorization: string) =>
    service.get('/query?q=SHOW+DATABASES', { headers: { Authorization: authorization } });

  /** The client learns nothing but that; the reason is for those who read the log. */
  async function refusalOf(authorization: string): Promise<string> {
    const answer = await as(authorization);
    expect([answer.status, answer.json]).toEqual([401, { error: 'authorization failed' }]);
    const log = await service.get('/api/audit?limit=1', { headers: basic('root', 'pw') });
    return log.json.entries[0].reason;
  }

  test('in the URL, as basic, as token and as JWT', async () => {
    expect((await service.get('/query?q=SHOW+DATABASES&u=root&p=pw')).status).toBe(200);
    expect((await as(basic('root', 'pw')['Authorization']!)).status).toBe(200);
    expect((await as('Token root:pw')).status).toBe(200);
    expect((await as(`Bearer ${await sign({ username: 'root', exp: soon })}`)).status).toBe(200);
  });

  test.each([
    ['expired', { username: 'root', exp: 1 }, 'Token is expired'],
    ['too early', { username: 'root', exp: soon, nbf: soon }, 'Token is not valid yet'],
    ['from the future', { username: 'root', exp: soon, iat: soon }, 'Token used before issued'],
    ['without end', { username: 'root' }, 'token expiration required'],
    ['without name', { exp: soon }, 'username in token must be a string'],
    ['with an empty name', { username: '', exp: soon }, 'token must contain a username'],
    ['of somebody unknown', { username: 'x', exp: soon }, 'user not found'],
  ])('a token %s is refused, and the log says why', async (_, claims, reason) => {
    expect(await refusalOf(`Bearer ${await sign(claims)}`)).toBe(reason);
  });

  test('a token that is signed otherwise, or is none, is refused', async () => {
    const forged = await sign({ username: 'root', exp: soon }, 'other');
    expect(await refusalOf(`Bearer ${forged}`)).toBe('signature is invalid');
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(
      JSON.stringify({ username: 'root', exp: soon }),
    ).toString('base64url')}.`;
    expect(await refusalOf(`Bearer ${none}`)).toBe('unexpected signing method: none');
    expect(await refusalOf('Bearer x')).toBe('token contains an invalid number of segments');
  });

  test('a changed password counts at once', async () => {
    const admin = { headers: basic('root', 'pw') };
    await service.query("CREATE USER changing WITH PASSWORD 'old'", {}, admin);
    expect((await as('Token changing:old')).status).toBe(200);
    await service.query("SET PASSWORD FOR changing = 'new'", {}, admin);
    expect((await as('Token changing:old')).status).toBe(401);
    expect((await as('Token changing:new')).status).toBe(200);
  });

  test('an API token stands for its user until it expires or is revoked', async () => {
    const admin = basic('root', 'pw');
    const make = (body: unknown) =>
      service.get('/api/tokens', { method: 'POST', headers: admin, body: JSON.stringify(body) });
    const made = await make({ name: 'grafana', user: 'reader', expiresIn: '720h' });
    expect(made.status).toBe(201);
    const { token } = made.json;
    expect((await as(`Token ${token}`)).json.results[0].series[0].values).toEqual([['d']]);
    expect((await as(`Bearer ${token}`)).status).toBe(200);
    expect((await as(`Token ${token}x`)).status).toBe(401);
    expect((await make({ name: 'grafana', user: 'reader' })).status).toBe(409);
    expect((await make({ name: 'x', user: 'nosuch' })).status).toBe(404);
    expect((await make({ name: 'x', user: 'reader', expiresIn: 5 })).status).toBe(400);

    const short = await make({ name: 'short', user: 'reader', expiresIn: '1ms' });
    await untilDefined('the end of the token', async () =>
      (await as(`Token ${short.json.token}`)).status === 401 ? true : undefined,
    );

    const listed = await service.get('/api/tokens', { headers: admin });
    expect(listed.json.tokens.map((t: { name: string; user: string }) => [t.name, t.user])).toEqual(
      [
        ['grafana', 'reader'],
        ['short', 'reader'],
      ],
    );
    expect(listed.text).not.toContain(token);
    await service.get('/api/tokens?name=grafana', { method: 'DELETE', headers: admin });
    expect((await as(`Token ${token}`)).status).toBe(401);
    expect(service.logged.join('')).not.toContain(token);
  });

  test('guessing is slowed down', async () => {
    const admin = { headers: basic('root', 'pw') };
    await service.query("CREATE USER guessed WITH PASSWORD 'right'", {}, admin);
    const statuses: number[] = [];
    for (let i = 0; i < 12; i++) statuses.push((await as('Token guessed:wrong')).status);
    expect(statuses.slice(0, 11)).toEqual(Array.from({ length: 11 }, () => 401));
    expect(statuses[11]).toBe(429);
  });

  test('many guesses at once are as few as one after the other', async () => {
    const admin = { headers: basic('root', 'pw') };
    await service.query("CREATE USER crowded WITH PASSWORD 'right'", {}, admin);
    const statuses = await Promise.all(
      Array.from({ length: 60 }, async (_, i) => (await as(`Token crowded:wrong${i}`)).status),
    );
    expect(statuses.filter((status) => status === 401)).toHaveLength(11);
    expect(statuses.filter((status) => status === 429)).toHaveLength(49);
  });
});

describe('an address that has tried many users', () => {
  const from = (address: string, authorization: string) =>
    service.get('/query?q=SHOW+DATABASES', {
      headers: { Authorization: authorization, 'X-Forwarded-For': address },
    });
  const token = (name: string, password: string) =>
    from('198.51.100.7', `Token ${name}:${password}`);

  test('does not shut out tokens, users who were right there, or other addresses', async () => {
    const admin = { headers: basic('root', 'pw') };
    const made = await service.get('/api/tokens', {
      method: 'POST',
      body: JSON.stringify({ name: 'exempt', user: 'reader' }),
      ...admin,
    });
    expect((await token('root', 'pw')).status).toBe(200);
    const tries = Array.from({ length: 110 }, (_, i) => token(`nobody${i}`, 'x'));
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(101);

    expect((await token('reader', 'pw')).status).toBe(429);
    expect((await token('root', 'pw')).status).toBe(200);
    expect((await from('198.51.100.7', `Token ${made.json.token}`)).status).toBe(200);
    expect((await from('198.51.100.8', 'Token reader:pw')).status).toBe(200);
    expect((await as('Token reader:pw')).status).toBe(200);
  });

  const as = (authorization: string) =>
    service.get('/query?q=SHOW+DATABASES', { headers: { Authorization: authorization } });

  test('is the one that a trusted proxy names, whatever the client has named before', async () => {
    for (let i = 0; i < 11; i++) await from(`203.0.113.${i}, 198.51.100.9`, 'Token writer:x');
    expect((await from('198.51.100.9', 'Token writer:pw')).status).toBe(429);
    expect((await from('198.51.100.10', 'Token writer:pw')).status).toBe(200);
    expect(service.logged.join('')).toContain('"address":"198.51.100.9"');
  });
});

test('counters can be opened for scrapers without credentials, and nothing else', async () => {
  const open = await startTestService({
    config: { http: { 'auth-enabled': true, 'pprof-auth-enabled': false } },
  });
  await open.query("CREATE USER root WITH PASSWORD 'pw' WITH ALL PRIVILEGES");
  const paths = ['/debug/vars', '/debug/pprof', '/debug/slow-queries', '/query?q=SHOW+DATABASES'];
  const statuses = paths.map(async (path) => (await open.get(path)).status);
  expect(await Promise.all(statuses)).toEqual([200, 401, 401, 401]);
  await open.close();
});

test('listening where others can reach it needs authentication, or insisting', async () => {
  await expect(
    startTestService({ config: { http: { 'bind-address': '0.0.0.0:0' } } }),
  ).rejects.toThrow(/can be reached from other machines, and authentication is off/);
});
