// Limits of concurrent recordings and replays, and that limits of tasks apply to replays.
import { eventually } from '@tidemark/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TestEngine } from '@tidemark/testkit/engine';

let engine: TestEngine;
beforeEach(() => {
  engine = new TestEngine();
});
afterEach(() => engine.close());

const DBRPS = [{ db: 'd', rp: 'r' }];
const call: TestEngine['call'] = (method, path, body) =>
  engine.call(method, path.startsWith('/') ? path : `/engine/v1/${path}`, body);

async function define(script: string): Promise<void> {
  const task = { id: 't', dbrps: DBRPS, script, status: 'enabled' };
  expect((await call('POST', 'tasks', task)).status).toBe(200);
}

const record = (id: string) =>
  call('POST', 'recordings/stream', { id, task: 't', stop: '2099-01-01T00:00:00Z' });

test('more recordings than may run are refused with the setting to raise', async () => {
  await engine.start({ replay: { 'max-running': 2 } });
  await define('stream|from()');

  expect((await record('a')).status).toBe(201);
  expect((await record('b')).status).toBe(201);
  expect(await record('c')).toMatchObject({
    status: 429,
    json: {
      error:
        'too many recordings are running: 2 may; wait for one to end, or raise replay.max-running',
    },
  });
  await call('DELETE', 'recordings/a');
  expect((await record('c')).status).toBe(201);
});

test('hundreds may run where nothing is said', async () => {
  await engine.start();
  await define('stream|from()');
  const ids = Array.from({ length: 100 }, (_, i) => `r${i}`);

  const answers = await Promise.all(ids.map(record));

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
});

/** Writes five points of five groups, live and while they are recorded, and replays them. */
async function replayed(): Promise<void> {
  await call('POST', 'recordings/stream', { id: 'r', task: 't', stop: '2020-01-01T00:00:00Z' });
  const lines = ['a', 'b', 'c', 'd', 'e'].map((h, i) => `m,h=${h} v=1 ${i}`).join('\n');
  await call('POST', '/write?db=d&rp=r', lines);
  // The first point after its end ends the recording.
  await call('POST', '/write?db=d&rp=r', 'other v=1 1577836801000000000');
  await ended('recordings/r');
  await call('POST', 'replays', { id: 'p', task: 't', recording: 'r', 'recording-time': true });
  expect(await ended('replays/p')).toMatchObject({ status: 'finished', error: '' });
}

function ended(path: string): Promise<any> {
  return eventually(path, async () => {
    const { status, json } = await call('GET', path);
    return status === 200 ? json : undefined;
  });
}

test('a replay opens no more groups than task.max-groups', async () => {
  await engine.start({ task: { 'max-groups': 2 } });
  await define("stream|from().groupBy('h')|httpOut('out')");
  await replayed();

  const groups = async (query: string): Promise<readonly string[]> => {
    const { series } = (await call('GET', `tasks/t/out${query}`)).json;
    return series.map(({ tags }: { tags: { h: string } }) => tags.h);
  };
  expect(await groups('')).toEqual(['a', 'b']);
  expect(await groups('?replay-id=p')).toEqual(['a', 'b']);
});

test.each([{ 'max-held-points': 2 }, { 'max-memory': 60 }])(
  'a replay holds no more points than %j lets a live task hold',
  async (task) => {
    await engine.start({ task });
    await define('stream|from()|window().periodCount(100).everyCount(100)');
    await replayed();

    const errors = async (query: string): Promise<number> => {
      const { stats } = (await call('GET', `tasks/t${query}`)).json;
      return stats['node-stats']['window2'].errors;
    };
    const replayErrors = await errors('?replay-id=p');
    expect(replayErrors).toBeGreaterThan(0);
    // The point that ended the recording came to the live task only.
    expect(await errors('')).toBe(replayErrors + 1);
  },
);
