// Import from a server that responds as a recorded Kapacitor 1.5 does.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestServer } from '@tidemark/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { resolveEngineConfig } from '../config/config.ts';
import { startEngine } from '../start-engine.ts';
import type { EngineService } from '../engine-service.ts';
import { importDefinitions } from './import.ts';
import type { ImportStep } from './import.ts';

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
let old: TestServer;
let from = '';
let authorization: (string | undefined)[] = [];
/** The old engine's answers; `undefined` cuts every connection. */
let answers: Readonly<Record<string, unknown>> | undefined;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'import-'));
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
  answers = ANSWERS;
  old = new TestServer((request) => {
    authorization.push(request.headers.authorization);
    const path = decodeURIComponent(request.path.replace(/\?.*/, ''));
    if (answers === undefined) return { isCut: true };
    const answer = answers[path];
    if (path === '/kapacitor/v1/ping') return { status: 204 };
    if (answer === undefined || request.method !== 'GET') return { status: 404, body: 'Not Found' };
    // A 64-bit integer that JSON.stringify cannot print.
    return { body: JSON.stringify(answer).replace('"9007199254740993"', '9007199254740993') };
  });
  await old.open();
  from = `http://user:pass%3A@127.0.0.1:${old.port}`;
});

afterEach(async () => {
  await engine.close();
  await old.close();
  rmSync(directory, { recursive: true, force: true });
});

async function get(path: string): Promise<{ status: number; text: string; json: any }> {
  const response = await fetch(engine.url + path);
  const text = await response.text();
  return { status: response.status, text, json: JSON.parse(text) };
}

/** A request below the base path that must succeed. */
async function send(method: string, path: string, body: unknown): Promise<void> {
  const response = await fetch(`${engine.url}/engine/v1${path}`, {
    method,
    body: JSON.stringify(body),
  });
  expect(response.status, await response.text()).toBeLessThan(300);
}

test('definitions and states arrive, and what cannot be used is told by name', async () => {
  const steps = await importDefinitions({ from, to: engine.url });

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
  await importDefinitions({ from, to: engine.url });
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

const outcomes = (steps: readonly ImportStep[]): readonly string[] =>
  steps.map(({ kind, id, outcome, note }) =>
    `${kind} ${id} ${outcome} ${outcome === 'failed' ? '' : note}`.trimEnd(),
  );

test('identical definitions are left alone, and tasks may arrive disabled', async () => {
  await importDefinitions({ from, to: engine.url, isDisabled: true });
  const before = (await get('/engine/v1/tasks/own')).json;
  const steps = await importDefinitions({ from, to: engine.url, isDisabled: true, pattern: 'o*' });

  expect(outcomes(steps)).toEqual([
    'handler cpu/ops unchanged',
    'handler cpu/strange failed',
    'event cpu/a unchanged',
    'task own unchanged',
    'task odd failed',
  ]);
  const after = (await get('/engine/v1/tasks/own')).json;
  expect(after).toMatchObject({ status: 'disabled', modified: before.modified });
});

describe('what is there and differs', () => {
  const kept = [
    'template tpl kept differs in script',
    'handler cpu/ops kept differs in match, options',
    'handler cpu/strange failed',
    'event cpu/a kept differs in state',
    'task own kept differs in dbrps, script, status',
    'task made kept differs in vars',
    'task odd failed',
  ];
  const other = "stream|from().measurement('other')|httpOut('mine')";

  beforeEach(async () => {
    await importDefinitions({ from, to: engine.url });
    const topic = 'preview/alerts/topics/cpu';
    await send('PATCH', '/templates/tpl', { script: `${TEMPLATE} // mine` });
    await send('PATCH', '/tasks/made', { vars: { limit: { type: 'int', value: 3 } } });
    const mine = { script: other, dbrps: [{ db: 'd', rp: 'mine' }], status: 'disabled' };
    await send('PATCH', '/tasks/own', mine);
    const handler = { id: 'ops', kind: 'slack', options: { channel: '#mine' } };
    await send('PUT', `${topic}/handlers/ops`, handler);
    await send('PUT', `${topic}/events/a`, { state: { ...EVENT.state, level: 'WARNING' } });
  });

  test('is kept, and told by name', async () => {
    expect(outcomes(await importDefinitions({ from, to: engine.url }))).toEqual(kept);
    expect((await get('/engine/v1/tasks/own?script-format=raw')).json).toMatchObject({
      script: other,
      status: 'disabled',
    });
  });

  test('is replaced when that is asked for; a dry run tells so and replaces nothing', async () => {
    const overwriting = { from, to: engine.url, isOverwriting: true };
    const replaced = kept.map((line) => line.replace(' kept ', ' replaced '));

    // Only the engine knows what it would refuse.
    expect(outcomes(await importDefinitions({ ...overwriting, isDryRun: true }))).toEqual(
      replaced.map((line) => line.replace(' failed', ' created')),
    );
    expect(outcomes(await importDefinitions({ from, to: engine.url }))).toEqual(kept);
    expect(outcomes(await importDefinitions(overwriting))).toEqual(replaced);
    expect((await get('/engine/v1/tasks/own?script-format=raw')).json).toMatchObject({
      script: SCRIPT,
      dbrps: [{ db: 'd', rp: 'r' }],
      status: 'enabled',
      executing: true,
    });
    expect(outcomes(await importDefinitions({ from, to: engine.url }))).toEqual(
      kept.map((line) => line.replace(/ kept .*/, ' unchanged')),
    );
  });
});

test('a task with secret vars arrives when it has its secrets here already', async () => {
  const script = `var token = ''\nstream|from()|httpOut('o')|log().prefix(token)`;
  const secretVars = (value: string): object => ({ token: { type: 'secret', value } });
  const shown = task('hushed', { script, vars: secretVars('[REDACTED]'), status: 'disabled' });
  answers = {
    ...ANSWERS,
    '/kapacitor/v1/tasks': { tasks: [{ id: 'hushed', status: 'disabled' }] },
    '/kapacitor/v1/tasks/hushed': shown,
  };
  const arrive = async (): Promise<unknown> => {
    const steps = await importDefinitions({ from, to: engine.url });
    return steps.find(({ id }) => id === 'hushed');
  };
  expect(await arrive()).toMatchObject({
    outcome: 'failed',
    note: expect.stringContaining('invalid var token: [REDACTED] replaces a secret'),
  });
  const body = { ...shown, vars: secretVars('hush-7Zq') };
  await send('POST', '/tasks', body);
  expect(await arrive()).toMatchObject({ outcome: 'unchanged' });
});

test('a dry run says what would be created and changes nothing', async () => {
  const steps = await importDefinitions({ from, to: engine.url, isDryRun: true });

  expect(new Set(steps.map(({ outcome }) => outcome))).toEqual(new Set(['created']));
  expect((await get('/engine/v1/tasks')).json.tasks).toEqual([]);
  expect((await get('/engine/v1preview/alerts/topics')).json.topics).toEqual([]);
});

test('a topic that the old engine cannot tell does not keep the rest back', async () => {
  const { '/kapacitor/v1preview/alerts/topics/cpu/events': _events, ...others } = ANSWERS;
  answers = others;
  const steps = await importDefinitions({ from, to: engine.url });

  expect(steps).toContainEqual({
    kind: 'topic',
    id: 'cpu',
    outcome: 'failed',
    note: 'events: Not Found',
  });
  expect(outcomes(steps)).toContain('task own created');
});

test('when the old engine goes away in the middle, what was done is told first', async () => {
  const told: ImportStep[] = [];
  const importing = importDefinitions({
    from,
    to: engine.url,
    onStep: (step) => {
      told.push(step);
      if (step.kind === 'template') answers = undefined;
    },
  });

  await expect(importing).rejects.toThrow('does not answer');
  expect(outcomes(told)).toEqual(['template tpl created']);
});

test('where no engine answers is said with the address', async () => {
  await expect(importDefinitions({ from: 'http://127.0.0.1:1', to: engine.url })).rejects.toThrow(
    'http://127.0.0.1:1 does not answer',
  );
});
