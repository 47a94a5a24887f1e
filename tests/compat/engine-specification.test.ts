// One test per row of every table of the engine's HTTP API specification, under the row's own words. All share one
// engine and a database that gives every query the same answer; each row uses ids of its own.
import { eventually } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPeer } from '../soak/engine-api/peer.ts';
import type { Peer } from '../soak/engine-api/peer.ts';
import { startInProcess } from '../soak/engine-api/subject.ts';
import type { Subject } from '../soak/engine-api/subject.ts';

const STREAM =
  "stream|from().measurement('m')|httpOut('out')|alert().id('{{ .TaskName }}').crit(lambda: \"v\" > 5).topic('spec')";
const BATCH = `batch|query('SELECT v FROM "d"."r"."m1"').period(10s).every(1h)|httpOut('out')`;
const DBRPS = [{ db: 'd', rp: 'r' }];
const PAST = { start: '2020-01-01T00:00:00Z', stop: '2020-01-01T02:00:01Z' };
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

let peer: Peer;
let engine: Subject;
let lastId = 0;

beforeAll(async () => {
  peer = await startPeer();
  engine = await startInProcess(peer.url);
});

afterAll(async () => {
  await engine.close();
  await peer.close();
});

type Answer = { readonly status: number; readonly json: any; readonly headers: Headers };

/** Below `/engine/v1/` unless the path begins with a slash. */
async function call(method: string, path: string, body?: unknown): Promise<Answer> {
  const url = engine.url + (path.startsWith('/') ? path : `/engine/v1/${path}`);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(url, { method, ...(body === undefined ? {} : { body: text }) });
  const answer = Buffer.from(await response.arrayBuffer()).toString();
  let json: unknown = answer;
  try {
    json = JSON.parse(answer);
  } catch {
    // Backups, logs and refused writes are no JSON.
  }
  return { status: response.status, json, headers: response.headers };
}

const get = (path: string): Promise<Answer> => call('GET', path);
const newId = (): string => `row-${++lastId}`;

async function define(more: object = {}): Promise<any> {
  const id = newId();
  const { status, json } = await call('POST', 'tasks', {
    id,
    script: STREAM,
    dbrps: DBRPS,
    ...more,
  });
  expect({ status, json }).toMatchObject({ status: 200 });
  return json;
}

async function template(script = 'var x = 1\nstream|from()|where(lambda: x > 0)'): Promise<any> {
  return (await call('POST', 'templates', { id: newId(), script })).json;
}

async function ended(path: string): Promise<any> {
  return eventually(
    path,
    async () => {
      const { status, json } = await get(path);
      return status === 202 ? undefined : json;
    },
    60_000,
  );
}

async function record(kind: string, body: object): Promise<any> {
  const { status, json } = await call('POST', `recordings/${kind}`, { id: newId(), ...body });
  expect({ status, json }).toMatchObject({ status: 201, json: { status: 'running' } });
  return json;
}

const recordQuery = (type = 'stream'): Promise<any> =>
  record('query', { type, query: 'SELECT v FROM "d"."r".m1' }).then(({ id }) =>
    ended(`recordings/${id}`),
  );

async function replay(kind: string, body: object): Promise<any> {
  const { status, json } = await call('POST', `replays/${kind}`, { id: newId(), ...body });
  expect({ status, json }).toMatchObject({ status: 201, json: { status: 'running' } });
  return json;
}

/** A replay of a recorded answer to a task of its own, when it has ended. */
async function replayed(more: object = {}): Promise<any> {
  const task = await define();
  const recording = await recordQuery();
  const { id } = await replay('', { task: task.id, recording: recording.id, ...more });
  return ended(`replays/${id}`);
}

const topicPath = (topic: string): string => `/engine/v1preview/alerts/topics/${topic}`;
const POST_ACTION = { kind: 'post', options: { url: 'http://127.0.0.1:1/' } };

async function handler(topic: string): Promise<any> {
  const body = { id: newId(), actions: [POST_ACTION] };
  return (await call('POST', `${topicPath(topic)}/handlers`, body)).json;
}

/** A topic with one critical event. */
async function event(): Promise<{ topic: string; id: string }> {
  const topic = newId();
  const task = await define({ status: 'enabled', script: STREAM.replace("'spec'", `'${topic}'`) });
  await call('POST', '/write?db=d&rp=r', 'm v=9 1500000000000000000');
  await eventually('the event', async () =>
    (await get(`${topicPath(topic)}/events/${task.id}`)).status === 200 ? true : undefined,
  );
  return { topic, id: task.id };
}

/** Rows of a table: their words, and what shows them. */
function table(name: string, rows: readonly (readonly [string, () => Promise<unknown>])[]): void {
  describe(name, () => {
    test.each(rows)('%s', { timeout: 120_000 }, async (_row, show) => {
      await show();
    });
  });
}

table('Task', [
  [
    'id: unique',
    async () => {
      const { id } = await define();
      expect((await call('POST', 'tasks', { id, script: STREAM, dbrps: DBRPS })).status).toBe(400);
    },
  ],
  [
    'id: random when empty',
    async () => expect((await define({ id: '' })).id).toMatch(/^[0-9a-f-]{36}$/),
  ],
  [
    'template-id',
    async () => {
      const { id } = await template();
      const task = await define({ script: undefined, 'template-id': id });
      expect(task).toMatchObject({ 'template-id': id, type: 'stream' });
    },
  ],
  [
    'type',
    async () => {
      expect((await define()).type).toBe('stream');
      expect((await define({ script: BATCH })).type).toBe('batch');
    },
  ],
  [
    'dbrps: setting it on PATCH overwrites the whole list',
    async () => {
      const { id, dbrps } = await define({ dbrps: [...DBRPS, { db: 'e', rp: 'r' }] });
      expect(dbrps).toHaveLength(2);
      const other = [{ db: 'f', rp: 's' }];
      expect((await call('PATCH', `tasks/${id}`, { dbrps: other })).json.dbrps).toEqual(other);
    },
  ],
  ['script', async () => expect((await define()).script).toContain("|httpOut('out')")],
  [
    'status',
    async () => {
      expect((await define()).status).toBe('disabled');
      expect((await define({ status: 'enabled' })).status).toBe('enabled');
    },
  ],
  [
    'vars: setting on PATCH overwrites all stored vars',
    async () => {
      const { id } = await define({
        vars: { a: { type: 'int', value: 1 }, b: { type: 'int', value: 2 } },
      });
      const { json } = await call('PATCH', `tasks/${id}`, {
        vars: { c: { type: 'int', value: 3 } },
      });
      expect(json.vars).toEqual({ c: { type: 'int', value: 3, description: '' } });
    },
  ],
  [
    'link',
    async () => {
      const { id, link } = await define();
      expect(link).toEqual({ rel: 'self', href: `/engine/v1/tasks/${id}` });
    },
  ],
  ['dot', async () => expect((await define()).dot).toMatch(/^digraph .*from1 -> http_out2/s)],
  [
    'executing',
    async () => {
      expect((await define()).executing).toBe(false);
      expect((await define({ status: 'enabled' })).executing).toBe(true);
    },
  ],
  [
    'error: empty when none',
    async () => {
      expect((await define()).error).toBe('');
      const id = newId();
      const body = { id, script: BATCH, dbrps: [{ db: 'x', rp: 'y' }], status: 'enabled' };
      expect((await call('POST', 'tasks', body)).status).toBe(500);
      expect((await get(`tasks/${id}`)).json).toMatchObject({
        status: 'enabled',
        executing: false,
        error: expect.stringMatching(/not allowed/),
      });
    },
  ],
  [
    'stats',
    async () => {
      expect((await define()).stats).toEqual({});
      const { stats } = await define({ status: 'enabled' });
      expect(Object.keys(stats)).toEqual(['task-stats', 'node-stats']);
    },
  ],
  [
    'created: first creation time',
    async () => {
      const { id, created } = await define();
      expect(created).toMatch(TIME);
      expect((await call('PATCH', `tasks/${id}`, { status: 'enabled' })).json.created).toBe(
        created,
      );
    },
  ],
  [
    'modified: last modification time',
    async () => {
      const { id, created, modified } = await define();
      expect(modified).toBe(created);
      expect((await call('PATCH', `tasks/${id}`, {})).json.modified > modified).toBe(true);
    },
  ],
  [
    'last-enabled: last time status was set to enabled',
    async () => {
      const { id, 'last-enabled': never } = await define();
      expect(never).toBe('0001-01-01T00:00:00Z');
      const first = (await call('PATCH', `tasks/${id}`, { status: 'enabled' })).json[
        'last-enabled'
      ];
      expect(first).toMatch(TIME);
      expect(
        (await call('PATCH', `tasks/${id}`, { status: 'disabled' })).json['last-enabled'],
      ).toBe(first);
    },
  ],
]);

const goodVars: readonly (readonly [string, unknown, unknown])[] = [
  ['bool', true, true],
  ['int', -7, -7],
  ['float', 1.5, 1.5],
  ['duration', '10s', 10_000_000_000],
  ['duration', 5, 5],
  ['string', 'any', 'any'],
  ['regex', '^a+$', '^a+$'],
  ['lambda', '"a" > 1', '"a" > 1'],
  ['star', '', null],
  [
    'list',
    [
      { type: 'string', value: 'a' },
      { type: 'star', value: '' },
    ],
    expect.any(Array),
  ],
];
const badVars: readonly (readonly [string, unknown])[] = [
  ['bool', 'true'],
  ['int', 1.5],
  ['float', 'one'],
  ['duration', 'ten'],
  ['string', 1],
  ['regex', '('],
  ['lambda', '"a" >'],
  ['list', [{ type: 'int', value: 1 }]],
];

describe('Var types', () => {
  test.each(goodVars)('%s accepts %j', async (type, value, shown) => {
    const { vars } = await define({ vars: { x: { type, value } } });
    expect(vars.x).toMatchObject({ type, value: shown });
  });
  test.each(badVars)('%s does not accept %j', async (type, value) => {
    const body = { id: newId(), script: STREAM, dbrps: DBRPS, vars: { x: { type, value } } };
    expect((await call('POST', 'tasks', body)).status).toBe(400);
  });
});

table('Template', [
  [
    'id: random when empty',
    async () => {
      const { json } = await call('POST', 'templates', { script: 'stream|from()' });
      expect(json.id).toMatch(/^[0-9a-f-]{36}$/);
    },
  ],
  ['type', async () => expect((await template(BATCH)).type).toBe('batch')],
  ['script', async () => expect((await template('stream|from()')).script).toContain('|from()')],
  [
    'link',
    async () => {
      const { id, link } = await template();
      expect(link).toEqual({ rel: 'self', href: `/engine/v1/templates/${id}` });
    },
  ],
  [
    'vars: named vars with type, default value and description',
    async () => {
      const script =
        '// how much\nvar limit = 5\nvar name string\nstream|from()|where(lambda: "v" > limit AND "n" == name)';
      expect((await template(script)).vars).toEqual({
        limit: { type: 'int', value: 5, description: 'how much' },
        name: { type: 'string', value: null, description: '' },
      });
    },
  ],
  ['dot', async () => expect((await template()).dot).toContain('from1')],
  ['error', async () => expect((await template()).error).toBe('')],
  [
    'created, modified',
    async () => {
      const { created, modified } = await template();
      expect([created, modified]).toEqual([expect.stringMatching(TIME), created]);
    },
  ],
]);

table('Recording', [
  [
    'id: random when not given',
    async () =>
      expect((await record('query', { id: '', type: 'stream', query: 'q' })).id).toMatch(
        /^[0-9a-f-]{36}$/,
      ),
  ],
  [
    'link',
    async () => {
      const { id, link } = await recordQuery();
      expect(link).toEqual({ rel: 'self', href: `/engine/v1/recordings/${id}` });
    },
  ],
  [
    'type: replayed only to a task of the same type',
    async () => {
      const recording = await recordQuery('batch');
      const task = await define();
      const body = { task: task.id, recording: recording.id };
      expect((await call('POST', 'replays/', body)).status).toBe(400);
    },
  ],
  ['size: bytes on disk', async () => expect((await recordQuery()).size).toBeGreaterThan(20)],
  ['date: when it finished', async () => expect((await recordQuery()).date).toMatch(TIME)],
  [
    'error',
    async () => {
      const { id } = await record('query', { type: 'stream', query: 'SELECT v FROM m' });
      expect(await ended(`recordings/${id}`)).toMatchObject({
        status: 'failed',
        error: expect.stringMatching(/fully qualified/),
      });
    },
  ],
  [
    'status: running, failed, finished',
    async () => expect((await recordQuery()).status).toBe('finished'),
  ],
  ['progress: between 0 and 1', async () => expect((await recordQuery()).progress).toBe(1)],
]);

table('Replay', [
  [
    'id: random when not given',
    async () => expect((await replayed({ id: '' })).id).toMatch(/^[0-9a-f-]{36}$/),
  ],
  [
    'link',
    async () => {
      const { id, link } = await replayed();
      expect(link).toEqual({ rel: 'self', href: `/engine/v1/replays/${id}` });
    },
  ],
  ['task', async () => expect((await replayed()).task).toMatch(/^row-/)],
  [
    'recording: empty when made without one',
    async () => {
      expect((await replayed()).recording).toMatch(/^row-/);
      const { id } = await define();
      const query = 'SELECT v FROM "d"."r".m1';
      expect((await replay('query', { task: id, query })).recording).toBe('');
    },
  ],
  [
    'clock: default fast',
    async () => {
      expect((await replayed()).clock).toBe('fast');
      expect((await replayed({ clock: 'real' })).clock).toBe('real');
    },
  ],
  [
    'recording-time: default false',
    async () => {
      expect((await replayed())['recording-time']).toBe(false);
      expect((await replayed({ 'recording-time': true }))['recording-time']).toBe(true);
    },
  ],
  ['status', async () => expect((await replayed()).status).toBe('finished')],
  ['progress', async () => expect((await replayed()).progress).toBe(1)],
  [
    'error',
    async () => {
      const task = await define();
      const { id } = await replay('query', { task: task.id, query: 'SELECT v FROM m' });
      expect(await ended(`replays/${id}`)).toMatchObject({
        status: 'failed',
        error: expect.stringMatching(/fully qualified/),
      });
    },
  ],
]);

table('Alert topic, event, handler', [
  [
    'topic',
    async () => {
      const { topic } = await event();
      const href = topicPath(topic);
      expect((await get(href)).json).toMatchObject({
        id: topic,
        level: 'CRITICAL',
        link: { rel: 'self', href },
        'events-link': { rel: 'events', href: `${href}/events` },
        'handlers-link': { rel: 'handlers', href: `${href}/handlers` },
      });
    },
  ],
  [
    'event',
    async () => {
      const { topic, id } = await event();
      const href = `${topicPath(topic)}/events/${id}`;
      expect((await get(href)).json).toMatchObject({
        id,
        link: { rel: 'self', href },
        state: {
          level: 'CRITICAL',
          message: expect.stringMatching(/CRITICAL/),
          time: '2017-07-14T02:40:00Z',
          duration: '0s',
        },
      });
    },
  ],
  [
    'handler',
    async () => {
      const topic = newId();
      const { id, link, actions } = await handler(topic);
      expect(link.href).toBe(`${topicPath(topic)}/handlers/${id}`);
      expect(actions).toEqual([POST_ACTION]);
    },
  ],
]);

const statusOf = async (path: string): Promise<string> => (await get(path)).json.status;

table('States and transitions', [
  [
    'task disabled → enabled',
    async () => {
      const { id } = await define();
      expect((await call('PATCH', `tasks/${id}`, { status: 'enabled' })).json).toMatchObject({
        status: 'enabled',
        executing: true,
        'last-enabled': expect.stringMatching(TIME),
      });
    },
  ],
  [
    'task enabled → disabled',
    async () => {
      const { id } = await define({ status: 'enabled' });
      expect((await call('PATCH', `tasks/${id}`, { status: 'disabled' })).json).toMatchObject({
        status: 'disabled',
        executing: false,
      });
    },
  ],
  [
    'a task whose template is deleted is unchanged and can not be enabled',
    async () => {
      const { id } = await template();
      const running = await define({ script: undefined, 'template-id': id, status: 'enabled' });
      await call('DELETE', `templates/${id}`);
      expect((await get(`tasks/${running.id}`)).json).toMatchObject({
        status: 'enabled',
        executing: true,
      });
      expect((await call('PATCH', `tasks/${running.id}`, { status: 'disabled' })).status).toBe(200);
      expect((await call('PATCH', `tasks/${running.id}`, { status: 'enabled' })).status).toBe(400);
      expect(await statusOf(`tasks/${running.id}`)).toBe('disabled');
    },
  ],
  [
    'recording running → finished: progress is 1',
    async () =>
      expect(await recordQuery()).toMatchObject({ status: 'finished', progress: 1, error: '' }),
  ],
  [
    'recording running → failed: error is set',
    async () => {
      const { id } = await record('query', { type: 'stream', query: 'x' });
      expect(await ended(`recordings/${id}`)).toMatchObject({
        status: 'failed',
        error: expect.stringMatching(/./),
      });
    },
  ],
  [
    'replay running → finished: progress is 1',
    async () =>
      expect(await replayed()).toMatchObject({ status: 'finished', progress: 1, error: '' }),
  ],
  [
    'replay running → failed: error is set',
    async () => {
      const task = await define();
      const { id } = await replay('query', { task: task.id, query: 'x' });
      expect(await ended(`replays/${id}`)).toMatchObject({
        status: 'failed',
        error: expect.stringMatching(/./),
      });
    },
  ],
]);

table('Writing data', [
  [
    'POST /engine/v1/write',
    async () => expect((await call('POST', 'write?db=d&rp=r', 'w v=1 1')).status).toBe(204),
  ],
  [
    'POST /write',
    async () => expect((await call('POST', '/write?db=d&rp=r', 'w v=1 1')).status).toBe(204),
  ],
]);

table('Tasks', [
  [
    'POST tasks',
    async () =>
      expect(await define()).toMatchObject({
        link: { rel: 'self' },
        id: expect.stringMatching(/row/),
      }),
  ],
  [
    'PATCH tasks/<id>',
    async () => {
      const { id, script, dbrps } = await define();
      expect((await call('PATCH', `tasks/${id}`, {})).json).toMatchObject({ script, dbrps });
      expect((await call('PATCH', `tasks/${newId()}`, {})).status).toBe(404);
    },
  ],
  [
    'GET tasks/<id>: dot-view, script-format, replay-id',
    async () => {
      const { id, script } = await define({ status: 'enabled' });
      expect((await get(`tasks/${id}?script-format=raw`)).json.script).toBe(STREAM);
      expect((await get(`tasks/${id}?script-format=formatted`)).json.script).toBe(script);
      expect((await get(`tasks/${id}?dot-view=labels`)).json.dot).toContain('label=');
      expect((await get(`tasks/${id}?dot-view=attributes`)).json.dot).toContain('processed="0"');
      const recording = await recordQuery();
      const again = await replay('', { task: id, recording: recording.id });
      await ended(`replays/${again.id}`);
      const inReplay = (await get(`tasks/${id}?replay-id=${again.id}`)).json;
      expect(inReplay.stats['node-stats']).toHaveProperty('from1');
      expect((await get(`tasks/${newId()}`)).status).toBe(404);
    },
  ],
  [
    'DELETE tasks/<id>',
    async () => {
      const { id } = await define({ status: 'enabled' });
      expect((await call('DELETE', `tasks/${id}`)).status).toBe(204);
      expect((await call('DELETE', `tasks/${id}`)).status).toBe(204);
      expect((await get(`tasks/${id}`)).status).toBe(404);
    },
  ],
  [
    'GET tasks',
    async () => {
      const { id } = await define();
      const { json } = await get(`tasks?pattern=${id}&fields=status&fields=type`);
      expect(json).toEqual({
        tasks: [
          {
            id,
            link: { rel: 'self', href: `/engine/v1/tasks/${id}` },
            status: 'disabled',
            type: 'stream',
          },
        ],
      });
      expect((await get('tasks?pattern=none*')).json).toEqual({ tasks: [] });
      expect((await get('tasks?offset=1&limit=2')).json.tasks).toHaveLength(2);
    },
  ],
  [
    'GET tasks/<id>/<endpoint>',
    async () => {
      const { id } = await event();
      const output = await eventually('the row', async () => {
        const { json } = await get(`tasks/${id}/out`);
        return json.series === null ? undefined : json;
      });
      expect(output).toEqual({
        series: [{ name: 'm', columns: ['time', 'v'], values: [['2017-07-14T02:40:00Z', 9]] }],
      });
    },
  ],
]);

table('Templates', [
  ['POST templates', async () => expect(await template()).toMatchObject({ link: { rel: 'self' } })],
  [
    'PATCH templates/<id>: all tasks follow or none',
    async () => {
      const { id } = await template();
      const task = await define({ script: undefined, 'template-id': id, status: 'enabled' });
      const good = 'var x = 2\nstream|from()|where(lambda: x > 1)';
      expect((await call('PATCH', `templates/${id}`, { script: good })).status).toBe(200);
      expect((await get(`tasks/${task.id}?script-format=raw`)).json.script).toBe(good);
      const bad = 'var x int\nstream|from()|where(lambda: x > 1)';
      expect((await call('PATCH', `templates/${id}`, { script: bad })).status).toBe(500);
      expect((await get(`tasks/${task.id}?script-format=raw`)).json).toMatchObject({
        script: good,
        executing: true,
      });
      expect((await get(`templates/${id}?script-format=raw`)).json.script).toBe(good);
      expect((await call('PATCH', `templates/${newId()}`, {})).status).toBe(404);
    },
  ],
  [
    'GET templates/<id>',
    async () => {
      const { id } = await template('stream|from()');
      expect((await get(`templates/${id}?script-format=raw`)).json.script).toBe('stream|from()');
      expect((await get(`templates/${newId()}`)).status).toBe(404);
    },
  ],
  [
    'DELETE templates/<id>',
    async () => {
      const { id } = await template();
      expect((await call('DELETE', `templates/${id}`)).status).toBe(204);
      expect((await call('DELETE', `templates/${id}`)).status).toBe(204);
    },
  ],
  [
    'GET templates',
    async () => {
      const { id } = await template();
      const { json } = await get(`templates?pattern=${id}&fields=type`);
      expect(json.templates).toEqual([{ id, link: expect.anything(), type: 'stream' }]);
    },
  ],
]);

table('Recordings', [
  [
    'POST recordings/stream',
    async () => {
      const { id } = await define();
      const recording = await record('stream', { task: id, stop: '2018-01-01T00:00:00Z' });
      expect((await get(`recordings/${recording.id}`)).status).toBe(202);
      await call(
        'POST',
        '/write?db=d&rp=r',
        'm v=1 1500000000000000000\nm v=1 1600000000000000000',
      );
      expect(await ended(`recordings/${recording.id}`)).toMatchObject({
        type: 'stream',
        status: 'finished',
      });
    },
  ],
  [
    'POST recordings/batch',
    async () => {
      const { id } = await define({ script: BATCH });
      const recording = await record('batch', { task: id, ...PAST });
      expect(await ended(`recordings/${recording.id}`)).toMatchObject({
        type: 'batch',
        status: 'finished',
      });
    },
  ],
  [
    'POST recordings/query: type is required',
    async () => {
      expect((await recordQuery('batch')).type).toBe('batch');
      expect(
        (await call('POST', 'recordings/query', { query: 'SELECT v FROM d.r.m' })).status,
      ).toBe(400);
    },
  ],
  [
    'GET recordings/<id>: 200, 202, 404',
    async () => {
      const { id } = await define();
      const recording = await record('stream', { task: id, stop: '2018-01-01T00:00:00Z' });
      expect((await get(`recordings/${recording.id}`)).status).toBe(202);
      expect((await get(`recordings/${(await recordQuery()).id}`)).status).toBe(200);
      expect((await get(`recordings/${newId()}`)).status).toBe(404);
    },
  ],
  [
    'DELETE recordings/<id>',
    async () => {
      const { id } = await define();
      const recording = await record('stream', { task: id, stop: '2018-01-01T00:00:00Z' });
      expect((await call('DELETE', `recordings/${recording.id}`)).status).toBe(204);
      expect((await get(`recordings/${recording.id}`)).status).toBe(404);
      expect((await call('DELETE', `recordings/${recording.id}`)).status).toBe(204);
    },
  ],
  [
    'GET recordings: sorted by date',
    async () => {
      await recordQuery();
      await recordQuery();
      const dates = (await get('recordings')).json.recordings.map(({ date }: any) =>
        date.slice(0, 19),
      );
      expect(dates).toEqual([...dates].sort().reverse());
    },
  ],
]);

table('Replays', [
  [
    'POST replays/: times in the recording, or relative to now',
    async () => {
      const task = await define();
      const lines = async (isRecordingTime: boolean): Promise<string> => {
        const query = 'SELECT v FROM "d"."r".m1';
        const script = STREAM.replace("'m'", "'m1'");
        await call('PATCH', `tasks/${task.id}`, { script });
        const { id } = await replay('query', {
          task: task.id,
          query,
          'recording-time': isRecordingTime,
        });
        await ended(`replays/${id}`);
        return (await get(`tasks/${task.id}/out?replay-id=${id}`)).json.series[0].values[0][0];
      };
      const recorded = Date.parse(await lines(true));
      const shifted = Date.parse(await lines(false));
      expect(Date.now() - recorded).toBeGreaterThan(4 * 86_400_000);
      expect(Date.now() - shifted).toBeLessThan(3_600_000);
    },
  ],
  [
    'POST replays/batch',
    async () => {
      const { id } = await define({ script: BATCH });
      const made = await replay('batch', { task: id, ...PAST });
      expect(made.recording).toBe('');
      const { stats } = await ended(`replays/${made.id}`);
      expect(stats['node-stats'].query1.batches_queried).toBe(2);
    },
  ],
  [
    'POST replays/query',
    async () => {
      const { id } = await define({ script: BATCH });
      const made = await replay('query', { task: id, query: 'SELECT v FROM "d"."r".m1' });
      expect(await ended(`replays/${made.id}`)).toMatchObject({
        recording: '',
        status: 'finished',
      });
    },
  ],
  [
    'GET replays/<id>: 200, 202, 404',
    async () => {
      const { id } = await replayed();
      expect((await get(`replays/${id}`)).status).toBe(200);
      expect((await get(`replays/${newId()}`)).status).toBe(404);
      const running = await slowReplay();
      expect((await get(`replays/${running}`)).status).toBe(202);
      await call('DELETE', `replays/${running}`);
    },
  ],
  [
    'DELETE replays/<id>',
    async () => {
      const running = await slowReplay();
      expect((await call('DELETE', `replays/${running}`)).status).toBe(204);
      expect((await get(`replays/${running}`)).status).toBe(404);
      expect((await call('DELETE', `replays/${running}`)).status).toBe(204);
    },
  ],
  [
    'GET replays',
    async () => {
      const { id } = await replayed();
      const { json } = await get(`replays?pattern=${id}&fields=status`);
      expect(json.replays).toEqual([{ id, link: expect.anything(), status: 'finished' }]);
    },
  ],
]);

/** A replay with the real clock of points that lie days apart. */
async function slowReplay(): Promise<string> {
  const { id } = await define();
  const recording = await record('stream', { task: id, stop: '2018-01-01T00:00:00Z' });
  const times = [1_500_000_000, 1_510_000_000, 1_600_000_000];
  await call(
    'POST',
    '/write?db=d&rp=r&precision=s',
    times.map((time) => `m v=1 ${time}`).join('\n'),
  );
  await ended(`recordings/${recording.id}`);
  const { id: replayId } = await replay('', { task: id, recording: recording.id, clock: 'real' });
  return replayId;
}

table('Alerts', [
  [
    'GET topics: min-level and pattern',
    async () => {
      const { topic } = await event();
      const quiet = newId();
      await handler(quiet);
      const ids = async (query: string): Promise<string[]> =>
        (await get(`/engine/v1preview/alerts/topics?limit=-1&${query}`)).json.topics.map(
          ({ id }: any) => id,
        );
      expect(await ids('')).toEqual(expect.arrayContaining([topic, quiet]));
      expect(await ids(`pattern=${quiet}`)).toEqual([quiet]);
      const critical = await ids('min-level=CRITICAL');
      expect([critical.includes(topic), critical.includes(quiet)]).toEqual([true, false]);
    },
  ],
  [
    'GET topics/<id>',
    async () => expect((await get(topicPath((await event()).topic))).status).toBe(200),
  ],
  [
    'DELETE topics/<id>: it reappears with a new event',
    async () => {
      const { topic, id } = await event();
      expect((await call('DELETE', topicPath(topic))).status).toBe(204);
      expect((await get(`${topicPath(topic)}/events/${id}`)).status).toBe(404);
      await call('POST', '/write?db=d&rp=r', 'm v=9 1500000001000000000');
      await eventually('the topic', async () =>
        (await get(`${topicPath(topic)}/events/${id}`)).status === 200 ? true : undefined,
      );
    },
  ],
  [
    'GET topics/<id>/events',
    async () => {
      const { topic, id } = await event();
      const { json } = await get(`${topicPath(topic)}/events?min-level=CRITICAL`);
      expect(json).toMatchObject({ link: { rel: 'self' }, topic, events: [{ id }] });
    },
  ],
  [
    'GET topics/<id>/events/<id>',
    async () => {
      const { topic, id } = await event();
      expect((await get(`${topicPath(topic)}/events/${id}`)).json.id).toBe(id);
    },
  ],
  [
    'GET topics/<id>/handlers: null for an auto-generated topic',
    async () => {
      const topic = newId();
      const { id } = await handler(topic);
      const { json } = await get(`${topicPath(topic)}/handlers?pattern=${id}`);
      expect(json).toMatchObject({ topic, handlers: [{ id }] });
      const script = "stream|from()|alert().crit(lambda: TRUE).post('http://127.0.0.1:1')";
      const task = await define({ script, status: 'enabled' });
      const generated = (await get(`${topicPath(`main:${task.id}:alert2`)}/handlers`)).json;
      expect(generated.handlers).toBeNull();
    },
  ],
  [
    'GET topics/<id>/handlers/<id>',
    async () => {
      const topic = newId();
      const { id } = await handler(topic);
      expect((await get(`${topicPath(topic)}/handlers/${id}`)).json.id).toBe(id);
    },
  ],
  [
    'POST topics/<id>/handlers',
    async () => expect((await handler(newId())).actions).toEqual([POST_ACTION]),
  ],
  [
    'PUT topics/<id>/handlers/<id>',
    async () => {
      const topic = newId();
      const { id } = await handler(topic);
      const actions = [{ kind: 'tcp', options: { address: 'localhost:1' } }];
      const { json } = await call('PUT', `${topicPath(topic)}/handlers/${id}`, { id, actions });
      expect(json).toMatchObject({ id, actions });
    },
  ],
  [
    'PATCH topics/<id>/handlers/<id>',
    async () => {
      const topic = newId();
      const { id } = await handler(topic);
      const patch = [
        { op: 'replace', path: '/actions/0/options/url', value: 'http://localhost:2/' },
      ];
      const { json } = await call('PATCH', `${topicPath(topic)}/handlers/${id}`, patch);
      expect(json.actions[0].options.url).toBe('http://localhost:2/');
    },
  ],
  [
    'DELETE topics/<id>/handlers/<id>',
    async () => {
      const topic = newId();
      const { id } = await handler(topic);
      expect((await call('DELETE', `${topicPath(topic)}/handlers/${id}`)).status).toBe(204);
      expect((await get(`${topicPath(topic)}/handlers/${id}`)).status).toBe(404);
    },
  ],
]);

table('Configuration', [
  [
    'GET config',
    async () => {
      const { json } = await get('config');
      expect(json.link.href).toBe('/engine/v1/config');
      expect(json.sections).toMatchObject({ smtp: { elements: [{}] }, tsdb: { elements: [{}] } });
    },
  ],
  [
    'GET config/<section>',
    async () => {
      const { json } = await get('config/tsdb');
      const [cluster] = json.elements;
      expect(Object.keys(cluster.options)).toEqual(
        expect.arrayContaining([
          'name',
          'urls',
          'default',
          'username',
          'password',
          'disable-subscriptions',
        ]),
      );
    },
  ],
  [
    'GET config/<section>/<element>',
    async () => {
      const { json } = await get('config/smtp/');
      expect(json).toMatchObject({
        link: { href: '/engine/v1/config/smtp/' },
        redacted: ['password'],
      });
      expect(Object.keys(json.options)).toEqual(
        expect.arrayContaining([
          'enabled',
          'host',
          'port',
          'username',
          'password',
          'no-verify',
          'global',
          'to',
          'from',
          'idle-timeout',
        ]),
      );
    },
  ],
  [
    'POST: set, delete, add, remove',
    async () => {
      const set = { host: 'mail', password: 'secret' };
      expect((await call('POST', 'config/smtp/', { set })).status).toBe(200);
      expect((await get('config/smtp/')).json.options).toMatchObject({
        host: 'mail',
        password: true,
        port: 25,
      });
      expect(
        (await call('POST', 'config/smtp/', { set: { port: 26 }, delete: ['host', 'password'] }))
          .status,
      ).toBe(200);
      expect((await get('config/smtp/')).json.options).toMatchObject({
        host: 'localhost',
        password: false,
        port: 26,
      });
      const add = { name: 'other', urls: [peer.url], 'disable-subscriptions': true };
      expect((await call('POST', 'config/tsdb', { add })).status).toBe(200);
      expect((await get('config/tsdb/other')).json.options.urls).toEqual([peer.url]);
      expect((await call('POST', 'config/tsdb', { remove: ['other'] })).status).toBe(200);
      expect((await get('config/tsdb/other')).status).toBe(404);
    },
  ],
]);

table('Storage', [
  [
    'GET storage/backup',
    async () => {
      const { status, headers } = await get('storage/backup');
      expect(status).toBe(200);
      expect(Number(headers.get('content-length'))).toBeGreaterThan(4096);
    },
  ],
  [
    'POST storage/stores/<name>',
    async () => {
      expect((await call('POST', 'storage/stores/tasks', { action: 'rebuild' })).status).toBe(204);
    },
  ],
]);

table('Service tests', [
  [
    'GET service-tests',
    async () => {
      const { json } = await get('service-tests?pattern=[st]*');
      const names = json.services.map(({ name }: any) => name);
      expect(names).toEqual(expect.arrayContaining(['smtp', 'tsdb']));
      expect(names).not.toContain('chat');
    },
  ],
  [
    'GET service-tests/<name>',
    async () => {
      const optionsOf = async (name: string): Promise<string[]> =>
        Object.keys((await get(`service-tests/${name}`)).json.options);
      expect(await optionsOf('tsdb')).toEqual(['cluster']);
      expect(await optionsOf('chat')).toEqual(
        expect.arrayContaining(['message', 'channel', 'level']),
      );
      expect(await optionsOf('smtp')).toEqual(['to', 'subject', 'body']);
    },
  ],
  [
    'POST service-tests/<name>',
    async () => {
      const good = await call('POST', 'service-tests/tsdb', { cluster: 'fake' });
      expect(good).toMatchObject({ status: 200, json: { success: true, message: '' } });
      const bad = await call('POST', 'service-tests/tsdb', { cluster: 'absent' });
      expect(bad).toMatchObject({
        status: 200,
        json: { success: false, message: expect.stringMatching(/absent/) },
      });
    },
  ],
]);

table('Miscellaneous', [
  ['GET ping', async () => expect(await get('ping')).toMatchObject({ status: 204, json: '' })],
  [
    'GET debug/vars',
    async () => expect((await get('debug/vars')).json).toHaveProperty('num_tasks'),
  ],
  ['GET debug/pprof/...', async () => expect((await get('debug/pprof/heap')).status).toBe(200)],
  [
    'GET :routes',
    async () => expect((await get(':routes')).json).toHaveProperty('/engine/v1/tasks'),
  ],
]);

table('Errors', [
  [
    '404: what does not exist',
    async () => {
      for (const path of [
        'tasks/none',
        'templates/none',
        'recordings/none',
        'replays/none',
        'config/none',
      ]) {
        expect(await get(path)).toMatchObject({
          status: 404,
          json: { error: expect.stringMatching(/./) },
        });
      }
      expect((await call('POST', 'config/smtp/', { set: { none: 1 } })).status).toBe(404);
      expect((await call('POST', 'storage/stores/none', { action: 'rebuild' })).status).toBe(404);
    },
  ],
  [
    '400: unknown storage action',
    async () => {
      const answer = await call('POST', 'storage/stores/tasks', { action: 'none' });
      expect(answer).toMatchObject({
        status: 400,
        json: { error: expect.stringMatching(/unknown StorageAction/) },
      });
    },
  ],
]);

table('Limits', [
  [
    'limit: default 100',
    async () => {
      const ids = Array.from({ length: 101 }, () => newId());
      for (const id of ids)
        await call('POST', 'templates', { id: `limit-${id}`, script: 'stream|from()' });
      expect((await get('templates?pattern=limit-*')).json.templates).toHaveLength(100);
      expect((await get('templates?pattern=limit-*&limit=200')).json.templates).toHaveLength(101);
      expect((await get('templates?pattern=limit-*&offset=99')).json.templates).toHaveLength(2);
    },
  ],
]);

table('Versioning', [
  [
    'everything stable is available under the preview path',
    async () => {
      const { id } = await define();
      expect((await get(`/engine/v1preview/tasks/${id}`)).json.id).toBe(id);
    },
  ],
  [
    'preview-only endpoints exist only there',
    async () => expect((await get('/engine/v1/alerts/topics')).status).toBe(404),
  ],
  [
    'X-Engine-Version on all requests',
    async () => {
      for (const path of ['ping', 'tasks', 'none', '/none']) {
        expect((await get(path)).headers.get('x-engine-version')).toMatch(/^\d+\./);
      }
    },
  ],
]);
