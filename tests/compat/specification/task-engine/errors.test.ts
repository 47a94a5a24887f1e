// The section “Errors” of the specification of the task engine's HTTP API, sentence by sentence.
import { expect } from 'vitest';
import { makeDirectory, removeDirectory } from '@tidemark/testkit';
import { resolveEngineConfig, startEngine } from '@tidemark/engine';
import { call, get, sentences, useEngine } from './harness.ts';

useEngine();

sentences('Errors', [
  [
    '404: what does not exist',
    async () => {
      for (const path of [
        'tasks/none',
        'templates/none',
        'recordings/none',
        'replays/none',
        'config/none',
      ]) {
        expect(await get(path)).toMatchObject({
          status: 404,
          json: { error: expect.stringMatching(/./) },
        });
      }
      expect((await call('POST', 'config/smtp/', { set: { none: 1 } })).status).toBe(404);
      expect((await call('POST', 'storage/stores/none', { action: 'rebuild' })).status).toBe(404);
    },
  ],
  [
    '400: unknown storage action',
    async () => {
      const answer = await call('POST', 'storage/stores/tasks', { action: 'none' });
      expect(answer).toMatchObject({
        status: 400,
        json: { error: expect.stringMatching(/unknown StorageAction/) },
      });
    },
  ],
  [
    '403: configuration endpoints while config-override is disabled',
    async () => {
      const directory = await makeDirectory();
      const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
      const values = {
        data_dir: directory,
        stats: { enabled: false },
        task: { hosts: '0' },
        http: { 'bind-address': '127.0.0.1:0' },
        'config-override': { enabled: false },
      };
      const { config } = resolveEngineConfig([{ source: 'test', values }]);
      const other = await startEngine(config, { log: quiet });
      try {
        const url = `${other.url}/engine/v1/config`;
        expect((await fetch(url)).status).toBe(403);
        expect((await fetch(`${url}/smtp/`)).status).toBe(403);
        expect((await fetch(url, { method: 'POST', body: '{"set":{}}' })).status).toBe(403);
        expect((await fetch(`${other.url}/engine/v1/tasks`)).status).toBe(200);
      } finally {
        await other.close();
        await removeDirectory(directory);
      }
    },
  ],
]);
