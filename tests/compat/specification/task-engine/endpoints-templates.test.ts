// The section “Templates” of the specification of the task engine's HTTP API, sentence by sentence.
import { expect } from 'vitest';
import { call, define, get, newId, sentences, template, useEngine } from './harness.ts';

useEngine();

sentences('Templates', [
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
      expect((await call('PATCH', `templates/${id}`, { script: bad })).status).toBe(400);
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
