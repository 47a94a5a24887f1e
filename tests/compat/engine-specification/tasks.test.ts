// One test per row of the tables of endpoints in the engine's HTTP API specification: writing,
// tasks, templates, recordings, replays.
import { eventually } from '@tidemark/testkit';
import { expect } from 'vitest';
import {
  BATCH,
  call,
  define,
  ended,
  event,
  get,
  newId,
  PAST,
  record,
  recordQuery,
  replay,
  replayed,
  STREAM,
  table,
  template,
  useEngine,
} from './harness.ts';

useEngine();

table('Writing data', [
  [
    'POST /engine/v1/write',
    async () => expect((await call('POST', 'write?db=d&rp=r', 'w v=1 1')).status).toBe(204),
  ],
  [
    'POST /write',
    async () => expect((await call('POST', '/write?db=d&rp=r', 'w v=1 1')).status).toBe(204),
  ],
]);

table('Tasks', [
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

table('Templates', [
  ['POST templates', async () => expect(await template()).toMatchObject({ link: { rel: 'self' } })],
  [
    'PATCH templates/<id>: all tasks follow or none',
    async () => {
      const { id } = await template();
      const task = await define({ script: undefined, 'template-id': id, status: 'enabled' });
      const good = 'var x = 2\nstream|from()|where(lambda: x > 1)';
      expect((await call('PATCH', `templates/${id}`, { script: good })).status).toBe(200);
      expect((await get(`tasks/${task.id}?script-format=raw`)).json.script).toBe(good);
      const bad = 'var x int\nstream|from()|where(lambda: x > 1)';
      expect((await call('PATCH', `templates/${id}`, { script: bad })).status).toBe(400);
      expect((await get(`tasks/${task.id}?script-format=raw`)).json).toMatchObject({
        script: good,
        executing: true,
      });
      expect((await get(`templates/${id}?script-format=raw`)).json.script).toBe(good);
      expect((await call('PATCH', `templates/${newId()}`, {})).status).toBe(404);
    },
  ],
  [
    'GET templates/<id>',
    async () => {
      const { id } = await template('stream|from()');
      expect((await get(`templates/${id}?script-format=raw`)).json.script).toBe('stream|from()');
      expect((await get(`templates/${newId()}`)).status).toBe(404);
    },
  ],
  [
    'DELETE templates/<id>',
    async () => {
      const { id } = await template();
      expect((await call('DELETE', `templates/${id}`)).status).toBe(204);
      expect((await call('DELETE', `templates/${id}`)).status).toBe(204);
    },
  ],
  [
    'GET templates',
    async () => {
      const { id } = await template();
      const { json } = await get(`templates?pattern=${id}&fields=type`);
      expect(json.templates).toEqual([{ id, link: expect.anything(), type: 'stream' }]);
    },
  ],
]);

table('Recordings', [
  [
    'POST recordings/stream',
    async () => {
      const { id } = await define();
      const recording = await record('stream', { task: id, stop: '2018-01-01T00:00:00Z' });
      expect((await get(`recordings/${recording.id}`)).status).toBe(202);
      await call(
        'POST',
        '/write?db=d&rp=r',
        'm v=1 1500000000000000000\nm v=1 1600000000000000000',
      );
      expect(await ended(`recordings/${recording.id}`)).toMatchObject({
        type: 'stream',
        status: 'finished',
      });
    },
  ],
  [
    'POST recordings/batch',
    async () => {
      const { id } = await define({ script: BATCH });
      const recording = await record('batch', { task: id, ...PAST });
      expect(await ended(`recordings/${recording.id}`)).toMatchObject({
        type: 'batch',
        status: 'finished',
      });
    },
  ],
  [
    'POST recordings/query: type is required',
    async () => {
      expect((await recordQuery('batch')).type).toBe('batch');
      expect(
        (await call('POST', 'recordings/query', { query: 'SELECT v FROM d.r.m' })).status,
      ).toBe(400);
    },
  ],
  [
    'GET recordings/<id>: 200, 202, 404',
    async () => {
      const { id } = await define();
      const recording = await record('stream', { task: id, stop: '2018-01-01T00:00:00Z' });
      expect((await get(`recordings/${recording.id}`)).status).toBe(202);
      expect((await get(`recordings/${(await recordQuery()).id}`)).status).toBe(200);
      expect((await get(`recordings/${newId()}`)).status).toBe(404);
    },
  ],
  [
    'DELETE recordings/<id>',
    async () => {
      const { id } = await define();
      const recording = await record('stream', { task: id, stop: '2018-01-01T00:00:00Z' });
      expect((await call('DELETE', `recordings/${recording.id}`)).status).toBe(204);
      expect((await get(`recordings/${recording.id}`)).status).toBe(404);
      expect((await call('DELETE', `recordings/${recording.id}`)).status).toBe(204);
    },
  ],
  [
    'GET recordings: sorted by date',
    async () => {
      await recordQuery();
      await recordQuery();
      const dates = (await get('recordings')).json.recordings.map(({ date }: any) =>
        date.slice(0, 19),
      );
      expect(dates).toEqual([...dates].sort().reverse());
    },
  ],
]);

table('Replays', [
  [
    'POST replays/: times in the recording, or relative to now',
    async () => {
      const task = await define();
      const lines = async (isRecordingTime: boolean): Promise<string> => {
        const query = 'SELECT v FROM "d"."r".m1';
        const script = STREAM.replace("'m'", "'m1'");
        await call('PATCH', `tasks/${task.id}`, { script });
        const { id } = await replay('query', {
          task: task.id,
          query,
          'recording-time': isRecordingTime,
        });
        await ended(`replays/${id}`);
        return (await get(`tasks/${task.id}/out?replay-id=${id}`)).json.series[0].values[0][0];
      };
      const recorded = Date.parse(await lines(true));
      const shifted = Date.parse(await lines(false));
      expect(Date.now() - recorded).toBeGreaterThan(4 * 86_400_000);
      expect(Date.now() - shifted).toBeLessThan(3_600_000);
    },
  ],
  [
    'POST replays/batch',
    async () => {
      const { id } = await define({ script: BATCH });
      const made = await replay('batch', { task: id, ...PAST });
      expect(made.recording).toBe('');
      const { stats } = await ended(`replays/${made.id}`);
      expect(stats['node-stats'].query1.batches_queried).toBe(2);
    },
  ],
  [
    'POST replays/query',
    async () => {
      const { id } = await define({ script: BATCH });
      const made = await replay('query', { task: id, query: 'SELECT v FROM "d"."r".m1' });
      expect(await ended(`replays/${made.id}`)).toMatchObject({
        recording: '',
        status: 'finished',
      });
    },
  ],
  [
    'GET replays/<id>: 200, 202, 404',
    async () => {
      const { id } = await replayed();
      expect((await get(`replays/${id}`)).status).toBe(200);
      expect((await get(`replays/${newId()}`)).status).toBe(404);
      const running = await slowReplay();
      expect((await get(`replays/${running}`)).status).toBe(202);
      await call('DELETE', `replays/${running}`);
    },
  ],
  [
    'DELETE replays/<id>',
    async () => {
      const running = await slowReplay();
      expect((await call('DELETE', `replays/${running}`)).status).toBe(204);
      expect((await get(`replays/${running}`)).status).toBe(404);
      expect((await call('DELETE', `replays/${running}`)).status).toBe(204);
    },
  ],
  [
    'GET replays',
    async () => {
      const { id } = await replayed();
      const { json } = await get(`replays?pattern=${id}&fields=status`);
      expect(json.replays).toEqual([{ id, link: expect.anything(), status: 'finished' }]);
    },
  ],
]);

/** A replay with the real clock of points that lie days apart. */
async function slowReplay(): Promise<string> {
  const { id } = await define();
  const recording = await record('stream', { task: id, stop: '2018-01-01T00:00:00Z' });
  const times = [1_500_000_000, 1_510_000_000, 1_600_000_000];
  await call(
    'POST',
    '/write?db=d&rp=r&precision=s',
    times.map((time) => `m v=1 ${time}`).join('\n'),
  );
  await ended(`recordings/${recording.id}`);
  const { id: replayId } = await replay('', { task: id, recording: recording.id, clock: 'real' });
  return replayId;
}
