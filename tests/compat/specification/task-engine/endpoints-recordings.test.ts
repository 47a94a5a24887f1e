// The section “Recordings” of the specification of the task engine's HTTP API, sentence by
// sentence.
import { expect } from 'vitest';
import {
  BATCH,
  PAST,
  call,
  define,
  ended,
  get,
  newId,
  record,
  recordQuery,
  sentences,
  useEngine,
} from './harness.ts';

useEngine();

sentences('Recordings', [
  [
    "POST /engine/v1/recordings/stream | `id`, `task` (record only data of the task's dbrps), `stop` (timestamp; record until then) | 201 recording, returns at once",
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
    "POST /engine/v1/recordings/batch | `id`, `task` (records results of the task's queries), `start` (RFC3339Nano), `stop` (RFC3339Nano; default current time) | 201",
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
    'POST /engine/v1/recordings/query | `id`, `type` (`stream` or `batch`, required because a recording is typed), `query` (string), `cluster` (name of a configured cluster; default cluster when empty) | 201',
    async () => {
      expect((await recordQuery('batch')).type).toBe('batch');
      expect(
        (await call('POST', 'recordings/query', { query: 'SELECT v FROM d.r.m' })).status,
      ).toBe(400);
    },
  ],
  [
    'GET /engine/v1/recordings/<recording_id> | - | 200 when no longer running; 202 when exists but not finished; 404 when absent',
    async () => {
      const { id } = await define();
      const recording = await record('stream', { task: id, stop: '2018-01-01T00:00:00Z' });
      expect((await get(`recordings/${recording.id}`)).status).toBe(202);
      expect((await get(`recordings/${(await recordQuery()).id}`)).status).toBe(200);
      expect((await get(`recordings/${newId()}`)).status).toBe(404);
    },
  ],
  [
    'DELETE /engine/v1/recordings/<recording_id> | - | 204, also when nonexistent',
    async () => {
      const { id } = await define();
      const recording = await record('stream', { task: id, stop: '2018-01-01T00:00:00Z' });
      expect((await call('DELETE', `recordings/${recording.id}`)).status).toBe(204);
      expect((await get(`recordings/${recording.id}`)).status).toBe(404);
      expect((await call('DELETE', `recordings/${recording.id}`)).status).toBe(204);
    },
  ],
  [
    'GET /engine/v1/recordings | query `pattern`, `fields`, `offset` (0), `limit` (100) | 200 `{recordings:[...]}` sorted by date',
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
