// The section “Service tests” of the specification of the task engine's HTTP API, sentence by
// sentence.
import { expect } from 'vitest';
import { call, get, sentences, useEngine } from './harness.ts';

useEngine();

sentences('Service tests', [
  [
    'GET /engine/v1/service-tests | query `pattern` (default `*`, glob on service name) | 200 `{link, services:[service test...]}`',
    async () => {
      const { json } = await get('service-tests?pattern=[st]*');
      const names = json.services.map(({ name }: any) => name);
      expect(names).toEqual(expect.arrayContaining(['smtp', 'tsdb']));
      expect(names).not.toContain('chat');
    },
  ],
  [
    'GET /engine/v1/service-tests/<service_name> | - | service test; its options are also the defaults',
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
    [
      'POST /engine/v1/service-tests/<service_name> | JSON object of options (depends on the service) | 200 `{success: <boolean>, message: <string>}`',
      'A 200 is returned even when the service under test fails; the failure is reported as `success: false` with a message.',
    ],
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
