// Access to every endpoint with users of a real database: a user without rights, a reader of
// another database, a reader and a writer of the database with the data, and an admin. An endpoint
// that is missing from the table fails the test.
import { systemClock } from '@tidemark/core';
import {
  eventually,
  query,
  removeDirectory,
  send,
  startTidemark,
  TestServer,
} from '@tidemark/testkit';
import type { Answer } from '@tidemark/testkit/engine';
import { TestEngine } from '@tidemark/testkit/engine';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const START_TIMEOUT_MS = 60_000;
const V1 = '/engine/v1';
const ALERTS = '/engine/v1preview/alerts';
/** Longer than what the database has said of a user counts. */
const CACHE_MS = 61_000;

const USERS = ['nobody', 'other', 'writer', 'reader', 'admin'] as const;
type User = (typeof USERS)[number];

/** The users that an endpoint answers. */
const ALL = USERS;
const GRANTED = ['other', 'writer', 'reader', 'admin'] as const;
const READERS = ['reader', 'admin'] as const;
const WRITERS = ['writer', 'admin'] as const;
const ADMINS = ['admin'] as const;

type Row = {
  readonly users: readonly User[];
  /** A request for something that is there, of `d`; what the pattern says by default. */
  readonly path?: string;
  /** The part of `d` that the answer shows to its readers only. */
  readonly shows?: RegExp;
  /** It does not end, or is too much to ask for. */
  readonly isEndless?: boolean;
};

const TABLE: Readonly<Record<string, Row>> = {
  'GET /health': { users: ALL },
  'GET /health/live': { users: ALL },
  'GET /ping': { users: ALL },
  'GET /engine/v1/ping': { users: ALL },
  'GET /openapi.json': { users: GRANTED },
  'GET /engine/v1/::routes': { users: GRANTED, path: `${V1}/:routes` },
  'GET /metrics': { users: GRANTED },
  'GET /debug/vars': { users: GRANTED },
  'GET /engine/v1/debug/vars': { users: GRANTED },
  'POST /write': { users: WRITERS, path: '/write?db=d&rp=autogen' },
  'POST /engine/v1/write': { users: WRITERS, path: `${V1}/write?db=d&rp=autogen` },
  'GET /engine/v1/tasks': { users: GRANTED, shows: /"alert2":\{"alerts_inhibited/ },
  'GET /engine/v1/tasks/:id': {
    users: GRANTED,
    path: `${V1}/tasks/task`,
    shows: /"alert2":\{"alerts_inhibited.*processed=|processed=.*"alert2":\{"alerts_inhibited/,
  },
  'GET /engine/v1/tasks/:id/*': { users: READERS, path: `${V1}/tasks/task/out`, shows: /4711/ },
  'POST /engine/v1/tasks': { users: ADMINS },
  'PATCH /engine/v1/tasks/:id': { users: ADMINS },
  'DELETE /engine/v1/tasks/:id': { users: ADMINS },
  'GET /engine/v1/task-versions/:id': { users: GRANTED, path: `${V1}/task-versions/task` },
  'GET /engine/v1/taps/:id/:node': {
    users: READERS,
    path: `${V1}/taps/task/from1`,
    isEndless: true,
  },
  'GET /engine/v1/templates': { users: GRANTED },
  'GET /engine/v1/templates/:id': { users: GRANTED },
  'POST /engine/v1/templates': { users: ADMINS },
  'PATCH /engine/v1/templates/:id': { users: ADMINS },
  'DELETE /engine/v1/templates/:id': { users: ADMINS },
  'GET /engine/v1/recordings': { users: GRANTED, shows: /"recording"/ },
  'GET /engine/v1/recordings/:id': { users: READERS, path: `${V1}/recordings/recording` },
  'POST /engine/v1/recordings/stream': { users: ADMINS },
  'POST /engine/v1/recordings/batch': { users: ADMINS },
  'POST /engine/v1/recordings/query': { users: ADMINS },
  'DELETE /engine/v1/recordings/:id': { users: ADMINS },
  'GET /engine/v1/replays': { users: GRANTED, shows: /"replay"/ },
  'GET /engine/v1/replays/': { users: GRANTED, shows: /"replay"/ },
  'GET /engine/v1/replays/:id': { users: READERS, path: `${V1}/replays/replay` },
  'POST /engine/v1/replays': { users: ADMINS },
  'POST /engine/v1/replays/': { users: ADMINS },
  'POST /engine/v1/replays/batch': { users: ADMINS },
  'POST /engine/v1/replays/query': { users: ADMINS },
  'DELETE /engine/v1/replays/:id': { users: ADMINS },
  'POST /engine/v1/try-outs': { users: ADMINS },
  'POST /engine/v1/try-outs/task-test': { users: ADMINS },
  'GET /engine/v1preview/logs': { users: GRANTED, isEndless: true },
  'POST /engine/v1/loglevel': { users: ADMINS },
  'GET /engine/v1preview/alerts/topics': { users: GRANTED, shows: /"danger".*"main:task:alert2"/ },
  'GET /engine/v1preview/alerts/topics/:topic': { users: READERS, path: `${ALERTS}/topics/danger` },
  'DELETE /engine/v1preview/alerts/topics/:topic': { users: ADMINS },
  'GET /engine/v1preview/alerts/topics/:topic/events': {
    users: READERS,
    path: `${ALERTS}/topics/danger/events`,
    shows: /is 4711/,
  },
  'GET /engine/v1preview/alerts/topics/:topic/events/*': {
    users: READERS,
    path: `${ALERTS}/topics/danger/events/event`,
    shows: /is 4711/,
  },
  'PUT /engine/v1preview/alerts/topics/:topic/events/*': { users: ADMINS },
  'GET /engine/v1preview/alerts/topics/:topic/handlers': { users: GRANTED },
  'POST /engine/v1preview/alerts/topics/:topic/handlers': { users: ADMINS },
  'GET /engine/v1preview/alerts/topics/:topic/handlers/:handler': { users: GRANTED },
  'GET /engine/v1preview/alerts/topics/:topic/handlers/:handler/state': {
    users: READERS,
    path: `${ALERTS}/topics/danger/handlers/handler/state`,
    shows: /event/,
  },
  'PUT /engine/v1preview/alerts/topics/:topic/handlers/:handler': { users: ADMINS },
  'PATCH /engine/v1preview/alerts/topics/:topic/handlers/:handler': { users: ADMINS },
  'DELETE /engine/v1preview/alerts/topics/:topic/handlers/:handler': { users: ADMINS },
  'POST /engine/v1preview/alerts/topics/:topic/handler-tests': { users: ADMINS },
  'GET /engine/v1preview/alerts/groups/:id/:node': {
    users: READERS,
    path: `${ALERTS}/groups/task/alert2`,
    shows: /"groups":\[\{/,
  },
  'GET /engine/v1preview/alerts/history': {
    users: GRANTED,
    shows: /danger.*passed|passed.*danger/,
  },
  'GET /engine/v1preview/alerts/dead-letters': { users: GRANTED, shows: /is 4711/ },
  'POST /engine/v1preview/alerts/dead-letters': { users: ADMINS },
  'GET /engine/v1/config': { users: GRANTED },
  'GET /engine/v1/config/': { users: GRANTED },
  'GET /engine/v1/config/:section': { users: GRANTED },
  'GET /engine/v1/config/:section/*': { users: GRANTED },
  'POST /engine/v1/config': { users: ADMINS },
  'POST /engine/v1/config/': { users: ADMINS },
  'POST /engine/v1/config/:section': { users: ADMINS },
  'POST /engine/v1/config/:section/*': { users: ADMINS },
  'GET /engine/v1/service-tests': { users: GRANTED },
  'GET /engine/v1/service-tests/:service': { users: GRANTED },
  'POST /engine/v1/service-tests/:service': { users: ADMINS },
  'GET /engine/v1/storage/stores': { users: GRANTED },
  'GET /engine/v1/storage/stores/:store': { users: GRANTED },
  'POST /engine/v1/storage/stores/:store': { users: ADMINS },
  'GET /engine/v1/storage/backup': { users: ADMINS },
  'GET /engine/v1/storage/restore': { users: GRANTED },
  'POST /engine/v1/storage/restore': { users: ADMINS },
  'PUT /engine/v1/storage/restore': { users: ADMINS },
  'DELETE /engine/v1/storage/restore': { users: ADMINS },
  'GET /engine/v1/documents': { users: GRANTED },
  'PUT /engine/v1/documents': { users: GRANTED, path: `${V1}/documents?kind=none` },
  'DELETE /engine/v1/documents': { users: GRANTED, path: `${V1}/documents?kind=none` },
  'GET /engine/v1/cluster/members': { users: GRANTED },
  'GET /engine/v1/cluster/tasks': { users: GRANTED },
  'POST /engine/v1/cluster/members/:member/drain': { users: ADMINS },
  'DELETE /engine/v1/cluster/members/:member': { users: ADMINS },
  'GET /engine/v1/audit': { users: ADMINS },
  'POST /engine/v1/load/reload': { users: ADMINS },
  'POST /engine/v1/sideload/reload': { users: ADMINS },
  'POST /engine/v1/subscriptions': { users: ADMINS },
  'GET /engine/v1/debug/pprof/': { users: ADMINS },
  'GET /engine/v1/debug/pprof/cmdline': { users: ADMINS },
  'GET /engine/v1/debug/pprof/goroutine': { users: ADMINS },
  'GET /engine/v1/debug/pprof/heap': { users: ADMINS, isEndless: true },
  'GET /engine/v1/debug/pprof/profile': {
    users: ADMINS,
    path: `${V1}/debug/pprof/profile?seconds=1`,
  },
};

const engine = new TestEngine();
const receiver = new TestServer(() => ({ status: 400 }));
let database: Awaited<ReturnType<typeof startTidemark>>;
/** By which what the database has said of users grows old. */
let nowMs = 0;

const headersOf = (user: User): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${user}:of-${user}`).toString('base64')}`,
});
const call = (user: User, method: string, path: string, body?: unknown): Promise<Answer> =>
  engine.call(method, path, body, headersOf(user));

async function inDatabase(statements: string): Promise<void> {
  const search = new URLSearchParams({ q: statements });
  const { text } = await send(`${database.tsdb}/query?${search.toString()}`, {
    method: 'POST',
    headers: headersOf('admin'),
  });
  expect(text).not.toContain('error');
}

async function done(method: string, path: string, body?: unknown): Promise<any> {
  const answer = await call('admin', method, path, body);
  expect([path, answer.json, answer.status < 300]).toEqual([path, answer.json, true]);
  return answer.json;
}

const write = (line: string): Promise<unknown> => done('POST', '/write?db=d&rp=autogen', line);

beforeAll(async () => {
  await receiver.open();
  database = await startTidemark({
    command: 'tsdb',
    args: ['--http-auth-enabled', 'true', '--monitor-store-enabled', 'false'],
  });
  await query(database.tsdb, "CREATE USER admin WITH PASSWORD 'of-admin' WITH ALL PRIVILEGES");
  await inDatabase(
    `CREATE DATABASE d; CREATE DATABASE e;
     CREATE USER nobody WITH PASSWORD 'of-nobody';
     CREATE USER other WITH PASSWORD 'of-other'; GRANT READ ON e TO other;
     CREATE USER writer WITH PASSWORD 'of-writer'; GRANT WRITE ON d TO writer;
     CREATE USER reader WITH PASSWORD 'of-reader'; GRANT READ ON d TO reader`,
  );
  const cluster = {
    name: 'default',
    urls: [database.tsdb],
    username: 'admin',
    password: 'of-admin',
    'disable-subscriptions': true,
  };
  const http = { 'auth-enabled': true, 'compat-paths': true };
  const clock = { ...systemClock(), monotonicMs: () => nowMs };
  await engine.start({ http, tsdb: [cluster] }, { clock });
  await fill();
}, START_TIMEOUT_MS);
afterAll(async () => {
  await engine.close();
  await database.stop();
  await removeDirectory(database.directory);
  await receiver.close();
});

const TASK = {
  id: 'task',
  status: 'enabled',
  dbrps: [{ db: 'd', rp: 'autogen' }],
  script: `
    var data = stream|from().measurement('m')
    data|alert().id('event').message('is {{ index .Fields "v" }}').crit(lambda: "v" > 0)
      .topic('danger').log('/dev/null')
    data|httpOut('out')
    data|log()`,
};

/** Data of `d` at every place that shows some. */
async function fill(): Promise<void> {
  const handlers = `${ALERTS}/topics/danger/handlers`;
  const post = { id: 'handler', kind: 'post', options: { url: receiver.url } };
  await done('POST', handlers, post);
  await done('POST', handlers, { id: 'pass', kind: 'publish', options: { topics: ['passed'] } });
  await done('POST', `${V1}/tasks`, TASK);
  await done('POST', `${V1}/recordings/stream`, {
    id: 'recording',
    task: 'task',
    stop: '1970-01-01T00:00:00.000000002Z',
  });
  await write('m v=4711 1\nm v=4711 2\nm v=4711 3');
  const ended = (path: string): Promise<unknown> =>
    eventually(path, async () => {
      const { status, json } = await call('admin', 'GET', path);
      return status === 200 ? json : undefined;
    });
  await ended(`${V1}/recordings/recording`);
  await done('POST', `${V1}/replays`, { id: 'replay', task: 'task', recording: 'recording' });
  await ended(`${V1}/replays/replay`);
  await eventually('dead letters', async () => {
    const { json } = await call('admin', 'GET', `${ALERTS}/dead-letters`);
    return json.total > 0 ? true : undefined;
  });
}

/** The status, and the text of an answer that ends. */
async function ask(user: User, endpoint: string): Promise<{ status: number; text: string }> {
  const { path = endpoint.slice(endpoint.indexOf(' ') + 1), isEndless } = TABLE[endpoint] ?? {
    users: [],
  };
  const method = endpoint.slice(0, endpoint.indexOf(' '));
  const url = path.replaceAll(/\/:(?!routes)\w+/g, '/none').replace('*', 'none');
  const open = new AbortController();
  const response = await fetch(engine.url + url, {
    method,
    headers: headersOf(user),
    signal: open.signal,
    ...(method === 'GET' ? {} : { body: url.includes('/write') ? '' : '{}' }),
  });
  const text = isEndless === true ? '' : await response.text();
  open.abort();
  return { status: response.status, text };
}

test('the table has every endpoint', async () => {
  const routes: Record<string, string[]> = await done('GET', `${V1}/:routes`);
  const served = Object.entries(routes).flatMap(([path, methods]) =>
    methods
      .filter((method) => method !== 'HEAD')
      .map((method) => `${method} ${path.replace('/:routes', '/::routes')}`),
  );
  expect(served.sort()).toEqual(Object.keys(TABLE).sort());
});

test.each(Object.entries(TABLE).map(([endpoint, row]) => ({ endpoint, ...row })))(
  '$endpoint answers $users',
  async ({ endpoint, users, shows }) => {
    for (const user of USERS) {
      // A profile or a snapshot takes long; that others are refused is what counts.
      if (user === 'admin' && endpoint.endsWith('/heap')) continue;
      const { status, text } = await ask(user, endpoint);
      const isRefused = status === 401 || status === 403;
      const isAllowed = users.includes(user);
      // The endpoint reports other mistakes in the request.
      expect([user, status, !isRefused]).toEqual([user, status, isAllowed]);
      if (shows === undefined || !isAllowed) continue;
      const isReader = READERS.some((reader) => reader === user);
      expect([user, shows.test(text), text]).toEqual([user, isReader, text]);
    }
  },
);

describe('data of a task', () => {
  test.each(['/kapacitor/v1/tasks/task/out', '/engine/v1preview/tasks/task/out'])(
    'is behind %s too',
    async (path) => {
      const statuses = USERS.map(async (user) => (await call(user, 'GET', path)).status);
      expect(await Promise.all(statuses)).toEqual([403, 403, 403, 200, 200]);
      const refused = await call('other', 'GET', path);
      expect(refused.json.error).toBe(
        'user other does not have READ on database "d", where this comes from',
      );
    },
  );

  test('of a task of several databases is for those who may read all of them', async () => {
    const dbrps = [...TASK.dbrps, { db: 'e', rp: 'autogen' }];
    const script = `stream|from()|httpOut('out')`;
    await done('POST', `${V1}/tasks`, { ...TASK, id: 'both', dbrps, script });
    const path = `${V1}/tasks/both/out`;
    const statuses = async (): Promise<readonly number[]> =>
      Promise.all(USERS.map(async (user) => (await call(user, 'GET', path)).status));
    expect(await statuses()).toEqual([403, 403, 403, 403, 200]);
    const seen = await call('reader', 'GET', `${V1}/tasks/both`);
    expect(seen.json).toMatchObject({ stats: {}, error: '', executing: true });
    await done('PATCH', `${V1}/tasks/both`, { status: 'disabled' });
    expect((await statuses()).slice(0, 4)).toEqual([403, 403, 403, 403]);
    await done('DELETE', `${V1}/tasks/both`);
  });

  test('in a topic stays its own when the task is gone, and goes along with events', async () => {
    await done('POST', `${V1}/tasks`, {
      ...TASK,
      id: 'short',
      script: `stream|from().measurement('n')|alert().id('left').crit(lambda: TRUE).topic('left')`,
    });
    const pass = { id: 'pass', kind: 'publish', options: { topics: ['moved'] } };
    await done('POST', `${ALERTS}/topics/left/handlers`, pass);
    await write('n v=1 1');
    const statuses = (topic: string): Promise<readonly number[]> =>
      Promise.all(
        USERS.map(
          async (user) => (await call(user, 'GET', `${ALERTS}/topics/${topic}/events/left`)).status,
        ),
      );
    await eventually('the event', async () =>
      (await statuses('moved')).at(-1) === 200 ? true : undefined,
    );
    await done('DELETE', `${V1}/tasks/short`);

    const readable = [403, 403, 403, 200, 200];
    expect([await statuses('left'), await statuses('moved')]).toEqual([readable, readable]);
  });

  test('is not shown in the groups of a task that shares its topic with another', async () => {
    const publishing = (id: string, db: string): object => ({
      ...TASK,
      id,
      dbrps: [{ db, rp: 'autogen' }],
      script: `stream|from().measurement('s')
        |alert().id('one').message('of ${db}').crit(lambda: TRUE).topic('shared')`,
    });
    const group = async (user: User): Promise<unknown> =>
      (await call(user, 'GET', `${ALERTS}/groups/first/alert2`)).json.groups?.[0];
    await done('POST', `${V1}/tasks`, publishing('first', 'd'));
    await write('s v=1 1');
    await eventually('the message', async () =>
      JSON.stringify(await group('reader'))?.includes('of d') === true ? true : undefined,
    );

    await done('POST', `${V1}/tasks`, publishing('second', 'e'));
    await done('POST', '/write?db=e&rp=autogen', 's v=1 2');
    await eventually('the other message', async () =>
      JSON.stringify(await group('admin'))?.includes('of e') === true ? true : undefined,
    );

    expect(await group('reader')).toMatchObject({ level: 'CRITICAL', event: 'one' });
    expect(await group('reader')).not.toHaveProperty('message');
    for (const id of ['first', 'second']) await done('DELETE', `${V1}/tasks/${id}`);
  });

  test('is not shown where nobody knows whose it is', async () => {
    const state = { level: 'CRITICAL', time: '2020-01-01T00:00:00Z', message: 'taken over' };
    await done('PUT', `${ALERTS}/topics/restored/events/x`, { state });
    const statuses = USERS.map(
      async (user) => (await call(user, 'GET', `${ALERTS}/topics/restored/events`)).status,
    );
    expect(await Promise.all(statuses)).toEqual([403, 403, 403, 403, 200]);
  });

  test('is not there in a topic that does not exist; what its handlers did is', async () => {
    const topic = `${ALERTS}/topics/removed`;
    const state = { level: 'CRITICAL', time: '2020-01-01T00:00:00Z', message: 'taken over' };
    await done('PUT', `${topic}/events/x`, { state });
    await done('POST', `${topic}/handlers`, {
      id: 'sender',
      kind: 'post',
      options: { url: receiver.url },
    });
    const statuses = (path: string): Promise<readonly number[]> =>
      Promise.all(USERS.map(async (user) => (await call(user, 'GET', topic + path)).status));
    expect(await statuses('/events/x')).toEqual([403, 403, 403, 403, 200]);

    await done('DELETE', topic);

    expect(await statuses('/events/x')).toEqual([403, 404, 404, 404, 404]);
    expect(await statuses('/handlers/none/state')).toEqual([403, 404, 404, 404, 404]);
    expect(await statuses('/handlers/sender/state')).toEqual([403, 403, 403, 403, 200]);
  });

  test('is in the lines of its log, which others do not get', async () => {
    const lines = async (user: User): Promise<AsyncIterator<string>> => {
      const url = `${engine.url}/engine/v1preview/logs?lvl=debug%2B`;
      const response = await fetch(url, { headers: headersOf(user) });
      return response.body!.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
    };
    const [reader, admin] = [await lines('reader'), await lines('admin')];
    const other = await lines('other');
    await write('m v=4712 4');
    await done('POST', `${V1}/loglevel`, { level: 'info' });
    /** Everything received until a text arrives. */
    const until = async (stream: AsyncIterator<string>, end: RegExp): Promise<string> => {
      let text = '';
      while (!end.test(text)) text += (await stream.next()).value;
      return text;
    };

    expect(await until(admin, /4712[^]*loglevel/)).toContain('task=task');
    expect(await until(reader, /4712/)).not.toContain('http request');
    // A line of another task, which may be read, comes behind what was left out.
    await inDatabase('GRANT READ ON d TO other');
    nowMs += CACHE_MS;
    await write('m v=4713 5');
    expect(await until(other, /4713/)).not.toContain('4712');
    await inDatabase('REVOKE READ ON d FROM other');
    nowMs += CACHE_MS;
    await Promise.all([reader, admin, other].map((stream) => stream.return?.()));
  });

  test('is in the kept lines of its log, of which others get only later ones', async () => {
    await write('m v=4720 20');
    const linesOf = async (user: User): Promise<AsyncIterator<string>> => {
      const url = `${engine.url}/engine/v1preview/logs?task=task&lvl=info%2B&past=true`;
      const response = await fetch(url, { headers: headersOf(user) });
      return response.body!.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
    };
    const readUntil = async (stream: AsyncIterator<string>, end: RegExp): Promise<string> => {
      let text = '';
      while (!end.test(text)) text += (await stream.next()).value;
      return text;
    };
    const reader = await linesOf('reader');
    expect(await readUntil(reader, /4720/)).toContain('task=task');

    const other = await linesOf('other');
    await inDatabase('GRANT READ ON d TO other');
    nowMs += CACHE_MS;
    await write('m v=4721 21');
    expect(await readUntil(other, /4721/)).not.toContain('4720');
    await inDatabase('REVOKE READ ON d FROM other');
    nowMs += CACHE_MS;
    await Promise.all([reader, other].map((stream) => stream.return?.()));
  });

  test('leaves a tap no longer when the right is taken away', async () => {
    await inDatabase('GRANT READ ON d TO other');
    nowMs += CACHE_MS;
    const response = await fetch(`${engine.url}${V1}/taps/task/from1`, {
      headers: headersOf('other'),
    });
    expect(response.status).toBe(200);
    await inDatabase('REVOKE READ ON d FROM other');
    nowMs += CACHE_MS;
    // It ends.
    await response.text();
    expect((await call('other', 'GET', `${V1}/taps/task/from1`)).status).toBe(403);
  });

  test('is known to be its databases after a restart', async () => {
    await engine.stop();
    const http = { 'auth-enabled': true };
    const cluster = {
      name: 'default',
      urls: [database.tsdb],
      username: 'admin',
      password: 'of-admin',
      'disable-subscriptions': true,
    };
    await engine.start({ http, tsdb: [cluster] });
    for (const path of [
      `${ALERTS}/topics/danger/events`,
      `${ALERTS}/topics/passed/events`,
      `${V1}/recordings/recording`,
      `${V1}/replays/replay`,
    ]) {
      const statuses = USERS.map(async (user) => (await call(user, 'GET', path)).status);
      expect(await Promise.all(statuses)).toEqual([403, 403, 403, 200, 200]);
    }
  });
});
