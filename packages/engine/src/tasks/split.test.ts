// Requesting a split over the API of an engine without a cluster: it is validated and stored, and
// the task runs unsplit.
import { buildPipeline } from '@tidemark/pipeline';
import { TestEngine } from '@tidemark/testkit/engine';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkSplit, readSplit } from './split.ts';

const engine = new TestEngine();
const HOSTS = `stream|from().measurement('m').groupBy('host')|count('v')|httpOut('out')`;
const WHOLE = `stream|from()
    |union(stream|from())
    |httpOut('out')`;

beforeAll(() => engine.start());
afterAll(() => engine.close());

const task = async (id: string): Promise<any> =>
  (await engine.call('GET', `/engine/v1/tasks/${id}`)).json;

const define = (id: string, more: object): ReturnType<TestEngine['call']> =>
  engine.call('POST', '/engine/v1/tasks', {
    id,
    dbrps: [{ db: 'd', rp: 'r' }],
    script: HOSTS,
    status: 'enabled',
    ...more,
  });

test('a task shows what it asks for, and runs', async () => {
  expect(await define('a', { split: 4 })).toMatchObject({
    status: 200,
    json: { split: 4, executing: true, error: '' },
  });
  const lines = 'm,host=a v=1 1000000000\nm,host=b v=1 1000000000\nm,host=a v=1 2000000000';
  expect((await engine.call('POST', '/engine/v1/write?db=d&rp=r', lines)).status).toBe(204);

  const { json } = await engine.call('GET', '/engine/v1/tasks/a/out');
  expect(json.series).toMatchObject([{ tags: { host: 'a' } }]);
  const { stats } = await task('a');
  expect(stats['node-stats'].from1).toMatchObject({ emitted: 3 });
});

test('a task that asks for nothing shows nothing', async () => {
  await define('b', {});
  expect(await task('b')).not.toHaveProperty('split');
  await engine.call('PATCH', '/engine/v1/tasks/b', { split: 2 });
  expect(await task('b')).toMatchObject({ split: 2 });
  await engine.call('PATCH', '/engine/v1/tasks/b', { status: 'disabled' });
  expect(await task('b')).toMatchObject({ split: 2 });
  await engine.call('PATCH', '/engine/v1/tasks/b', { split: 0 });
  expect(await task('b')).not.toHaveProperty('split');

  const { json } = await engine.call('GET', '/engine/v1/task-versions/b');
  expect(json.versions.map(({ split }: any) => split)).toEqual([undefined, 2, undefined]);
});

test('a script that keeps groups together is refused with the place, and nothing changes', async () => {
  const refusal = {
    status: 400,
    json: {
      error:
        'line 2 char 6: the task cannot be split: union4 orders the points of all groups by time',
    },
  };

  expect(await define('c', { script: WHOLE, split: 2 })).toMatchObject(refusal);
  expect((await engine.call('GET', '/engine/v1/tasks/c')).status).toBe(404);
  expect((await define('c', { script: WHOLE, split: 1 })).status).toBe(200);
  expect(await engine.call('PATCH', '/engine/v1/tasks/c', { split: 3 })).toMatchObject(refusal);
  expect(await task('c')).toMatchObject({ split: 1, executing: true });
});

test('a template that cannot be split leaves its split tasks as they are', async () => {
  const template = { id: 'tpl', type: 'stream', script: HOSTS };
  await engine.call('POST', '/engine/v1/templates', template);
  expect((await define('d', { script: undefined, 'template-id': 'tpl', split: 2 })).status).toBe(
    200,
  );

  const changed = await engine.call('PATCH', '/engine/v1/templates/tpl', { script: WHOLE });

  expect(changed.status).toBe(400);
  expect(changed.json.error).toContain('error reloading associated task d: ');
  expect(changed.json.error).toContain('union4 orders the points of all groups by time');
  expect(await task('d')).toMatchObject({ split: 2, executing: true });
});

test.each(['2', -1, 1.5, 65, true])('%j is no number of parts', async (split) => {
  expect(await define('e', { split })).toMatchObject({
    status: 400,
    json: { error: expect.stringContaining('split must be a number of parts up to 64') },
  });
});

test('the configuration splits what can be split and does not say itself', () => {
  const setting = { isOn: true, byDefault: 3 };
  const definition = (script: string) => ({ script, pipeline: pipelineOf(script) });

  expect(checkSplit(undefined, definition(HOSTS), setting)).toBe(3);
  expect(checkSplit(undefined, definition(WHOLE), setting)).toBe(1);
  expect(checkSplit(1, definition(HOSTS), setting)).toBe(1);
  expect(checkSplit(5, definition(HOSTS), setting)).toBe(5);
  expect(checkSplit(5, definition(HOSTS), { isOn: false, byDefault: 1 })).toBe(1);
  expect(readSplit(null)).toBeUndefined();
});

function pipelineOf(script: string): Parameters<typeof checkSplit>[1]['pipeline'] {
  const { pipeline, error } = buildPipeline(script);
  if (pipeline === undefined) throw new Error(error?.text);
  return pipeline;
}
