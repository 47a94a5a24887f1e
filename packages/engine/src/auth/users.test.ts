// Rights when authentication is on, with real users of a real database: an admin, a user who may
// write to one database, a user who may read it, a user without rights, and a user whom the
// database does not know.
import { createHmac } from 'node:crypto';
import http from 'node:http';
import { systemClock } from '@tidemark/core';
import {
  eventually,
  hasPrograms,
  query,
  removeDirectory,
  send,
  startInfluxdb,
  startTidemark,
} from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestEngine } from '@tidemark/testkit/engine';

const SHARED_SECRET = 'signs-tokens';
const START_TIMEOUT_MS = 60_000;

type Database = { readonly url: string; stop(): Promise<void> };

const DATABASES = [
  {
    name: 'InfluxDB 1.6',
    isThere: hasPrograms('influxd'),
    takesTokens: false,
    open: (): Promise<Database> => startInfluxdb({ isAuthenticated: true }),
  },
  {
    name: 'the database',
    isThere: true,
    takesTokens: true,
    open: async (): Promise<Database> => {
      const args = ['--http-auth-enabled', 'true', '--monitor-store-enabled', 'false'];
      args.push('--http-shared-secret', SHARED_SECRET);
      const server = await startTidemark({ command: 'tsdb', args });
      const stop = async (): Promise<void> => {
        await server.stop();
        await removeDirectory(server.directory);
      };
      return { url: server.tsdb, stop };
    },
  },
];

const basic = (user: string, password = `of-${user}`): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

function bearer(username: string): string {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const text = `${encode({ alg: 'HS256' })}.${encode({ username, exp })}`;
  return `Bearer ${text}.${createHmac('sha256', SHARED_SECRET).update(text).digest('base64url')}`;
}

/** Status of a request from an address of this machine that other tests do not come from. */
function statusFrom(localAddress: string, url: string, authorization: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { localAddress, headers: { authorization }, agent: false };
    const request = http.get(url, options, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    request.on('error', reject);
  });
}

/** Executes statements; the answer's text. */
async function asAdmin(url: string, statements: string): Promise<string> {
  const search = new URLSearchParams({ q: statements, db: 'd' });
  const headers = { authorization: basic('admin') };
  const { text } = await send(`${url}/query?${search.toString()}`, { method: 'POST', headers });
  expect(text).not.toContain('error');
  return text.trim();
}

const TASK = { dbrps: [{ db: 'd', rp: 'r' }], script: 'stream|from()' };
const TOPICS = '/engine/v1preview/alerts/topics';

/** Everything that defines, changes or shows secrets. */
const FOR_ADMINS: readonly (readonly [string, string, string, unknown?])[] = [
  ['POST', '/engine/v1/tasks', 'write', { id: 't', ...TASK }],
  ['POST', '/engine/v1/%74asks', 'write', { id: 't', ...TASK }],
  ['POST', '/kapacitor/v1/tasks', 'write', { id: 't', ...TASK }],
  ['POST', '/engine/v1preview/tasks', 'write', { id: 't', ...TASK }],
  ['PATCH', '/engine/v1/tasks/t', 'write', { status: 'enabled' }],
  ['DELETE', '/engine/v1/tasks/t', 'delete'],
  ['POST', '/engine/v1/templates', 'write', {}],
  ['DELETE', '/engine/v1/templates/t', 'delete'],
  ['POST', `${TOPICS}/t/handlers`, 'write', {}],
  ['PUT', `${TOPICS}/t/handlers/h`, 'write', {}],
  ['DELETE', `${TOPICS}/t`, 'delete'],
  ['POST', '/engine/v1/config/smtp/', 'write', {}],
  ['POST', '/engine/v1/config/smtp/write', 'write', {}],
  ['POST', '/engine/v1/storage/stores/tasks', 'write', {}],
  ['GET', '/engine/v1/storage/backup', 'read'],
  ['GET', '/engine/v1/storage/b%61ckup', 'read'],
  ['HEAD', '/engine/v1/storage/backup', 'read'],
  ['GET', '/engine/v1/debug/pprof/heap', 'read'],
  ['POST', '/engine/v1/recordings/stream', 'write', {}],
  ['DELETE', '/engine/v1/recordings/r', 'delete'],
  ['POST', '/engine/v1/replays', 'write', {}],
  ['POST', '/engine/v1/replays/batch', 'write', {}],
  ['DELETE', '/engine/v1/replays/r', 'delete'],
  ['POST', '/engine/v1/service-tests/smtp', 'write', {}],
  ['POST', '/engine/v1/loglevel', 'write', { level: 'info' }],
  ['POST', '/engine/v1/load/reload', 'write'],
  ['POST', '/engine/v1/subscriptions', 'write'],
];

const FOR_ALL = [
  '/engine/v1/ping',
  '/engine/v1/tasks',
  '/engine/v1/templates',
  '/engine/v1/recordings',
  '/engine/v1/replays/',
  '/engine/v1/config',
  '/engine/v1/storage/stores',
  '/engine/v1/service-tests',
  '/engine/v1/debug/vars',
  TOPICS,
];

describe.each(DATABASES.filter(({ isThere }) => isThere))(
  'users of $name',
  ({ open, takesTokens }) => {
    const engine = new TestEngine();
    let database: Database;

    beforeAll(async () => {
      database = await open();
      await query(database.url, "CREATE USER admin WITH PASSWORD 'of-admin' WITH ALL PRIVILEGES");
      await asAdmin(
        database.url,
        `CREATE DATABASE d; CREATE DATABASE other;
         CREATE USER writer WITH PASSWORD 'of-writer'; GRANT WRITE ON d TO writer;
         CREATE USER reader WITH PASSWORD 'of-reader'; GRANT READ ON d TO reader;
         CREATE USER nobody WITH PASSWORD 'of-nobody'`,
      );
      const values = {
        http: { 'auth-enabled': true, 'shared-secret': SHARED_SECRET, 'compat-paths': true },
        tsdb: [
          {
            name: 'default',
            default: true,
            urls: [database.url],
            username: 'admin',
            password: 'of-admin',
          },
        ],
      };
      // Throttled users stay throttled, however long a test takes.
      const clock = { ...systemClock(), monotonicMs: () => 0 };
      await engine.start(values, { clock });
    }, START_TIMEOUT_MS);

    afterAll(async () => {
      await engine.close();
      await database.stop();
    });

    const write = (authorization: string, db: string, path = '/write') =>
      engine.call('POST', `${path}?db=${db}&rp=autogen`, 'm v=1', { authorization });

    test.each(
      FOR_ADMINS.map(([method, path, privilege, body]) => ({ method, path, privilege, body })),
    )('$method $path is for admins', async ({ method, path, privilege, body }) => {
      const headers = { authorization: basic('writer') };
      const answer = await engine.call(method, path, body, headers);

      expect(answer.status).toBe(403);
      if (method === 'HEAD') return;
      const { error } = answer.json as { readonly error: string };
      expect(error).toContain(
        `user writer does not have "${privilege}" privilege for API endpoint "/engine/v1`,
      );
      expect(error.endsWith(`/${path.split('/').at(-1)}"`)).toBe(true);
    });

    test('admins define, and nothing that others sent was defined before', async () => {
      const authorization = basic('admin');
      const before = await engine.call('GET', '/engine/v1/tasks', undefined, { authorization });
      const task = { id: 'by-admin', ...TASK };
      const made = await engine.call('POST', '/engine/v1/tasks', task, { authorization });
      const backup = await engine.call('GET', '/engine/v1/storage/backup', undefined, {
        authorization,
      });

      expect(before.json).toEqual({ tasks: [] });
      expect(made.status).toBe(200);
      expect(backup.status).toBe(200);
    });

    test.each(FOR_ALL)('GET %s is for users who were granted something', async (path) => {
      const statuses = async (users: readonly string[]): Promise<readonly number[]> => {
        const found: number[] = [];
        for (const authorization of users)
          found.push((await engine.call('GET', path, undefined, { authorization })).status);
        return found;
      };
      const users = ['admin', 'writer', 'reader'].map((user) => basic(user));
      const isPing = path.endsWith('ping');

      expect(await statuses(users)).toEqual(users.map(() => (isPing ? 204 : 200)));
      expect(await statuses([basic('nobody')])).toEqual([isPing ? 204 : 403]);
      expect(await statuses([basic('who'), basic('admin', 'wrong'), ''])).toEqual([401, 401, 401]);
    });

    test.each(['/write', '/engine/v1/write', '/engine/v1preview/write'])(
      '%s takes points of who may write to that database',
      async (path) => {
        expect((await write(basic('admin'), 'd', path)).status).toBe(204);
        expect((await write(basic('admin'), 'nowhere', path)).status).toBe(204);
        expect((await write(basic('writer'), 'd', path)).status).toBe(204);
        for (const [user, db] of [
          ['writer', 'other'],
          ['writer', 'nowhere'],
          ['reader', 'd'],
          ['nobody', 'd'],
        ] as const) {
          expect(await write(basic(user), db, path)).toMatchObject({
            status: 401,
            json: { error: `"${user}" user is not authorized to write to database "${db}"` },
          });
        }
        const failed = await write(basic('writer', 'wrong'), 'd', path);
        expect(failed).toMatchObject({ status: 401, json: { error: 'authorization failed' } });
      },
    );

    test('a write that is only asked about leaves nothing in the database', async () => {
      await write(basic('writer'), 'd');
      expect(await asAdmin(database.url, 'SHOW MEASUREMENTS')).toBe(
        '{"results":[{"statement_id":0}]}',
      );
    });

    test('tasks receive points that are written to the database', async () => {
      const authorization = basic('admin');
      const task = {
        id: 'subscribed',
        status: 'enabled',
        dbrps: [{ db: 'other', rp: 'autogen' }],
        script: "stream|from()|httpOut('out')",
      };
      const made = await engine.call('POST', '/engine/v1/tasks', task, { authorization });
      expect(made.status).toBe(200);
      await engine.call('POST', '/engine/v1/subscriptions', undefined, { authorization });
      const rows = await eventually('a point', async () => {
        // The database takes over a new subscription after a while.
        const headers = { authorization };
        const body = 'subscribed v=1 1';
        await send(`${database.url}/write?db=other&rp=autogen`, { method: 'POST', headers, body });
        const output = await engine.call(
          'GET',
          '/engine/v1/tasks/subscribed/out',
          undefined,
          headers,
        );
        return output.json.series?.[0]?.values;
      });
      expect(rows).toEqual([['1970-01-01T00:00:00.000000001Z', 1]]);
    });

    test('subscriptions that hold a token stay when they are compared again', async () => {
      const count = () =>
        engine.log.filter((line) => line.startsWith('created subscription')).length;
      const headers = { authorization: basic('admin') };
      const before = count();
      expect(before).toBeGreaterThan(0);
      await engine.call('POST', '/engine/v1/subscriptions', undefined, headers);
      expect(count()).toBe(before);
      expect(engine.log.join('')).not.toContain('dropped subscription');
    });

    test('wrong passwords are braked for the client that sends them, and for nobody else', async () => {
      const url = `${engine.url}/engine/v1/tasks`;
      const statuses: number[] = [];
      for (let i = 0; i < 12; i++)
        statuses.push(await statusFrom('127.0.0.2', url, basic('reader', 'wrong')));

      expect(statuses).toEqual([...Array<number>(11).fill(401), 429]);
      expect(await statusFrom('127.0.0.2', url, basic('reader'))).toBe(429);
      expect(await statusFrom('127.0.0.2', url, basic('writer'))).toBe(200);
      expect(await statusFrom('127.0.0.3', url, basic('reader'))).toBe(200);
      const direct = `${database.url}/query?q=SHOW+DATABASES`;
      expect((await send(direct, { headers: { authorization: basic('reader') } })).status).toBe(
        200,
      );
    });

    test.each(['/engine/v1/users', '/kapacitor/v1/users/ana'])(
      '%s says where users are',
      async (path) => {
        expect(await engine.call('GET', path)).toMatchObject({
          status: 404,
          json: { error: expect.stringContaining('CREATE USER') },
        });
      },
    );

    test('a browser is told to ask for a password, and for nothing where one is not allowed', async () => {
      const challenge = async (user: string): Promise<string | null> => {
        const headers = { authorization: basic(user) };
        const { headers: answered } = await engine.call(
          'DELETE',
          '/engine/v1/tasks/t',
          '',
          headers,
        );
        return answered.get('www-authenticate');
      };
      expect(await challenge('who')).toBe('Basic realm="InfluxDB"');
      expect(await challenge('writer')).toBeNull();
    });

    test('passwords come as tokens too', async () => {
      expect((await write('Token writer:of-writer', 'd')).status).toBe(204);
      expect((await write('Token writer:wrong', 'd')).status).toBe(401);
      expect((await write('Token tmk_nosuch', 'd')).status).toBe(401);
      const header = Buffer.from('{"alg":"__proto__"}').toString('base64url');
      expect((await write(`Bearer ${header}.${header}.x`, 'd')).status).toBe(401);
    });

    test.skipIf(!takesTokens)('API tokens have the rights of their user', async () => {
      const make = async (user: string): Promise<string> => {
        const { text } = await send(`${database.url}/api/tokens`, {
          method: 'POST',
          headers: { authorization: basic('admin') },
          body: JSON.stringify({ name: `of ${user}`, user }),
        });
        return JSON.parse(text).token;
      };
      const define = (authorization: string) =>
        engine.call('POST', '/engine/v1/tasks', TASK, { authorization });
      const [admin, writer] = [await make('admin'), await make('writer')];

      expect((await define(`Token ${admin}`)).status).toBe(200);
      expect((await write(`Token ${writer}`, 'd')).status).toBe(204);
      expect((await write(`Bearer ${writer}`, 'd')).status).toBe(204);
      expect(await write(`Token ${writer}`, 'other')).toMatchObject({
        status: 401,
        json: { error: '"writer" user is not authorized to write to database "other"' },
      });
      expect((await define(`Token ${writer}`)).status).toBe(403);
    });

    test.skipIf(!takesTokens)('tokens have the rights of the user they name', async () => {
      expect((await write(bearer('writer'), 'd')).status).toBe(204);
      expect((await write(bearer('writer'), 'other')).status).toBe(401);
      const define = (user: string) =>
        engine.call('POST', '/engine/v1/tasks', TASK, { authorization: bearer(user) });
      expect((await define('admin')).status).toBe(200);
      expect((await define('reader')).status).toBe(403);
      expect((await define('who')).status).toBe(401);
    });
  },
);

test('statistics can be opened for scrapers without credentials, and nothing else', async () => {
  const engine = new TestEngine();
  await engine.start({ http: { 'auth-enabled': true, 'pprof-auth-enabled': false } });
  const paths = ['/debug/vars', '/engine/v1/debug/vars', '/metrics', '/engine/v1/debug/pprof/'];
  const statuses = [...paths, '/engine/v1/tasks'].map(
    async (path) => (await engine.call('GET', path)).status,
  );
  expect(await Promise.all(statuses)).toEqual([200, 200, 200, 401, 401]);
  await engine.close();
});

test('users of a database that checks no passwords are refused, and the answer says why', async () => {
  const server = await startTidemark({
    command: 'tsdb',
    args: ['--monitor-store-enabled', 'false'],
  });
  const engine = new TestEngine();
  try {
    const cluster = { name: 'default', urls: [server.tsdb], 'disable-subscriptions': true };
    await engine.start({ http: { 'auth-enabled': true }, tsdb: [cluster] });
    const answer = await send(`${engine.url}/engine/v1/tasks`, {
      headers: { authorization: basic('admin') },
    });

    expect(answer.status).toBe(401);
    expect(JSON.parse(answer.text).error).toContain('the database has no authentication');
  } finally {
    await engine.close();
    await server.stop();
    await removeDirectory(server.directory);
  }
});
