// The service over real sockets: tasks, writes, events, and what a restart keeps.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Validator } from '@seriousme/openapi-schema-validator';
import { eventually, TestServer } from '@tidemark/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { resolveEngineConfig } from './config/config.ts';
import { startEngine } from './start-engine.ts';
import type { EngineService } from './engine-service.ts';

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const DBRPS = [{ db: 'd', rp: 'r' }];

let directory = '';
let engine: EngineService;

async function start(
  http: Record<string, unknown> = {},
  more: Record<string, unknown> = {},
): Promise<void> {
  const { config, problems } = resolveEngineConfig([
    {
      source: 'test',
      values: {
        data_dir: directory,
        stats: { enabled: false },
        task: { hosts: '0' },
        http: { 'bind-address': '127.0.0.1:0', ...http },
        ...more,
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
): Promise<{ status: number; json: any; headers: Headers }> {
  const text =
    body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(engine.url + path, {
    method,
    ...(text === undefined ? {} : { body: text }),
  });
  const answer = await response.text();
  let json: any = answer;
  try {
    json = JSON.parse(answer);
  } catch {
    // Bare text stays text.
  }
  return { status: response.status, json, headers: response.headers };
}

/** Takes what tasks post. */
let sink: TestServer;

beforeEach(async () => {
  sink = new TestServer();
  await sink.open();
  directory = mkdtempSync(join(tmpdir(), 'engine-test-'));
  await start();
});

afterEach(async () => {
  await engine.close();
  await sink.close();
  rmSync(directory, { recursive: true, force: true });
});

describe('conventions', () => {
  test('a refused script is answered with the known sentence, and with all that is wrong for those who ask', async () => {
    const script = 'var a = stream|frm()\n\nstream|from().measurement(5)';
    const task = { id: 't', type: 'stream', dbrps: [{ db: 'd', rp: 'r' }], script };
    const known =
      'invalid TICKscript: line 1 char 16: no method or property "frm" on *pipeline.StreamNode';

    expect((await call('POST', '/engine/v1/tasks', task)).json).toEqual({ error: known });
    const { status, json } = await call('POST', '/engine/v1/tasks?diagnostics=true', task);
    expect([status, json.error]).toEqual([400, known]);
    expect(json.diagnostics).toEqual([
      {
        code: 'TICK_UNKNOWN_METHOD',
        message: 'line 1 char 16: no method or property "frm" on *pipeline.StreamNode',
        line: 1,
        column: 16,
        position: 15,
        length: 5,
        found: '|frm',
        hint: 'did you mean from?',
      },
      expect.objectContaining({ line: 3, column: 15, found: 'int', expected: ['string'] }),
    ]);
  });

  test('every answer names version and request', async () => {
    const { status, headers } = await call('GET', '/engine/v1/ping');

    expect(status).toBe(204);
    expect(headers.get('x-engine-version')).toMatch(/^\d+\.\d+\.\d+$/);
    expect(headers.get('request-id')).toMatch(/^[-0-9a-f]{36}$/);
  });

  test.each([
    ['GET', '/engine/v1/nothing', 404],
    ['GET', '/nothing', 404],
    ['DELETE', '/engine/v1/ping', 405],
    ['GET', '/engine/v1/write?db=d', 405],
    ['GET', '/engine/v1/alerts/topics', 404],
  ])('%s %s answers %i with an error as JSON', async (method, path, expected) => {
    const { status, json, headers } = await call(method, path);

    expect(status).toBe(expected);
    expect(headers.get('content-type')).toBe('application/json');
    expect(json.error).toEqual(expect.any(String));
  });

  test.each(['/engine/v1', '/engine/v1preview', '/kapacitor/v1', '/kapacitor/v1preview'])(
    'tasks answer under %s',
    async (base) => {
      expect((await call('GET', `${base}/tasks`)).json).toEqual({ tasks: [] });
    },
  );

  test('metrics tell of the process and of the engine', async () => {
    const { user, system } = process.cpuUsage();
    const { json: text } = await call('GET', '/metrics');

    // Counts the whole process, including the time before the first request.
    const seconds = /^process_cpu_seconds_total ([\d.]+)$/m.exec(String(text))?.[1];
    expect(Number(seconds)).toBeGreaterThanOrEqual((user + system) / 1e6);
    expect(text).toMatch(/^# TYPE process_cpu_seconds_total counter$/m);
    expect(text).toMatch(/^tidemark_engine_tasks 0$/m);
  });

  test('the API document names every field that a task and a template have', async () => {
    const { json } = await call('GET', '/openapi.json');
    const made = { script: 'stream|from()', dbrps: [{ db: 'd', rp: 'r' }], type: 'stream' };
    const task = await call('POST', '/engine/v1/tasks', { id: 'named', ...made });
    const template = await call('POST', '/engine/v1/templates', {
      id: 'named',
      type: 'stream',
      script: 'stream|from()',
    });

    for (const [name, answer] of [
      ['Task', task.json],
      ['Template', template.json],
    ] as const) {
      const known = Object.keys(json.components.schemas[name].properties);
      expect(known).toEqual(expect.arrayContaining(Object.keys(answer)));
    }
  });

  test('the API describes itself, this endpoint included', async () => {
    const { json } = await call('GET', '/openapi.json');

    expect(json.openapi).toBe('3.1.0');
    expect(await new Validator().validate(structuredClone(json))).toEqual({ valid: true });
    expect(Object.keys(json.paths)).toEqual(
      expect.arrayContaining(['/engine/v1/tasks/{id}', '/write', '/openapi.json']),
    );
    expect(Object.keys(json.paths['/engine/v1/tasks/{id}'])).toEqual(
      expect.arrayContaining(['get', 'patch', 'delete']),
    );
    const tap = json.paths['/engine/v1/taps/{id}/{node}'].get.parameters;
    expect(tap.map(({ name }: { name: string }) => name)).toEqual([
      'id',
      'node',
      'replay-id',
      'group',
      'explain',
    ]);
  });

  test('a second engine is kept off the directory, and the first goes on', async () => {
    const first = engine;

    await expect(start()).rejects.toThrow(
      `data directory ${directory} is in use by process ${process.pid}`,
    );
    expect(engine).toBe(first);
    expect((await call('GET', '/engine/v1/ping')).status).toBe(204);
  });

  test('an open address without authentication is refused, and holds nothing', async () => {
    const other = join(directory, 'other');
    const open = (more: Record<string, unknown>): Promise<EngineService> => {
      const { config } = resolveEngineConfig([
        {
          source: 'test',
          values: { data_dir: other, stats: { enabled: false }, task: { hosts: '0' }, http: more },
        },
      ]);
      return startEngine(config, { log: quiet });
    };

    await expect(open({ 'bind-address': '0.0.0.0:0' })).rejects.toThrow('--insecure-no-auth');
    const insisting = await open({ 'bind-address': '0.0.0.0:0', 'insecure-no-auth': true });
    await insisting.close();
  });

  test('without overrides the configuration is neither shown nor changed', async () => {
    await engine.close();
    await start({}, { 'config-override': { enabled: false } });

    for (const path of ['config', 'config/smtp', 'config/smtp/', 'config/tsdb/default']) {
      expect(await call('GET', `/engine/v1/${path}`)).toMatchObject({ status: 403 });
    }
    const change = { set: { host: 'mail' } };
    expect(await call('POST', '/engine/v1/config/smtp/', change)).toMatchObject({
      status: 403,
      json: { error: 'config override service is not enabled' },
    });
  });

  test('a body over the limit is refused', async () => {
    await engine.close();
    await start({ 'max-body-size': 1000 });

    const { status, json } = await call(
      'POST',
      '/engine/v1/write?db=d&rp=r',
      'm v=1\n'.repeat(1000),
    );

    expect(status).toBe(413);
    expect(json.error).toEqual(expect.any(String));
  });
});

describe('stream tasks', () => {
  const script = "stream|from().measurement('m').groupBy('h')|httpOut('out')";

  test('rows of a written point are read from the endpoint of the task', async () => {
    await call('POST', '/engine/v1/tasks', { id: 't', dbrps: DBRPS, script, status: 'enabled' });

    const written = await call(
      'POST',
      '/write?db=d&rp=r&precision=s',
      'm,h=a v=1i 10\nm,h=b v=2.5 11',
    );

    expect(written.status).toBe(204);
    const { json } = await call('GET', '/engine/v1/tasks/t/out');
    expect(json.series).toEqual([
      {
        name: 'm',
        tags: { h: 'a' },
        columns: ['time', 'v'],
        values: [['1970-01-01T00:00:10Z', 1]],
      },
      {
        name: 'm',
        tags: { h: 'b' },
        columns: ['time', 'v'],
        values: [['1970-01-01T00:00:11Z', 2.5]],
      },
    ]);
  });

  test('a changed script takes effect when the task is enabled again', async () => {
    const out = '/engine/v1/tasks/t/out';
    const script = "stream|from().measurement('m')|eval(lambda: 1.0).as('x')|httpOut('out')";
    await call('POST', '/engine/v1/tasks', { id: 't', dbrps: DBRPS, script, status: 'enabled' });
    await call('POST', '/write?db=d&rp=r', 'm v=1 1');
    await call('PATCH', '/engine/v1/tasks/t', { script: script.replace('1.0', '2.0') });
    await call('POST', '/write?db=d&rp=r', 'm v=1 2');
    expect((await call('GET', out)).json.series[0].values[0][1]).toBe(1);

    await call('PATCH', '/engine/v1/tasks/t', { status: 'disabled' });
    expect(await call('GET', out)).toMatchObject({
      status: 404,
      json: { error: 'task t has no endpoint "out" while it does not run' },
    });
    await call('PATCH', '/engine/v1/tasks/t', { status: 'enabled' });
    expect((await call('GET', out)).json).toEqual({ series: null });

    await call('POST', '/write?db=d&rp=r', 'm v=1 3');
    expect((await call('GET', out)).json.series[0].values[0][1]).toBe(2);
  });

  test('points of another retention policy do not reach the task', async () => {
    await call('POST', '/engine/v1/tasks', { id: 't', dbrps: DBRPS, script, status: 'enabled' });

    await call('POST', '/write?db=d&rp=other', 'm,h=a v=1 10');

    expect((await call('GET', '/engine/v1/tasks/t/out')).json.series).toBeNull();
  });

  test('a body with one bad line writes nothing and names the line', async () => {
    await call('POST', '/engine/v1/tasks', { id: 't', dbrps: DBRPS, script, status: 'enabled' });

    const { status, json } = await call(
      'POST',
      '/write?db=d&rp=r',
      'm,h=a v=1 10\nm v=\nm,h=a v=2 11',
    );

    expect(status).toBe(400);
    expect(json).toEqual({ error: "unable to parse 'm v=': missing field value" });
    expect((await call('GET', '/engine/v1/tasks/t/out')).json.series).toBeNull();
  });

  test('a write with a unit of times that nobody knows is refused', async () => {
    const { status, json } = await call('POST', '/write?db=d&rp=r&precision=sec', 'm v=1 10');

    const error = 'invalid precision "sec" (use n, u, ms, s, m or h)';
    expect([status, json]).toEqual([400, { error }]);
  });

  test('tasks, events and ids of the engine survive a restart', async () => {
    const alert =
      "stream|from().measurement('m')|alert().id('e').crit(lambda: \"v\" > 1).topic('top')";
    await call('POST', '/engine/v1/tasks', {
      id: 't',
      dbrps: DBRPS,
      script: alert,
      status: 'enabled',
    });
    await call('POST', '/write?db=d&rp=r&precision=s', 'm v=2 10');
    const before = (await call('GET', '/engine/v1preview/alerts/topics/top/events/e')).json;

    await engine.close();
    await start();

    const task = (await call('GET', '/engine/v1/tasks/t')).json;
    expect(task).toMatchObject({ status: 'enabled', executing: true, error: '' });
    const after = (await call('GET', '/engine/v1preview/alerts/topics/top/events/e')).json;
    expect(after).toEqual(before);
    expect(after.state.level).toBe('CRITICAL');
  });

  test('open windows and counters go on after a restart of the engine', async () => {
    const script =
      "stream|from().measurement('m')|window().period(10s).every(10s)|sum('v')|httpOut('out')";
    await call('POST', '/engine/v1/tasks', { id: 't', dbrps: DBRPS, script, status: 'enabled' });
    await call('POST', '/write?db=d&rp=r&precision=s', 'm v=1 10\nm v=2 15');

    await engine.close();
    await start();
    await call('POST', '/write?db=d&rp=r&precision=s', 'm v=4 19\nm v=8 20');

    const { json } = await call('GET', '/engine/v1/tasks/t/out');
    expect(json.series[0].values).toEqual([[expect.any(String), 7]]);
  });

  test('a broken task shows its error and does not keep others from starting', async () => {
    await call('POST', '/engine/v1/tasks', { id: 'good', dbrps: DBRPS, script, status: 'enabled' });
    const hook = { add: { endpoint: 'hook', url: 'http://127.0.0.1:1' } };
    expect((await call('POST', '/engine/v1/config/httppost', hook)).status).toBe(200);
    const bad = await call('POST', '/engine/v1/tasks', {
      id: 'bad',
      dbrps: DBRPS,
      script: "stream|from()|httpPost().endpoint('hook')",
      status: 'enabled',
    });
    expect(bad.status).toBe(200);
    expect((await call('POST', '/engine/v1/config/httppost', { remove: ['hook'] })).status).toBe(
      200,
    );

    await engine.close();
    await start();

    expect((await call('GET', '/engine/v1/tasks/good')).json.executing).toBe(true);
    const shown = (await call('GET', '/engine/v1/tasks/bad')).json;
    expect(shown).toMatchObject({ status: 'enabled', executing: false });
    expect(shown.error).toContain('hook');
    const again = await call('PATCH', '/engine/v1/tasks/bad', { status: 'enabled' });
    expect(again).toMatchObject({ status: 400, json: { error: shown.error } });
  });

  test('integers of vars keep all their digits', async () => {
    const body = `{"id":"t","dbrps":[{"db":"d","rp":"r"}],"script":"var n = 1\\nstream|from()","vars":{"n":{"type":"int","value":9007199254740993}}}`;
    await call('POST', '/engine/v1/tasks', body);

    const response = await fetch(`${engine.url}/engine/v1/tasks/t`);

    expect(await response.text()).toContain('"value":9007199254740993');
  });
});

describe('the log', () => {
  test('can be followed by task; the answer begins before the first line', async () => {
    const stop = new AbortController();
    const response = await fetch(`${engine.url}/engine/v1preview/logs?task=bad&lvl=error%2B`, {
      headers: { Accept: 'application/json' },
      signal: stop.signal,
    });
    await call('POST', '/engine/v1/tasks', {
      id: 'bad',
      dbrps: DBRPS,
      script: 'stream|from()|eval(lambda: "absent" + 1).as(\'x\')',
      status: 'enabled',
    });
    await call('POST', '/write?db=d&rp=r', 'm v=1 10');

    const { value } = (await response.body?.getReader().read()) ?? {};
    stop.abort();

    const line = JSON.parse(
      Buffer.from(value ?? [])
        .toString('utf8')
        .split('\n')[0] ?? '',
    );
    expect(line).toMatchObject({ lvl: 'error', task: 'bad', node: 'eval2' });
  });

  test('begins with what was logged before, with the point of an error', async () => {
    await call('POST', '/engine/v1/tasks', {
      id: 'chatty',
      dbrps: DBRPS,
      script: `var cpu = stream|from().measurement('cpu')
cpu|log()
cpu|eval(lambda: "absent" + 1).as('x')`,
      status: 'enabled',
    });
    await call('POST', '/write?db=d&rp=r', 'cpu,host=a v=1 10');
    // More lines than are kept.
    for (let i = 0; i < 120; i++)
      await call('POST', '/write?db=d&rp=r', `cpu,host=b absent=1 ${i}`);

    const past = await eventually('the log', async () => {
      const stop = new AbortController();
      const response = await fetch(
        `${engine.url}/engine/v1preview/logs?task=chatty&lvl=info%2B&past=true`,
        { headers: { Accept: 'application/json' }, signal: stop.signal },
      );
      const { value } = (await response.body?.getReader().read()) ?? {};
      stop.abort();
      const lines = Buffer.from(value ?? [])
        .toString('utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
      return lines.length >= 101 ? lines : undefined;
    });

    expect(past[0]).toMatchObject({
      lvl: 'error',
      node: 'eval3',
      point: 'cpu,host=a v=1 10',
    });
    expect(past.filter(({ node }) => node === 'log2')).toHaveLength(100);
  });

  test.each(['lvl=loud', 'task=a&task=b'])('%s is refused', async (query) => {
    expect((await call('GET', `/engine/v1preview/logs?${query}`)).status).toBe(400);
  });
});

describe('user-defined functions', () => {
  test('a configured program is asked what it takes and used by a task', async () => {
    await engine.close();
    const sample = new URL('../../runtime/examples/udf-running-sum.mjs', import.meta.url);
    const sum = { prog: process.execPath, args: [fileURLToPath(sample)], timeout: '5s' };
    const broken = { prog: '/nowhere/at/all' };
    await start({}, { udf: { functions: { sum, broken } } });
    const script = "stream|from()@sum().field('v')|httpPost('" + sink.url + "')";

    const { status } = await call('POST', '/engine/v1/tasks', {
      id: 't',
      dbrps: DBRPS,
      script,
      status: 'enabled',
    });
    await call('POST', '/write?db=d&rp=r', 'm v=1 10\nm v=2 11');
    await sink.until(() => sink.requests.length === 2);

    expect(status).toBe(200);
    const sums = sink.requests.map(({ body }) => JSON.parse(body).series[0]);
    const at = sums[0].columns.indexOf('sum');
    expect(sums.map(({ values }) => values[0][at])).toEqual([1, 3]);
    const unknown = await call('POST', '/engine/v1/tasks', {
      id: 'u',
      dbrps: DBRPS,
      script: 'stream|from()@broken()',
    });
    expect(unknown.status).toBe(400);
  });
});
