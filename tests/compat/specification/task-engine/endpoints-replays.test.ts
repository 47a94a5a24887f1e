// The section “Replays” of the specification of the task engine's HTTP API, sentence by sentence.
import { expect } from 'vitest';
import {
  BATCH,
  PAST,
  STREAM,
  call,
  define,
  ended,
  get,
  newId,
  record,
  replay,
  replayed,
  sentences,
  useEngine,
} from './harness.ts';

useEngine();

sentences('Replays', [
  [
    'POST /engine/v1/replays/ | `id` (random default), `task`, `recording`, `recording-time` (default false; true uses times in the recording, otherwise times are shifted relative to now), `clock` (`fast` default, or `real` which waits real time matching the recording) | 201 replay',
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
    'POST /engine/v1/replays/batch | `id`, `task`, `start` (RFC3339Nano), `stop` (default now), `recording-time`, `clock` | 201; `recording` in the result is empty',
    async () => {
      const { id } = await define({ script: BATCH });
      const made = await replay('batch', { task: id, ...PAST });
      expect(made.recording).toBe('');
      const { stats } = await ended(`replays/${made.id}`);
      expect(stats['node-stats'].query1.batches_queried).toBe(2);
    },
  ],
  [
    'POST /engine/v1/replays/query | `id`, `task`, `query`, `cluster`, `recording-time`, `clock` | 201; `recording` empty',
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
    'GET /engine/v1/replays/<replay_id> | - | 200 when no longer running; 202 not finished; 404',
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
    'DELETE /engine/v1/replays/<replay_id> | - | 204, also when nonexistent',
    async () => {
      const running = await slowReplay();
      expect((await call('DELETE', `replays/${running}`)).status).toBe(204);
      expect((await get(`replays/${running}`)).status).toBe(404);
      expect((await call('DELETE', `replays/${running}`)).status).toBe(204);
    },
  ],
  [
    'GET /engine/v1/replays | query `pattern`, `fields`, `offset` (0), `limit` (100) | 200 `{replays:[...]}`',
    async () => {
      const { id } = await replayed();
      const { json } = await get(`replays?pattern=${id}&fields=status`);
      expect(json.replays).toEqual([{ id, link: expect.anything(), status: 'finished' }]);
    },
  ],
  [
    'Replaying a stream without a recording is not supported (it equals enabling the task).',
    async () => {
      const { id } = await define();
      expect((await call('POST', 'replays/', { task: id })).status).toBe(404);
      expect((await call('POST', 'replays/batch', { task: id, ...PAST })).status).toBe(400);
      expect((await call('POST', 'replays/stream', { task: id })).status).toBe(405);
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
