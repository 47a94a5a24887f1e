// The section “Templates” of the specification of the task engine's HTTP API, sentence by sentence.
import { expect } from 'vitest';
import { call, define, get, newId, sentences, template, useEngine } from './harness.ts';

useEngine();

sentences('Templates', [
  [
    'POST /engine/v1/templates | `id`, `type`, `script` | 200 with template',
    async () => expect(await template()).toMatchObject({ link: { rel: 'self' } }),
  ],
  [
    [
      'PATCH /engine/v1/templates/<template_id> | any subset of the fields | 200; 404',
      'Updating a template reloads all tasks that use it.',
      'If any task fails to reload, the first error is returned and all tasks revert to the old definition, so all succeed or all fail together.',
    ],
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
    'GET /engine/v1/templates/<template_id> | query `script-format` (`formatted` default, `raw`) | 200; 404',
    async () => {
      const { id } = await template('stream|from()');
      expect((await get(`templates/${id}?script-format=raw`)).json.script).toBe('stream|from()');
      expect((await get(`templates/${newId()}`)).status).toBe(404);
    },
  ],
  [
    'DELETE /engine/v1/templates/<template_id> | - | 204, also when nonexistent',
    async () => {
      const { id } = await template();
      expect((await call('DELETE', `templates/${id}`)).status).toBe(204);
      expect((await call('DELETE', `templates/${id}`)).status).toBe(204);
    },
  ],
  [
    'GET /engine/v1/templates | query `pattern`, `fields`, `script-format`, `offset` (0), `limit` (100) | 200 `{templates:[...]}`',
    async () => {
      const { id } = await template();
      const { json } = await get(`templates?pattern=${id}&fields=type`);
      expect(json.templates).toEqual([{ id, link: expect.anything(), type: 'stream' }]);
    },
  ],
]);
