// The section “Service tests” of the specification of the task engine's HTTP API, sentence by
// sentence.
import { expect } from 'vitest';
import { call, get, sentences, useEngine } from './harness.ts';

useEngine();

sentences('Service tests', [
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
