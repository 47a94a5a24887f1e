// One test per row of the tables of fields, types and states in the engine's HTTP API
// specification, under the row's own words.
import { describe, expect, test } from 'vitest';
import {
  BATCH,
  call,
  DBRPS,
  define,
  ended,
  event,
  get,
  handler,
  newId,
  POST_ACTION,
  record,
  recordQuery,
  replay,
  replayed,
  STREAM,
  table,
  template,
  TIME,
  topicPath,
  useEngine,
} from './harness.ts';

useEngine();

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
      const { status, json } = await call('POST', 'tasks', body);
      expect({ status, json }).toMatchObject({
        status: 400,
        json: { error: expect.stringMatching(/not allowed/) },
      });
      expect((await get(`tasks/${id}`)).status).toBe(404);
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
  ['star', '', ''],
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
