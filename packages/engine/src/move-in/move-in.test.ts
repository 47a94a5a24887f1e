// Moving in from a server that answers as a Kapacitor 1.5 was recorded to answer.
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { resolveEngineConfig } from '../config.ts';
import { startEngine } from '../start-engine.ts';
import type { EngineService } from '../start-engine.ts';
import { moveIn } from './move-in.ts';

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const SCRIPT = `// my own layout
stream|from().measurement('m').groupBy('h')|alert().id('{{ index .Tags "h" }}').crit(lambda: "v" > 5).stateChangesOnly().topic('cpu')`;
const TEMPLATE =
  "var limit = 5\nstream|from().measurement('m').where(lambda: \"v\" > limit)|httpOut('out')";

const link = (path: string): object => ({ rel: 'self', href: `/kapacitor/v1/${path}` });
const task = (id: string, more: object): object => ({
  link: link(`tasks/${id}`),
  id,
  type: 'stream',
  dbrps: [{ db: 'd', rp: 'r' }],
  script: SCRIPT,
  vars: {},
  dot: '',
  status: 'enabled',
  executing: true,
  error: '',
  stats: {},
  ...more,
});

const TASKS: Readonly<Record<string, object>> = {
  own: task('own', {}),
  made: task('made', {
    'template-id': 'tpl',
    script: TEMPLATE,
    vars: { limit: { type: 'int', value: '9007199254740993' } },
  }),
  odd: task('odd', { script: 'stream|unknown()', status: 'disabled' }),
};

const EVENT = {
  id: 'a',
  state: {
    message: 'a is CRITICAL',
    details: 'hot',
    time: '2024-01-01T00:00:00Z',
    duration: '1m30s',
    level: 'CRITICAL',
  },
};

/** Answers by path, without the query. Only the older base path exists. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  '/kapacitor/v1/templates': { templates: [{ id: 'tpl', type: 'stream', script: TEMPLATE }] },
  '/kapacitor/v1/tasks': { tasks: Object.keys(TASKS).map((id) => ({ id, status: 'enabled' })) },
  ...Object.fromEntries(
    Object.entries(TASKS).map(([id, each]) => [`/kapacitor/v1/tasks/${id}`, each]),
  ),
  '/kapacitor/v1preview/alerts/topics': {
    topics: [{ id: 'cpu', level: 'CRITICAL', collected: 7 }],
  },
  '/kapacitor/v1preview/alerts/topics/cpu/handlers': {
    topic: 'cpu',
    handlers: [
      {
        link: link('x'),
        id: 'ops',
        kind: 'slack',
        options: { channel: '#ops' },
        match: 'changed() == TRUE',
      },
      { link: link('x'), id: 'strange', kind: 'carrierPigeon', options: {}, match: '' },
    ],
  },
  '/kapacitor/v1preview/alerts/topics/cpu/events': { topic: 'cpu', events: [EVENT] },
};

let directory = '';
let engine: EngineService;
let old: http.Server;
let from = '';
let authorization: (string | undefined)[] = [];

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'move-in-'));
  const { config } = resolveEngineConfig([
    {
      source: 'test',
      values: {
        data_dir: directory,
        stats: { enabled: false },
        http: { 'bind-address': '127.0.0.1:0' },
      },
    },
  ]);
  engine = await startEngine(config, { log: quiet });
  authorization = [];
  old = http.createServer((request, response) => {
    authorization.push(request.headers.authorization);
    const path = decodeURIComponent((request.url ?? '').replace(/\?.*/, ''));
    const answer = ANSWERS[path];
    if (path === '/kapacitor/v1/ping') response.writeHead(204).end();
    else if (answer === undefined || request.method !== 'GET')
      response.writeHead(404).end('Not Found');
    // A 64-bit integer that JSON.stringify can not print.
    else response.end(JSON.stringify(answer).replace('"9007199254740993"', '9007199254740993'));
  });
  await new Promise<void>((resolve) => old.listen(0, '127.0.0.1', resolve));
  from = `http://user:pass%3A@127.0.0.1:${(old.address() as AddressInfo).port}`;
});

afterEach(async () => {
  await engine.close();
  old.closeAllConnections();
  await new Promise((resolve) => old.close(resolve));
  rmSync(directory, { recursive: true, force: true });
});

async function get(path: string): Promise<{ status: number; text: string; json: any }> {
  const response = await fetch(engine.url + path);
  const text = await response.text();
  return { status: response.status, text, json: JSON.parse(text) };
}

test('definitions and states arrive, and what can not be used is told by name', async () => {
  const steps = await moveIn({ from, to: engine.url });

  expect(steps.map(({ kind, id, outcome }) => `${kind} ${id} ${outcome}`)).toEqual([
    'template tpl created',
    'handler cpu/ops created',
    'handler cpu/strange failed',
    'event cpu/a created',
    'task own created',
    'task made created',
    'task odd failed',
  ]);
  expect(steps.filter(({ outcome }) => outcome === 'failed').map(({ note }) => note)).toEqual([
    expect.stringContaining('carrierPigeon'),
    expect.stringContaining('unknown'),
  ]);
  expect(authorization[0]).toBe(`Basic ${Buffer.from('user:pass:').toString('base64')}`);
  const own = await get('/engine/v1/tasks/own?script-format=raw');
  expect(own.json).toMatchObject({
    script: SCRIPT,
    executing: true,
    dbrps: [{ db: 'd', rp: 'r' }],
  });
  const made = await get('/engine/v1/tasks/made');
  expect(made.json['template-id']).toBe('tpl');
  expect(made.text).toContain('9007199254740993');
  const events = await get('/engine/v1preview/alerts/topics/cpu/events');
  expect(events.json.events).toMatchObject([EVENT]);
});

test('a level that was told there is not told again here, its end is', async () => {
  await moveIn({ from, to: engine.url });
  const write = (line: string): Promise<Response> =>
    fetch(`${engine.url}/write?db=d&rp=r&precision=s`, { method: 'POST', body: line });
  const topic = async (): Promise<unknown> => {
    const { json } = await get('/engine/v1preview/alerts/topics/cpu');
    return [json.level, json.collected];
  };

  await write('m,h=a v=9 1704067300');
  expect(await topic()).toEqual(['CRITICAL', 0]);

  await write('m,h=a v=1 1704067310');
  expect(await topic()).toEqual(['OK', 1]);
});

test('copying again brings up to date, and tasks may arrive disabled', async () => {
  await moveIn({ from, to: engine.url, isDisabled: true });
  const steps = await moveIn({ from, to: engine.url, isDisabled: true, pattern: 'o*' });

  expect(steps.map(({ kind, id, outcome }) => `${kind} ${id} ${outcome}`)).toEqual([
    'handler cpu/ops updated',
    'handler cpu/strange failed',
    'event cpu/a created',
    'task own updated',
    'task odd failed',
  ]);
  expect((await get('/engine/v1/tasks/own')).json.status).toBe('disabled');
});

test('a dry run changes nothing', async () => {
  const steps = await moveIn({ from, to: engine.url, isDryRun: true });

  expect(new Set(steps.map(({ outcome }) => outcome))).toEqual(new Set(['unchanged']));
  expect((await get('/engine/v1/tasks')).json.tasks).toEqual([]);
});

test('where no engine answers is said with the address', async () => {
  await expect(moveIn({ from: 'http://127.0.0.1:1', to: engine.url })).rejects.toThrow(
    'http://127.0.0.1:1 does not answer',
  );
});
