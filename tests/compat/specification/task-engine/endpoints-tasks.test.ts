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
    'POST /engine/v1/tasks | JSON task fields (`id`, `template-id`, `type`, `dbrps`, `script`, `status`, `vars`) | 200 with task (link, id and task fields)',
    async () =>
      expect(await define()).toMatchObject({
        link: { rel: 'self' },
        id: expect.stringMatching(/row/),
      }),
  ],
  [
    'PATCH /engine/v1/tasks/<task_id> | any subset of the client-settable fields; missing fields are left unchanged | 200; 404 when the task does not exist',
    async () => {
      const { id, script, dbrps } = await define();
      expect((await call('PATCH', `tasks/${id}`, {})).json).toMatchObject({ script, dbrps });
      expect((await call('PATCH', `tasks/${newId()}`, {})).status).toBe(404);
    },
  ],
  [
    "GET /engine/v1/tasks/<task_id> | query: `dot-view` (`attributes` default, or `labels`), `script-format` (`formatted` default, or `raw` which returns the script as defined), `replay-id` (optional id of a running replay; result is in the context of that replay's task) | 200 task; 404",
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
    'DELETE /engine/v1/tasks/<task_id> | - | 204, also when the task does not exist',
    async () => {
      const { id } = await define({ status: 'enabled' });
      expect((await call('DELETE', `tasks/${id}`)).status).toBe(204);
      expect((await call('DELETE', `tasks/${id}`)).status).toBe(204);
      expect((await get(`tasks/${id}`)).status).toBe(404);
    },
  ],
  [
    'GET /engine/v1/tasks | query: `pattern`, `fields`, `dot-view`, `script-format`, `offset` (default 0), `limit` (default 100) | 200 `{tasks:[task...]}`; empty array when nothing matches',
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
    'GET /engine/v1/tasks/<task_id>/<endpoint_name> | - | data cached by an HTTP-output node of the task script; body has the shape of a database query result `{series:[{name, columns, values}]}`',
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
  [
    'The `pattern` is a shell glob matched on the id.',
    async () => {
      const id = newId();
      for (const end of ['a1', 'a2', 'b1']) await define({ id: `${id}-${end}` });
      const found = async (pattern: string): Promise<readonly string[]> =>
        (await get(`tasks?pattern=${encodeURIComponent(id + pattern)}`)).json.tasks.map(
          (task: any) => task.id.slice(id.length + 1),
        );
      expect(await found('-a*')).toEqual(['a1', 'a2']);
      expect(await found('-?1')).toEqual(['a1', 'b1']);
      expect(await found('-[bc]1')).toEqual(['b1']);
      expect((await get('tasks?pattern=%5B')).status).toBe(400);
    },
  ],
]);
