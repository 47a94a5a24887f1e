// The section “What the service does” of the specification of the task engine's HTTP API, sentence
// by sentence.
import { expect } from 'vitest';
import { resolveEngineConfig } from '@tidemark/engine';
import {
  BATCH,
  DBRPS,
  PAST,
  STREAM,
  call,
  define,
  event,
  get,
  handler,
  newId,
  record,
  recordQuery,
  replay,
  replayed,
  sentences,
  template,
  topicPath,
  useEngine,
} from './harness.ts';

useEngine();

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

sentences('What the service does', [
  [
    'When a resource is created or returned, the body contains a `link` object `{ rel: <string>, href: <path> }`; clients can follow it instead of building paths.',
    async () => {
      for (const [name, make] of LISTS) {
        const { id, link } = await make();
        expect([name, link]).toEqual([name, { rel: 'self', href: `/engine/v1/${name}/${id}` }]);
        expect((await call('GET', link.href)).json.link).toEqual(link);
      }
    },
  ],
  [
    'Every id must match the regular expression `^[-\\\\._\\\\p{L}0-9]+$` (Unicode letters, digits, `-`, `.`, `_`).',
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
    'Every id must match the regular expression `^[-\\\\._\\\\p{L}0-9]+$` (Unicode letters, digits, `-`, `.`, `_`).',
    async () => {
      const id = 'é'.repeat(512);
      expect((await define({ id })).id).toBe(id);
      expect((await get(`tasks/${encodeURIComponent(id)}`)).json.id).toBe(id);
      expect((await call('DELETE', `tasks/${encodeURIComponent(id)}`)).status).toBe(204);
      expect((await call('POST', 'tasks', { id: `${id}x`, script: STREAM })).status).toBe(400);
    },
  ],
  [
    'List endpoints accept `pattern` (shell glob), `fields` (repeatable; `id` and `link` are always returned), `offset` and `limit`.',
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
    'API paths are versioned and namespaced under the base path `/engine/v1/`.',
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
  [
    'Executes tasks.',
    async () => expect(await define({ status: 'enabled' })).toMatchObject({ executing: true }),
  ],
  [
    'A task is defined by an id, a type (`stream` or `batch`), a script, and a list of database/retention-policy pairs it may access.',
    async () => {
      const id = newId();
      const made = { id, type: 'batch', script: BATCH, dbrps: DBRPS };
      expect((await call('POST', 'tasks', made)).json).toMatchObject({
        id,
        type: 'batch',
        dbrps: DBRPS,
      });
      // The script decides; a request that contradicts it is refused.
      expect((await call('POST', 'tasks', { ...made, id: newId(), type: 'stream' })).status).toBe(
        400,
      );
      expect((await call('POST', 'tasks', { id: newId(), dbrps: DBRPS })).status).toBe(400);
    },
  ],
  [
    'Keeps task templates from which tasks can be built.',
    async () => {
      const { id } = await template();
      expect((await define({ script: undefined, 'template-id': id }))['template-id']).toBe(id);
    },
  ],
  [
    'Records data (stream, batch results, or the result of a query) and replays recordings, or data fetched directly, against a task.',
    async () => {
      const batch = await define({ script: BATCH });
      const stream = await define();
      const kinds = [
        await record('stream', { task: stream.id, stop: PAST.stop }),
        await record('batch', { task: batch.id, ...PAST }),
        await recordQuery(),
      ];
      expect(kinds.map(({ type }) => type)).toEqual(['stream', 'batch', 'stream']);
      expect((await replayed()).recording).not.toBe('');
      const fetched = await replay('query', { task: batch.id, query: 'SELECT v FROM "d"."r".m1' });
      expect(fetched.recording).toBe('');
      await call('DELETE', `recordings/${kinds[0].id}`);
    },
  ],
  [
    'Groups alerts in topics with events and handlers.',
    async () => {
      const { topic, id } = await event();
      const { id: handlerId } = await handler(topic);
      expect((await get(`${topicPath(topic)}/events`)).json.events).toMatchObject([{ id }]);
      expect((await get(`${topicPath(topic)}/handlers`)).json.handlers).toMatchObject([
        { id: handlerId },
      ]);
    },
  ],
  [
    'Accepts line-protocol writes compatible with the database service write endpoint.',
    async () => {
      const path = '/write?db=d&rp=r&precision=s';
      expect(
        (await call('POST', path, '# a comment\nm,t=a\\ b f=1i,g="x",h=t 1\nm f=2i 2')).status,
      ).toBe(204);
      const { status, json } = await call('POST', path, 'm f=');
      expect({ status, json }).toMatchObject({ status: 400, json: { error: expect.any(String) } });
    },
  ],
  [
    'Lets clients override parts of the configuration, back up storage, and test integrations.',
    async () => {
      expect((await call('POST', 'config/smtp/', { set: { host: 'other' } })).status).toBe(200);
      expect((await get('config/smtp/')).json.options.host).toBe('other');
      await call('POST', 'config/smtp/', { delete: ['host'] });
      expect((await get('storage/backup')).status).toBe(200);
      expect((await call('POST', 'service-tests/tsdb', { cluster: 'fake' })).status).toBe(200);
    },
  ],
  [
    'Listens on port 9092 by default at {base_url}.',
    async () => expect(resolveEngineConfig([]).config.http.bindAddress).toMatch(/:9092$/),
  ],
  [
    'A preview base path `/engine/v1preview/` exists (see Versioning).',
    async () => expect((await get('/engine/v1preview/tasks')).status).toBe(200),
  ],
  [
    'Query parameters are used only in GET requests; all other requests carry their parameters in a JSON body.',
    async () => {
      const [named, other] = [newId(), newId()];
      const made = await call('POST', `templates?id=${other}`, {
        id: named,
        script: 'stream|from()',
      });
      expect(made.json.id).toBe(named);
      expect((await get(`templates/${other}`)).status).toBe(404);
      const { id } = await define();
      await call('PATCH', `tasks/${id}?status=enabled`, {});
      expect((await get(`tasks/${id}`)).json.status).toBe('disabled');
    },
  ],
  [
    'The single exception is the write endpoint, which takes query parameters.',
    async () => expect((await call('POST', 'write?db=d&rp=r', 'w v=1 1')).status).toBe(204),
  ],
  [
    'Identifiers may be chosen by the client.',
    async () => {
      const id = newId();
      expect((await define({ id })).id).toBe(id);
    },
  ],
  [
    'If omitted (empty), a random UUID is generated.',
    async () => {
      const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
      const made = [
        await define({ id: '' }),
        await define({ id: undefined }),
        (await call('POST', 'templates', { script: 'stream|from()' })).json,
        await record('query', { id: '', type: 'stream', query: 'SELECT v FROM "d"."r".m1' }),
      ];
      for (const { id } of made) expect(id).toMatch(uuid);
    },
  ],
]);
