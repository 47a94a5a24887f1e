// The section “Service test” of the specification of the task engine's HTTP API, sentence by
// sentence.
import { expect } from 'vitest';
import { get, sentences, useEngine } from './harness.ts';

useEngine();

sentences('Service test', [
  [
    '`{ link, name: <string>, options: <object> }`.',
    async () =>
      expect((await get('service-tests/tsdb')).json).toEqual({
        link: { rel: 'self', href: '/engine/v1/service-tests/tsdb' },
        name: 'tsdb',
        options: { cluster: '' },
      }),
  ],
  [
    'Default options seen: `tsdb` has `cluster`; `chat` has `message`, `channel`, `level`; `smtp` has `to` (array), `subject`, `body`.',
    async () => {
      const optionsOf = async (name: string) => (await get(`service-tests/${name}`)).json.options;
      expect(await optionsOf('tsdb')).toHaveProperty('cluster');
      const chat = ['message', 'channel', 'level'];
      expect(Object.keys(await optionsOf('chat'))).toEqual(expect.arrayContaining(chat));
      expect(await optionsOf('smtp')).toMatchObject({
        subject: expect.any(String),
        body: expect.any(String),
      });
      expect(await optionsOf('smtp')).toHaveProperty('to');
    },
  ],
]);
