// One test per row of the other tables of endpoints in the engine's HTTP API specification (alerts,
// configuration, storage, service tests), and what it says of all endpoints: conventions, errors,
// limits, versions.
import { resolveEngineConfig, startEngine } from '@tidemark/engine';
import { eventually, makeDirectory, removeDirectory } from '@tidemark/testkit';
import { expect } from 'vitest';
import {
  call,
  DBRPS,
  define,
  event,
  get,
  handler,
  newId,
  PAST,
  peerUrl,
  POST_ACTION,
  record,
  recordQuery,
  replay,
  replayed,
  STREAM,
  table,
  template,
  topicPath,
  useEngine,
} from './harness.ts';

useEngine();

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
      const add = { name: 'other', urls: [peerUrl()], 'disable-subscriptions': true };
      expect((await call('POST', 'config/tsdb', { add })).status).toBe(200);
      expect((await get('config/tsdb/other')).json.options.urls).toEqual([peerUrl()]);
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
  [
    'GET debug/pprof/...',
    async () => {
      expect((await get('debug/pprof/')).json).toContain('profile?seconds');
      expect((await get('debug/pprof/cmdline')).json).toContain('node');
      expect((await get('debug/pprof/heap')).json).toHaveProperty('heapUsed');
      expect((await get('debug/pprof/goroutine')).json).toMatch(/^\d+ active\n/);
      expect((await get('debug/pprof/profile?seconds=0.01')).json).toHaveProperty('nodes');
    },
  ],
  [
    'GET :routes',
    async () => {
      const { json } = await get(':routes');
      expect(json['/engine/v1/tasks']).toEqual(['GET', 'HEAD', 'POST']);
      expect(json['/engine/v1/:routes']).toEqual(['GET', 'HEAD']);
    },
  ],
]);

/**
 * Resources whose lists have `pattern`, `fields`, `offset` and `limit`, and something that makes
 * one.
 */
const LISTS: readonly (readonly [string, () => Promise<any>])[] = [
  ['tasks', define],
  ['templates', template],
  ['recordings', recordQuery],
  ['replays', replayed],
];

table('Conventions', [
  [
    'a link object on what is made, and on what is returned',
    async () => {
      for (const [name, make] of LISTS) {
        const { id, link } = await make();
        expect([name, link]).toEqual([name, { rel: 'self', href: `/engine/v1/${name}/${id}` }]);
        expect((await call('GET', link.href)).json.link).toEqual(link);
      }
    },
  ],
  [
    'ids are letters of any language, digits, hyphens, dots and underscores',
    async () => {
      for (const id of [`größe-${newId()}`, `温度_.${newId()}`])
        expect((await define({ id })).id).toBe(id);
      for (const id of ['a b', 'a/b', 'a:b', 'ä\u0300', 'x'.repeat(1025)]) {
        const body = { id, script: STREAM, dbrps: DBRPS };
        expect([id, (await call('POST', 'tasks', body)).status]).toEqual([id, 400]);
      }
    },
  ],
  [
    'ids have up to 1,024 bytes',
    async () => {
      const id = 'é'.repeat(512);
      expect((await define({ id })).id).toBe(id);
      expect((await get(`tasks/${encodeURIComponent(id)}`)).json.id).toBe(id);
      expect((await call('DELETE', `tasks/${encodeURIComponent(id)}`)).status).toBe(204);
      expect((await call('POST', 'tasks', { id: `${id}x`, script: STREAM })).status).toBe(400);
    },
  ],
  [
    'lists: pattern, fields with id and link always, offset and limit',
    async () => {
      for (const [name, make] of LISTS) {
        const made = [await make(), await make(), await make()].map(({ id }) => id);
        const list = async (query: string): Promise<any[]> =>
          (await get(`${name}?${query}`)).json[name];
        const [one] = await list(`pattern=${made[0]}`);
        expect([name, one.id]).toEqual([name, made[0]]);
        expect(Object.keys(one).length).toBeGreaterThan(4);
        const field = name === 'replays' ? 'status' : 'type';
        const [short] = await list(`pattern=${made[0]}&fields=${field}`);
        expect([name, Object.keys(short).sort()]).toEqual([name, ['id', 'link', field]]);
        const all = (await list('pattern=row-*&limit=1000')).map(({ id }) => id);
        expect(all).toEqual(expect.arrayContaining(made));
        const page = (await list('pattern=row-*&offset=1&limit=2')).map(({ id }) => id);
        expect(page).toEqual(all.slice(1, 3));
        expect((await get(`${name}?limit=many`)).status).toBe(400);
      }
    },
  ],
  [
    'a slash at the end counts where it means something, and is none elsewhere',
    async () => {
      expect((await get('config/smtp')).json).toHaveProperty('elements');
      expect((await get('config/smtp/')).json).toHaveProperty('options');
      const { id } = await define();
      expect((await get(`tasks/${id}/`)).status).toBe(404);
      const task = await define();
      const recording = await recordQuery();
      expect((await replay('', { task: task.id, recording: recording.id })).task).toBe(task.id);
    },
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
  [
    '403: configuration endpoints while config-override is disabled',
    async () => {
      const directory = await makeDirectory();
      const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
      const values = {
        data_dir: directory,
        stats: { enabled: false },
        task: { hosts: '0' },
        http: { 'bind-address': '127.0.0.1:0' },
        'config-override': { enabled: false },
      };
      const { config } = resolveEngineConfig([{ source: 'test', values }]);
      const other = await startEngine(config, { log: quiet });
      try {
        const url = `${other.url}/engine/v1/config`;
        expect((await fetch(url)).status).toBe(403);
        expect((await fetch(`${url}/smtp/`)).status).toBe(403);
        expect((await fetch(url, { method: 'POST', body: '{"set":{}}' })).status).toBe(403);
        expect((await fetch(`${other.url}/engine/v1/tasks`)).status).toBe(200);
      } finally {
        await other.close();
        await removeDirectory(directory);
      }
    },
  ],
]);

table('Limits', [
  [
    'default port: 9092',
    async () =>
      expect(resolveEngineConfig([]).config.http.bindAddress.split(':').at(-1)).toBe('9092'),
  ],
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
  [
    'offset: default 0',
    async () => {
      const first = (await get('templates')).json.templates[0].id;
      expect((await get('templates?offset=0')).json.templates[0].id).toBe(first);
      expect((await get('templates?offset=1')).json.templates[0].id).not.toBe(first);
    },
  ],
  [
    'progress: from 0 to 1',
    async () => {
      const task = await define();
      const { progress, id } = await record('stream', { task: task.id, stop: PAST.stop });
      expect([progress, (await get(`recordings/${id}`)).json.progress]).toEqual([0, 0]);
      await call('DELETE', `recordings/${id}`);
      expect((await recordQuery()).progress).toBe(1);
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
