// The section “Template” of the specification of the task engine's HTTP API, sentence by sentence.
import { expect } from 'vitest';
import { BATCH, TIME, call, sentences, template, useEngine } from './harness.ts';

useEngine();

sentences('Template', [
  [
    'id | string | client-settable | random when empty',
    async () => {
      const { json } = await call('POST', 'templates', { script: 'stream|from()' });
      expect(json.id).toMatch(/^[0-9a-f-]{36}$/);
    },
  ],
  [
    'type | `stream` or `batch` | client-settable |',
    async () => expect((await template(BATCH)).type).toBe('batch'),
  ],
  [
    'script | string | client-settable |',
    async () => expect((await template('stream|from()')).script).toContain('|from()'),
  ],
  [
    'link | link object | read-only |',
    async () => {
      const { id, link } = await template();
      expect(link).toEqual({ rel: 'self', href: `/engine/v1/templates/${id}` });
    },
  ],
  [
    'vars | object: `<name>` -> `{value, type, description}` | read-only | named vars of the script with type, default value and description',
    async () => {
      const script =
        '// how much\nvar limit = 5\nvar name string\nstream|from()|where(lambda: "v" > limit AND "n" == name)';
      expect((await template(script)).vars).toEqual({
        limit: { type: 'int', value: 5, description: 'how much' },
        name: { type: 'string', value: null, description: '' },
      });
    },
  ],
  [
    'dot | string | read-only | DOT representation (labels vs attributes does not matter)',
    async () => expect((await template()).dot).toContain('from1'),
  ],
  [
    'error | string | read-only | error when reading the template',
    async () => expect((await template()).error).toBe(''),
  ],
  [
    'created, modified | timestamp string | read-only |',
    async () => {
      const { created, modified } = await template();
      expect([created, modified]).toEqual([expect.stringMatching(TIME), created]);
    },
  ],
]);
