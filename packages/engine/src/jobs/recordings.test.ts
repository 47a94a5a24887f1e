// Recordings of streams: when they end, and errors of the disk.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, TestServer } from '@tidemark/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TestEngine } from '@tidemark/testkit/engine';

let engine: TestEngine;

beforeEach(async () => {
  engine = new TestEngine();
  await engine.start();
  const task = { id: 't', dbrps: [{ db: 'd', rp: 'r' }], script: "stream|from()|httpOut('out')" };
  await engine.call('POST', '/engine/v1/tasks', { ...task, status: 'enabled' });
});

afterEach(() => engine.close());

const record = (id: string): ReturnType<TestEngine['call']> =>
  engine.call('POST', '/engine/v1/recordings/stream', {
    id,
    task: 't',
    stop: '2020-01-01T00:00:00Z',
  });

/** Random enough that compression does not keep them in one block. */
function lines(): string {
  const line = (i: number): string =>
    `m,h=${((i * 2654435761) % 4294967296).toString(36)} v=1 ${i}`;
  return Array.from({ length: 50_000 }, (_, i) => line(i)).join('\n');
}

test('a disk that refuses fails the recording with its reason, and neither writes nor tasks', async () => {
  rmSync(join(engine.directory, 'replay'), { recursive: true });
  expect((await record('r')).status).toBe(201);
  expect((await engine.call('POST', '/write?db=d&rp=r', lines())).status).toBe(204);

  const failed = await eventually('the failure', async () => {
    const { status, json } = await engine.call('GET', '/engine/v1/recordings/r');
    return status === 200 ? json : undefined;
  });
  expect(failed).toMatchObject({ status: 'failed', error: expect.stringMatching(/ENOENT/) });
  expect((await engine.call('POST', '/write?db=d&rp=r', 'm v=7 99999999')).status).toBe(204);
  const { json } = await engine.call('GET', '/engine/v1/tasks/t/out');
  expect(json.series[0].values[0][1]).toBe(7);

  const replay = { id: 'p', task: 't', recording: 'r' };
  expect((await engine.call('POST', '/engine/v1/replays/', replay)).status).toBe(201);
  const ended = await eventually('the end of the replay', async () => {
    const answer = await engine.call('GET', '/engine/v1/replays/p');
    return answer.status === 200 ? answer.json : undefined;
  });
  expect(ended.error).toMatch(/^running replay: recording r has no data: .*ENOENT/);
});

test('a recording that goes on cannot be replayed yet', async () => {
  expect((await record('on')).status).toBe(201);

  const replay = { task: 't', recording: 'on' };
  expect(await engine.call('POST', '/engine/v1/replays/', replay)).toMatchObject({
    status: 400,
    json: { error: 'recording is not finished: on' },
  });
  await engine.call('DELETE', '/engine/v1/recordings/on');
});

test('one of two recordings that want the same id at once gets it', async () => {
  const answers = await Promise.all([record('same'), record('same'), record('same')]);

  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 400, 400]);
  await engine.call('DELETE', '/engine/v1/recordings/same');
});

test('a recording of a duration ends by the clock of the engine, whatever the points say', async () => {
  const path = '/engine/v1/recordings/stream';
  const input = { id: 'short', task: 't', duration: '1ms' };

  expect((await engine.call('POST', path, input)).status).toBe(201);
  const recording = await eventually('the end', async () => {
    const { status, json } = await engine.call('GET', '/engine/v1/recordings/short');
    return status === 200 ? json : undefined;
  });

  expect(recording).toMatchObject({ status: 'finished', error: '', progress: 1 });
});

test.each([
  [{ task: 't' }, 'must provide stop time'],
  [{ task: 't', duration: '5m', stop: '2030-01-01T00:00:00Z' }, 'give either stop or duration'],
  [{ task: 't', duration: 'soon' }, 'invalid duration "soon", write 10s, 5m or 1h'],
  [{ task: 't', duration: '0s' }, 'invalid duration "0s", write 10s, 5m or 1h'],
])('a recording of %j is refused', async (input, error) => {
  const { status, json } = await engine.call('POST', '/engine/v1/recordings/stream', input);

  expect([status, json]).toEqual([400, { error }]);
});

test.each(['recordings', 'replays'])('no batch in %s is queried from the future', async (kind) => {
  const asked: string[] = [];
  const database = new TestServer(({ path }) => {
    asked.push(new URL(path, 'http://peer').searchParams.get('q') ?? '');
    return { body: '{"results":[{}]}' };
  });
  await database.open();
  await engine.call('POST', '/engine/v1/config/tsdb', {
    add: { name: 'x', urls: [database.url], 'disable-subscriptions': true },
  });
  const script = `batch|query('SELECT v FROM "d"."r"."m"').period(1h).every(1h)`;
  const task = { id: 'b', dbrps: [{ db: 'd', rp: 'r' }], script };
  expect((await engine.call('POST', '/engine/v1/tasks', task)).status).toBe(200);

  const hoursFromNow = (hours: number): string =>
    new Date(Date.now() + (hours + 0.5) * 3_600_000).toISOString();
  const span = { start: hoursFromNow(-4), stop: hoursFromNow(1000) };
  const body = { id: 'future', task: 'b', ...span };
  expect((await engine.call('POST', `/engine/v1/${kind}/batch`, body)).status).toBe(201);
  const ended = await eventually('the end', async () => {
    const answer = await engine.call('GET', `/engine/v1/${kind}/future`);
    return answer.status === 200 ? answer.json : undefined;
  });

  expect(ended.status).toBe('finished');
  expect(asked.filter((text) => text.startsWith('SELECT'))).toHaveLength(3);
  await database.close();
});
