// The engine with a database: writes, queries, subscriptions, recordings, replays, statistics.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, TestServer } from '@tidemark/testkit';
import type { ReceivedRequest, ServerAnswer } from '@tidemark/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { resolveEngineConfig } from '../config/config.ts';
import { startEngine } from '../start-engine.ts';
import type { EngineService } from '../engine-service.ts';

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const DBRPS = [{ db: 'd', rp: 'r' }];

/** Answers SHOW statements from a small catalog and keeps what it is asked and given. */
class FakeDatabase {
  readonly queries: string[] = [];
  readonly writes: { params: Record<string, string>; lines: string[] }[] = [];
  readonly subscriptions = new Map<string, string>();
  answer: (query: string) => unknown = () => ({ results: [{}] });
  credentials: string | undefined;
  readonly #server = new TestServer((request) => this.#handle(request));

  async open(port?: number): Promise<string> {
    await this.#server.open(port);
    return this.#server.url;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  /** Resolves when the condition holds; looked at after every request. */
  until(condition: () => boolean): Promise<void> {
    return this.#server.until(condition);
  }

  #handle({ path, headers, body }: ReceivedRequest): ServerAnswer {
    const url = new URL(path, 'http://x');
    const send = (status: number, value?: unknown): ServerAnswer => ({
      status,
      headers: { 'Content-Type': 'application/json' },
      body: value === undefined ? '' : JSON.stringify(value),
    });
    if (this.credentials !== undefined && headers.authorization !== this.credentials) {
      return send(401, { error: 'authorization failed' });
    }
    if (url.pathname === '/write') {
      this.writes.push({ params: Object.fromEntries(url.searchParams), lines: body.split('\n') });
      return send(204);
    }
    const query = url.searchParams.get('q') ?? new URLSearchParams(body).get('q') ?? '';
    this.queries.push(query);
    return send(200, this.#catalog(query) ?? this.answer(query));
  }

  #catalog(query: string): unknown {
    const rows = (name: string, columns: string[], values: unknown[][]): unknown => ({
      results: [{ series: [{ name, columns, values }] }],
    });
    if (query === 'SHOW DATABASES') return rows('databases', ['name'], [['d']]);
    if (query.startsWith('SHOW RETENTION POLICIES')) return rows('', ['name'], [['r'], ['old']]);
    if (query === 'SHOW SUBSCRIPTIONS') {
      const columns = ['retention_policy', 'name', 'mode', 'destinations'];
      const values = [...this.subscriptions].map(([key, to]) => {
        const [name, rp] = key.split(' ');
        return [rp, name, 'ANY', [to]];
      });
      return rows('d', columns, values);
    }
    const made = /^CREATE SUBSCRIPTION "(.*)" ON "d"\."(.*)" DESTINATIONS ANY '(.*)'$/.exec(query);
    if (made !== null) {
      this.subscriptions.set(`${made[1]} ${made[2]}`, made[3] ?? '');
      return { results: [{}] };
    }
    const dropped = /^DROP SUBSCRIPTION "(.*)" ON "d"\."(.*)"$/.exec(query);
    if (dropped === null) return undefined;
    this.subscriptions.delete(`${dropped[1]} ${dropped[2]}`);
    return { results: [{}] };
  }
}

let directory = '';
let database: FakeDatabase;
let databaseUrl = '';
let engine: EngineService;

async function start(
  extra: {
    tsdb?: Record<string, unknown>;
    stats?: Record<string, unknown>;
    http?: Record<string, unknown>;
  } = {},
): Promise<void> {
  const { config, problems } = resolveEngineConfig([
    {
      source: 'test',
      values: {
        hostname: '127.0.0.1',
        data_dir: directory,
        stats: extra.stats ?? { enabled: false },
        task: { hosts: '0' },
        http: { 'bind-address': '127.0.0.1:0', ...extra.http },
        tsdb: [
          {
            name: 'default',
            default: true,
            urls: [databaseUrl],
            'disable-subscriptions': true,
            ...extra.tsdb,
          },
        ],
      },
    },
  ]);
  expect(problems).toEqual([]);
  engine = await startEngine(config, { log: quiet });
}

async function call(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; json: any; bytes: Buffer }> {
  const text =
    body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(engine.url + path, {
    method,
    headers,
    ...(text === undefined ? {} : { body: text }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  let json: any = bytes.toString('utf8');
  try {
    json = JSON.parse(json);
  } catch {
    // Bare text stays text.
  }
  return { status: response.status, json, bytes };
}

/** Polls a recording or replay to its end. */
async function finished(path: string): Promise<any> {
  for (;;) {
    const { status, json } = await call('GET', path);
    if (status !== 202) return json;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function series(values: unknown[][], tags?: Record<string, string>): unknown {
  return { results: [{ series: [{ name: 'cpu', tags, columns: ['time', 'v'], values }] }] };
}

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'engine-db-'));
  database = new FakeDatabase();
  databaseUrl = await database.open();
});

afterEach(async () => {
  await engine.close();
  await database.close();
  rmSync(directory, { recursive: true, force: true });
});

describe('subscriptions', () => {
  test('each retention policy is subscribed to once, also over a restart', async () => {
    await start({ tsdb: { 'disable-subscriptions': false } });
    await database.until(() => database.subscriptions.size === 2);
    const first = new Map(database.subscriptions);

    await engine.close();
    await start({ tsdb: { 'disable-subscriptions': false } });
    await call('POST', '/engine/v1/subscriptions');

    const keys = [...first.keys()].map((key) => key.split(' '));
    expect(keys.map(([, policy]) => policy).sort()).toEqual(['old', 'r']);
    expect([...first.values()][0]).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    // The port is another one after the restart, hence the destination is replaced, not added, and
    // under another name: InfluxDB may go on with the destination that it knows of a name.
    const replaced = keys.map(([name = '', policy = '']) =>
      expect.stringMatching(new RegExp(`^${name}-[0-9a-z]+ ${policy}$`)),
    );
    expect([...database.subscriptions.keys()]).toEqual(replaced);
    expect([...database.subscriptions.values()][0]).toBe(engine.url);
  });

  test('excluded policies are left out and those of others are never touched', async () => {
    database.subscriptions.set('other-product r', 'http://elsewhere:1');
    await start({
      tsdb: { 'disable-subscriptions': false, 'excluded-subscriptions': { d: ['old'] } },
    });
    await database.until(() => database.subscriptions.size === 2);
    await call('POST', '/engine/v1/subscriptions');

    expect(database.subscriptions.get('other-product r')).toBe('http://elsewhere:1');
    expect([...database.subscriptions.keys()].some((key) => key.endsWith(' old'))).toBe(false);
  });

  test('disabling subscriptions through the API removes own ones', async () => {
    await start({ tsdb: { 'disable-subscriptions': false } });
    await database.until(() => database.subscriptions.size === 2);

    const { status } = await call('POST', '/engine/v1/config/tsdb/default', {
      set: { 'disable-subscriptions': true },
    });
    await database.until(() => database.subscriptions.size === 0);

    expect(status).toBe(200);
  });
});

describe('the database as a sink', () => {
  test('influxDBOut writes line protocol with floats without exponent', async () => {
    await start();
    await call('POST', '/engine/v1/tasks', {
      id: 't',
      dbrps: DBRPS,
      script: "stream|from()|influxDBOut().database('out').buffer(1)",
      status: 'enabled',
    });
    await call('POST', '/write?db=d&rp=r', 'm,h=a b=1e21,a=1e-7,i=5i 10');
    await database.until(() => database.writes.length > 0);

    expect(database.writes[0]).toEqual({
      params: { db: 'out', rp: 'r', precision: 'ns' },
      lines: ['m,h=a a=0.0000001,b=1000000000000000000000,i=5i 10'],
    });
  });

  test.each([
    ['s', 's', 'm a=1 10'],
    ['n', 'n', 'm a=1 10000000000'],
    ['us', 'ns', 'm a=1 10000000000'],
  ])('influxDBOut with precision `%s` tells the unit of the times it writes', async (...row) => {
    const [precision, told, line] = row;
    await start();
    await call('POST', '/engine/v1/tasks', {
      id: 't',
      dbrps: DBRPS,
      script: `stream|from()|influxDBOut().database('out').precision('${precision}').buffer(1)`,
      status: 'enabled',
    });
    await call('POST', '/write?db=d&rp=r&precision=s', 'm a=1 10');
    await database.until(() => database.writes.length > 0);

    expect(database.writes[0]).toEqual({
      params: { db: 'out', rp: 'r', precision: told },
      lines: [line],
    });
  });

  test('own statistics reach tasks and the database', async () => {
    await start({ stats: { enabled: true, 'stats-interval': '100ms' } });
    await call('POST', '/engine/v1/tasks', {
      id: 'self',
      dbrps: [{ db: '_engine', rp: 'autogen' }],
      script: "stream|from().measurement('ingress')|httpOut('out')",
      status: 'enabled',
    });
    await call('POST', '/write?db=d&rp=r', 'm v=1 10');
    const names = (): readonly string[] =>
      database.writes.flatMap(({ lines }) => lines.map((line) => line.split(',')[0] ?? ''));
    // The first report may be older than the write.
    const wanted = ['ingress', 'nodes', 'edges', 'engine_runtime', 'engine_http', 'tidemark'];
    await database.until(() => wanted.every((name) => names().includes(name)));
    expect(names()).not.toContain('runtime');

    const { json } = await call('GET', '/engine/v1/tasks/self/out');
    expect(json.series[0].name).toBe('ingress');
    expect(database.queries).toContain('CREATE DATABASE "_internal"');
  });
});

describe('batch tasks', () => {
  const script =
    'batch|query(\'SELECT v FROM "d"."r"."cpu"\').period(10s).every(50ms)|httpOut(\'out\')';

  test('queries are made on schedule and their answers processed', async () => {
    database.answer = () => series([['2024-01-01T00:00:00Z', 1]], { h: 'a' });
    await start();
    await call('POST', '/engine/v1/tasks', { id: 'b', dbrps: DBRPS, script, status: 'enabled' });
    await database.until(() => database.queries.filter((q) => q.startsWith('SELECT')).length >= 3);

    const { json } = await call('GET', '/engine/v1/tasks/b/out');

    expect(json.series[0]).toMatchObject({ name: 'cpu', values: [['2024-01-01T00:00:00Z', 1]] });
    expect(database.queries.find((query) => query.startsWith('SELECT'))).toMatch(
      /^SELECT v FROM d\.r\.cpu WHERE time >= '.*' AND time < '.*'$/,
    );
  });

  test('a failing query is visible in the task and the next tick goes on', async () => {
    let isBroken = true;
    database.answer = () =>
      isBroken ? { results: [{ error: 'no such thing' }] } : series([['2024-01-01T00:00:00Z', 1]]);
    await start();
    await call('POST', '/engine/v1/tasks', { id: 'b', dbrps: DBRPS, script, status: 'enabled' });
    const count = (): number => database.queries.filter((q) => q.startsWith('SELECT')).length;
    await database.until(() => count() >= 2);

    const broken = (await call('GET', '/engine/v1/tasks/b')).json;
    expect(broken).toMatchObject({ executing: true, error: 'query1: no such thing' });

    isBroken = false;
    const seen = count();
    await database.until(() => count() >= seen + 3);
    expect((await call('GET', '/engine/v1/tasks/b')).json.error).toBe('');
  });
});

describe('a database that goes away', () => {
  test('the query is tried again, the error is visible in task and statistics, and it recovers', async () => {
    database.answer = () => series([['2024-01-01T00:00:00Z', 1]]);
    await start();
    const port = Number(new URL(databaseUrl).port);
    const script =
      'batch|query(\'SELECT v FROM "d"."r"."cpu"\').period(10s).every(50ms)|httpOut(\'out\')';
    await call('POST', '/engine/v1/tasks', { id: 'b', dbrps: DBRPS, script, status: 'enabled' });
    const count = (): number => database.queries.filter((q) => q.startsWith('SELECT')).length;
    await database.until(() => count() >= 2);
    expect((await call('GET', '/engine/v1/tasks/b')).json.error).toBe('');

    await database.close();
    const task = (): Promise<any> => call('GET', '/engine/v1/tasks/b').then(({ json }) => json);
    const away = await eventually('the error', async () => {
      const json = await task();
      return json.error === '' ? undefined : json;
    });
    expect(away).toMatchObject({ status: 'enabled', executing: true });
    expect(away.error).toMatch(/^query1: /);
    expect(away.stats['node-stats'].query1.errors).toBeGreaterThan(0);

    database.answer = () => series([['2024-01-01T00:00:10Z', 2]]);
    await database.open(port);
    const back = await eventually('the recovery', async () => {
      const json = await task();
      return json.error === '' ? json : undefined;
    });
    expect(back.executing).toBe(true);
    const { json } = await call('GET', '/engine/v1/tasks/b/out');
    expect(json.series[0].values).toEqual([['2024-01-01T00:00:10Z', 2]]);
  });
});

describe('recordings and replays', () => {
  const script =
    "stream|from().measurement('m')|window().periodCount(2).everyCount(2)|sum('v')|httpOut('out')";

  async function record(): Promise<void> {
    await call('POST', '/engine/v1/tasks', { id: 't', dbrps: DBRPS, script });
    await call('POST', '/engine/v1/recordings/stream', {
      id: 'rec',
      task: 't',
      stop: '1970-01-01T00:01:00Z',
    });
    await call(
      'POST',
      '/write?db=d&rp=r&precision=s',
      'm v=1i 10\nother v=9i 11\nm v=2i 12\nm s="a\nb" 13',
    );
    await call('POST', '/write?db=d&rp=r&precision=s', 'm v=5i 61');
  }

  test('a recorded stream is replayed to a task that is disabled', async () => {
    await start();
    await record();
    expect(await finished('/engine/v1/recordings/rec')).toMatchObject({
      status: 'finished',
      progress: 1,
      error: '',
    });

    const created = await call('POST', '/engine/v1/replays', {
      id: 'p',
      task: 't',
      recording: 'rec',
      'recording-time': true,
    });
    const replay = await finished('/engine/v1/replays/p');

    expect(created.status).toBe(201);
    expect(replay).toMatchObject({ status: 'finished', progress: 1, error: '' });
    expect(replay.stats['node-stats'].from1.collected).toBe(3);
    const { json } = await call('GET', '/engine/v1/tasks/t/out?replay-id=p');
    expect(json.series[0].values[0][1]).toBe(3);
    await call('DELETE', '/engine/v1/replays/p');
    expect((await call('GET', '/engine/v1/tasks/t/out?replay-id=p')).status).toBe(404);
  });

  test('a damaged recording fails with its reason', async () => {
    await start();
    await record();
    await finished('/engine/v1/recordings/rec');
    const folder = join(directory, 'replay');
    const [file] = readdirSync(folder);
    const bytes = readFileSync(join(folder, file ?? ''));
    bytes[bytes.length - 6] = (bytes[bytes.length - 6] ?? 0) ^ 0xff;
    writeFileSync(join(folder, file ?? ''), bytes);

    await call('POST', '/engine/v1/replays', { id: 'p', task: 't', recording: 'rec' });
    const replay = await finished('/engine/v1/replays/p');

    expect(replay.status).toBe('failed');
    expect(replay.error).toContain('damaged recording');
  });

  test('jobs running when the engine ended have failed, finished ones stay', async () => {
    await start();
    await record();
    await finished('/engine/v1/recordings/rec');
    await call('POST', '/engine/v1/recordings/stream', {
      id: 'open',
      task: 't',
      stop: '2200-01-01T00:00:00Z',
    });
    expect((await call('GET', '/engine/v1/recordings/open')).status).toBe(202);

    await engine.close();
    await start();

    expect((await call('GET', '/engine/v1/recordings/rec')).json.status).toBe('finished');
    expect((await call('GET', '/engine/v1/recordings/open')).json).toMatchObject({
      status: 'failed',
      error: 'unexpected tidemark shutdown',
    });
  });

  test('a batch task is replayed from queries made now', async () => {
    let count = 0;
    database.answer = () => series([[`2024-01-01T00:00:0${count++}Z`, count]]);
    await start();
    await call('POST', '/engine/v1/tasks', {
      id: 'b',
      dbrps: DBRPS,
      script:
        'batch|query(\'SELECT v FROM "d"."r"."cpu" WHERE a = 1 OR b = 2\').period(10s).every(10s)|httpOut(\'out\')',
    });

    await call('POST', '/engine/v1/replays/batch', {
      id: 'p',
      task: 'b',
      start: '2024-01-01T00:00:00Z',
      stop: '2024-01-01T00:00:30Z',
    });
    const replay = await finished('/engine/v1/replays/p');

    expect(replay).toMatchObject({ status: 'finished', recording: '' });
    expect(database.queries.filter((query) => query.startsWith('SELECT'))).toEqual([
      "SELECT v FROM d.r.cpu WHERE (a = 1 OR b = 2) AND time >= '2024-01-01T00:00:00Z' AND time < '2024-01-01T00:00:10Z'",
      "SELECT v FROM d.r.cpu WHERE (a = 1 OR b = 2) AND time >= '2024-01-01T00:00:10Z' AND time < '2024-01-01T00:00:20Z'",
      "SELECT v FROM d.r.cpu WHERE (a = 1 OR b = 2) AND time >= '2024-01-01T00:00:20Z' AND time < '2024-01-01T00:00:30Z'",
    ]);
  });
});

describe('operators', () => {
  test('overrides are applied at once, redacted and kept', async () => {
    await start();
    const set = await call('POST', '/engine/v1/config/smtp/', {
      set: { host: 'mail.example', password: 'hidden' },
    });
    const shown = (await call('GET', '/engine/v1/config/smtp/')).json;

    expect(set.status).toBe(200);
    expect(shown.options).toMatchObject({ host: 'mail.example', password: true });
    expect(shown.redacted).toEqual(['password']);
    expect(JSON.stringify((await call('GET', '/engine/v1/config')).json)).not.toContain('hidden');

    await engine.close();
    await start();
    expect((await call('GET', '/engine/v1/config/smtp/')).json.options.host).toBe('mail.example');
  });

  test('an update that cannot be used changes nothing', async () => {
    await start();
    const bad = await call('POST', '/engine/v1/config/smtp/', { set: { host: 'x', port: -1 } });

    expect(bad.status).toBe(400);
    expect((await call('GET', '/engine/v1/config/smtp/')).json.options).toMatchObject({
      host: 'localhost',
      port: 25,
    });
  });

  test('a cluster that is added can be used, and removed again', async () => {
    await start();
    const added = await call('POST', '/engine/v1/config/tsdb', {
      add: { name: 'second', urls: [databaseUrl], 'disable-subscriptions': true },
    });
    expect(added.status).toBe(200);
    const tested = await call('POST', '/engine/v1/service-tests/tsdb', { cluster: 'second' });
    expect(tested.json).toEqual({ success: true, message: '' });

    await call('POST', '/engine/v1/config/tsdb', { remove: ['second'] });
    const gone = await call('POST', '/engine/v1/service-tests/tsdb', { cluster: 'second' });
    expect(gone.json.success).toBe(false);
  });

  test('the backup is a file that an engine starts from', async () => {
    await start();
    await call('POST', '/engine/v1/tasks', { id: 't', dbrps: DBRPS, script: 'stream|from()' });
    const { bytes } = await call('GET', '/engine/v1/storage/backup');
    await engine.close();

    rmSync(join(directory, 'engine.mdb'));
    rmSync(join(directory, 'engine.mdb-lock'), { force: true });
    writeFileSync(join(directory, 'engine.mdb'), bytes);
    await start();

    expect((await call('GET', '/engine/v1/tasks/t')).status).toBe(200);
  });

  test('with authentication on only users of the database get in', async () => {
    database.credentials = `Basic ${Buffer.from('u:p').toString('base64')}`;
    await start({ http: { 'auth-enabled': true }, tsdb: { username: 'u', password: 'p' } });
    const as = (user: string): Record<string, string> => ({
      Authorization: `Basic ${Buffer.from(user).toString('base64')}`,
    });

    expect((await call('GET', '/engine/v1/tasks')).status).toBe(401);
    expect((await call('GET', '/engine/v1/tasks', undefined, as('u:wrong'))).status).toBe(401);
    expect((await call('GET', '/engine/v1/tasks', undefined, as('u:p'))).status).toBe(200);
    expect((await call('GET', '/engine/v1/tasks?u=u&p=p')).status).toBe(200);
    expect((await call('POST', '/write?db=d', 'm v=1', as('~subscriber:x'))).status).toBe(401);
  });
});
