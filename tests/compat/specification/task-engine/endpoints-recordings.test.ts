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
