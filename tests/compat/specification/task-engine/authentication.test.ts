// The section “Authentication” of the specification of the task engine's HTTP API, sentence by
// sentence.
import { expect } from 'vitest';
import { call, get, sentences, useEngine } from './harness.ts';

useEngine();

sentences('Authentication', [
  [
    'Configuration overrides keep credentials of integrations; those values are never returned (see Configuration element).',
    async () => {
      const set = { set: { password: 'a-password', username: 'user' } };
      const changed = await call('POST', 'config/smtp/', set);
      expect(changed.status).toBe(200);
      const { json } = await get('config/smtp/');
      expect(json).toMatchObject({ options: { password: true }, redacted: ['password'] });
      expect(JSON.stringify([changed.json, json])).not.toContain('a-password');
      await call('POST', 'config/smtp/', { delete: ['password', 'username'] });
      expect((await get('config/smtp/')).json.options.password).toBe(false);
    },
  ],
]);
