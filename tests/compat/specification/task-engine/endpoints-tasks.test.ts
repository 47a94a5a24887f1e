// The section “Tasks” of the specification of the task engine's HTTP API, sentence by sentence.
import { eventually } from '@tidemark/testkit';
import { expect } from 'vitest';
import {
  STREAM,
  call,
  define,
  ended,
  event,
  get,
  newId,
  recordQuery,
  replay,
  sentences,
  useEngine,
} from './harness.ts';

useEngine();

sentences('Tasks', [
  [
    'POST tasks',
    async () =>
      expect(await define()).toMatchObject({
        link: { rel: 'self' },
        id: expect.stringMatching(/row/),
      }),
  ],
  [
    'PATCH tasks/<id>',
    async () => {
      const { id, script, dbrps } = await define();
      expect((await call('PATCH', `tasks/${id}`, {})).json).toMatchObject({ script, dbrps });
      expect((await call('PATCH', `tasks/${newId()}`, {})).status).toBe(404);
    },
  ],
  [
    'GET tasks/<id>: dot-view, script-format, replay-id',
    async () => {
      const { id, script } = await define({ status: 'enabled' });
      expect((await get(`tasks/${id}?script-format=raw`)).json.script).toBe(STREAM);
      expect((await get(`tasks/${id}?script-format=formatted`)).json.script).toBe(script);
      expect((await get(`tasks/${id}?dot-view=labels`)).json.dot).toContain('label=');
      expect((await get(`tasks/${id}?dot-view=attributes`)).json.dot).toContain('processed="0"');
      const recording = await recordQuery();
      const again = await replay('', { task: id, recording: recording.id });
      await ended(`replays/${again.id}`);
      const inReplay = (await get(`tasks/${id}?replay-id=${again.id}`)).json;
      expect(inReplay.stats['node-stats']).toHaveProperty('from1');
      expect((await get(`tasks/${newId()}`)).status).toBe(404);
    },
  ],
  [
    'DELETE tasks/<id>',
    async () => {
      const { id } = await define({ status: 'enabled' });
      expect((await call('DELETE', `tasks/${id}`)).status).toBe(204);
      expect((await call('DELETE', `tasks/${id}`)).status).toBe(204);
      expect((await get(`tasks/${id}`)).status).toBe(404);
    },
  ],
  [
    'GET tasks',
    async () => {
      const { id } = await define();
      const { json } = await get(`tasks?pattern=${id}&fields=status&fields=type`);
      expect(json).toEqual({
        tasks: [
          {
            id,
            link: { rel: 'self', href: `/engine/v1/tasks/${id}` },
            status: 'disabled',
            type: 'stream',
          },
        ],
      });
      expect((await get('tasks?pattern=none*')).json).toEqual({ tasks: [] });
      expect((await get('tasks?offset=1&limit=2')).json.tasks).toHaveLength(2);
    },
  ],
  [
    'GET tasks/<id>/<endpoint>',
    async () => {
      const { id } = await event();
      const output = await eventually('the row', async () => {
        const { json } = await get(`tasks/${id}/out`);
        return json.series === null ? undefined : json;
      });
      expect(output).toEqual({
        series: [{ name: 'm', columns: ['time', 'v'], values: [['2017-07-14T02:40:00Z', 9]] }],
      });
    },
  ],
]);
