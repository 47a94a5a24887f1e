// The section “Errors” of the specification of the task engine's HTTP API, sentence by sentence.
import { expect } from 'vitest';
import { makeDirectory, removeDirectory } from '@tidemark/testkit';
import { call, get, sentences, startOther, useEngine } from './harness.ts';

useEngine();

sentences('Errors', [
  [
    '404 | task, template, recording, replay does not exist (on get, patch); configuration section or option does not exist; store does not exist',
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
    '400 | unknown storage action',
    async () => {
      const answer = await call('POST', 'storage/stores/tasks', { action: 'none' });
      expect(answer).toMatchObject({
        status: 400,
        json: { error: expect.stringMatching(/unknown StorageAction/) },
      });
    },
  ],
  [
    '403 | configuration endpoints called while the config-override feature is disabled',
    async () => {
      const directory = await makeDirectory();
      const other = await startOther(directory, { 'config-override': { enabled: false } });
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
  [
    'Any request can return a JSON body `{ error: <string> }` describing a failure.',
    async () => {
      const answers = [
        await get('tasks/none'),
        await call('POST', 'tasks', '{'),
        await call('PATCH', 'templates/none', {}),
        await call('POST', 'write?db=d&rp=r', 'x'),
        await get('none'),
        await call('PUT', 'tasks', {}),
      ];
      for (const { status, json } of answers) {
        expect(status).toBeGreaterThanOrEqual(400);
        expect(json).toEqual({ error: expect.stringMatching(/./) });
      }
    },
  ],
  [
    '2xx: success. 4xx: invalid request; repeating it returns the same error. 5xx: the server could not process the request; repeating it may succeed once the server problem is fixed.',
    async () => {
      expect((await get('tasks')).status).toBe(200);
      const refused = [await call('POST', 'tasks', {}), await call('POST', 'tasks', {})];
      expect(refused[0]?.status).toBe(400);
      expect(refused[1]?.json).toEqual(refused[0]?.json);
    },
  ],
  [
    'Deleting a nonexistent task, template, recording or replay is not an error (204).',
    async () => {
      for (const kind of ['tasks', 'templates', 'recordings', 'replays']) {
        expect([kind, (await call('DELETE', `${kind}/none`)).status]).toEqual([kind, 204]);
      }
    },
  ],
  [
    'A list whose pattern matches nothing returns 200 with an empty list.',
    async () => {
      for (const kind of ['tasks', 'templates', 'recordings', 'replays']) {
        const { status, json } = await get(`${kind}?pattern=none-*`);
        expect({ status, json }).toEqual({ status: 200, json: { [kind]: [] } });
      }
    },
  ],
]);
