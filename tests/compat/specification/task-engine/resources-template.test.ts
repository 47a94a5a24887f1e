// The section “Template” of the specification of the task engine's HTTP API, sentence by sentence.
import { expect } from 'vitest';
import { BATCH, TIME, call, sentences, template, useEngine } from './harness.ts';

useEngine();

sentences('Template', [
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
