// Warnings about a definition: missing services, clusters and databases are reported before an
// alert is lost.
import { TestServer } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestEngine } from '@tidemark/testkit/engine';

const engine = new TestEngine();
const database = new TestServer(() => {
  const series = [{ name: 'databases', columns: ['name'], values: [['d']] }];
  return { body: JSON.stringify({ results: [{ series }] }) };
});

beforeAll(async () => {
  await database.open();
  const cluster = { urls: [database.url], 'disable-subscriptions': true };
  const away = { urls: ['http://127.0.0.1:1'], 'disable-subscriptions': true };
  const chat = { enabled: true, url: 'http://127.0.0.1:1/', channel: '#ops' };
  await engine.start({
    alert: { 'disabled-handlers': ['talk'] },
    tsdb: [
      { ...cluster, name: 'main', default: true },
      { ...away, name: 'away' },
    ],
    chat: [{ ...chat, workspace: 'w', default: true }],
    kafka: [{ enabled: true, id: 'k', brokers: ['127.0.0.1:1'] }],
  });
});
afterAll(async () => {
  await engine.close();
  await database.close();
});

type Warning = { readonly code: string; readonly message: string; readonly position: number };

async function define(script: string, db = 'd') {
  const task = { script, dbrps: [{ db, rp: 'r' }], status: 'enabled' };
  return engine.call('POST', '/engine/v1/tasks?diagnostics=true', task);
}

/**
 * Messages of the warnings of a task that starts all the same, with what of the script they are
 * about.
 */
async function warnings(script: string, db?: string): Promise<readonly (readonly string[])[]> {
  const { status, json } = await define(script, db);
  expect({ status, json }).toMatchObject({ status: 200, json: { executing: true } });
  const own = (json.warnings as readonly Warning[]).filter(({ code }) => code === 'TICK_UNREACHED');
  return own.map(({ message, position }) => [
    message,
    /^\W*\w+/.exec(script.slice(position))?.[0] ?? '',
  ]);
}

describe('a script', () => {
  test.each([
    ['.email()', 'handler smtp: the service is not enabled'],
    [".chat().workspace('nope')", 'handler chat: the section chat has no element "nope"'],
    [".post().endpoint('nope')", 'handler post: the section httppost has no element "nope"'],
    ['.mqtt("t")', 'handler mqtt: the service is not enabled'],
    ['.talk()', 'handler talk: alert.disabled-handlers names this kind'],
  ])('with %s is warned', async (handler, message) => {
    const found = await warnings(
      `stream|from()|alert().crit(lambda: TRUE)${handler.replaceAll('"', "'")}`,
    );

    expect(found.map(([text]) => text)).toEqual([message]);
  });

  test.each(['.chat()', ".post('http://127.0.0.1:1/')", ".kafka().cluster('k').kafkaTopic('t')"])(
    'with %s is not',
    async (handler) => {
      expect(await warnings(`stream|from()|alert().crit(lambda: TRUE)${handler}`)).toEqual([]);
    },
  );

  test('that names databases which do not exist is warned, each time with the place', async () => {
    const out = "stream|from()|influxDBOut().database('absent')";
    const query = "batch|query('SELECT v FROM gone.r.m').period(1m).every(1h)";

    expect(await warnings(out)).toEqual([
      ['influxdb_out2: database "absent" does not exist', 'database'],
    ]);
    expect(await warnings(`${out}.create()`)).toEqual([]);
    expect(await warnings(query, 'gone')).toEqual([
      ['query1: database "gone" does not exist', 'query'],
    ]);
    expect(await warnings('stream|from()', 'gone')).toEqual([
      ['stream0: database "gone" does not exist', 'stream'],
    ]);
  });

  test('a task whose cluster is unreachable gets a warning', async () => {
    const [found = []] = await warnings(
      "stream|from()|influxDBOut().cluster('away').database('d')",
    );

    expect(found[0]).toMatch(/^influxdb_out2: .*(?:ECONNREFUSED|refused|bad port)/);
  });

  test('is warned in lists too, for those who ask', async () => {
    const { json } = await define('stream|from()|alert().crit(lambda: TRUE).email()');
    const path = `/engine/v1/tasks?pattern=${json.id}&fields=status`;
    const [asked] = (await engine.call('GET', `${path}&diagnostics=true`)).json.tasks;
    const [plain] = (await engine.call('GET', path)).json.tasks;

    expect(asked.warnings).toMatchObject([{ message: 'handler smtp: the service is not enabled' }]);
    expect(plain).not.toHaveProperty('warnings');
  });
});

describe('a topic handler', () => {
  const path = '/engine/v1preview/alerts/topics/t/handlers';
  const create = (kind: string, options: object) =>
    engine.call('POST', `${path}?diagnostics=true`, { actions: [{ kind, options }] });

  test('a task whose service is not enabled gets a warning', async () => {
    const { status, json } = await create('smtp', {});

    expect(status).toBe(200);
    expect(json.warnings).toEqual([
      {
        message: 'handler smtp: the service is not enabled',
        hint: 'configure smtp, in the file or by POST config/smtp; until then events become dead letters',
      },
    ]);
    expect((await engine.call('GET', `${path}/${json.id}?diagnostics=true`)).json.warnings).toEqual(
      json.warnings,
    );
    expect((await engine.call('GET', `${path}/${json.id}`)).json).not.toHaveProperty('warnings');
  });

  test('is warned without asking in the answer to its definition, and in lists on request', async () => {
    const definition = { id: 'mail', actions: [{ kind: 'smtp', options: {} }] };
    const warnings = [{ message: 'handler smtp: the service is not enabled' }];
    const [one, list] = [`${path}/mail`, `${path}?pattern=mail`];

    expect((await engine.call('POST', path, definition)).json).toMatchObject({ warnings });
    expect((await engine.call('PUT', one, definition)).json).toMatchObject({ warnings });
    const rename = [{ op: 'replace', path: '/id', value: 'mail' }];
    expect((await engine.call('PATCH', one, rename)).json).toMatchObject({ warnings });
    const [asked] = (await engine.call('GET', `${list}&diagnostics=true`)).json.handlers;
    const [plain] = (await engine.call('GET', list)).json.handlers;
    expect(asked).toMatchObject({ warnings });
    expect(plain).not.toHaveProperty('warnings');
    const works = await engine.call('POST', path, { kind: 'chat', options: {} });
    expect(works.json).not.toHaveProperty('warnings');
  });

  test('a task whose service works gets none', async () => {
    expect((await create('chat', {})).json.warnings).toEqual([]);
  });

  test.each(['lvel() > 3', 'level() >', "level() == 'high' + 1"])(
    'that could never match, %s, is refused',
    async (match) => {
      const handler = { kind: 'chat', options: {}, match };
      expect((await engine.call('POST', path, handler)).status).toBe(400);
    },
  );

  test('of a Kafka cluster that is not configured is refused', async () => {
    expect(await create('kafka', { cluster: 'nope', topic: 't' })).toMatchObject({
      status: 400,
      json: { error: 'failed to create handler: unknown cluster "nope"' },
    });
    expect((await create('kafka', { cluster: 'k', topic: 't' })).status).toBe(200);
    const script =
      "stream|from()|alert().crit(lambda: TRUE).kafka().cluster('nope').kafkaTopic('t')";
    expect((await define(script)).json.error).toBe('unknown cluster "nope"');
  });
});
