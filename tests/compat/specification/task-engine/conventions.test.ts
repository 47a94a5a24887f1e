// The section “Conventions” of the specification of the task engine's HTTP API, sentence by
// sentence.
import { expect } from 'vitest';
import {
  DBRPS,
  STREAM,
  call,
  define,
  get,
  newId,
  recordQuery,
  replay,
  replayed,
  sentences,
  template,
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

sentences('Conventions', [
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
