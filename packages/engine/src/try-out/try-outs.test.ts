// Try-outs over the API: what they report, that they have no effects, how they end, and that a
// saved task test passes.
import { systemClock } from '@tidemark/core';
import { eventually, PointDatabase, TestServer } from '@tidemark/testkit';
import { TestEngine } from '@tidemark/testkit/engine';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runTaskTests } from '../task-test/run.ts';

type Line = Readonly<Record<string, any>>;

const SECOND = 1_000_000_000n;
const START = 1_764_000_000n;
const dbrps = [{ db: 'd', rp: 'r' }];

const SCRIPT = `stream
    |from()
        .measurement('room')
        .groupBy('name')
    |eval(lambda: "celsius" * 2.0)
        .as('double')
    |alert()
        .id('{{ index .Tags "name" }}')
        .crit(lambda: "double" > 60.0)
        .stateChangesOnly()
        .topic('heat')
        .exec('/bin/true')
`;

const POINTS = [21, 35, 36, 20]
  .map((celsius, i) => `room,name=kitchen celsius=${celsius} ${START + BigInt(i * 10)}`)
  .join('\n');

let engine: TestEngine;

beforeEach(() => {
  engine = new TestEngine();
});

afterEach(() => engine.close());

async function tryOut(body: object): Promise<readonly Line[]> {
  const { status, bytes } = await engine.call('POST', '/engine/v1/try-outs', body);
  const text = bytes.toString('utf8');
  expect(status, text).toBe(200);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

const ofKind = (lines: readonly Line[], kind: string): readonly Line[] =>
  lines.filter((line) => line['kind'] === kind);

const typed = (script: string, points: string, more: object = {}): object => ({
  task: { script, dbrps },
  source: { points, precision: 's' },
  ...more,
});

describe.each([
  ['in this thread', '0'],
  ['in a task host', '1'],
])('a script on typed points, %s', (_where, hosts) => {
  beforeEach(() => engine.start({ task: { hosts } }));

  test('tells what leaves each node, why, and which alerts would fire', async () => {
    const lines = await tryOut(typed(SCRIPT, POINTS));

    expect(lines[0]).toMatchObject({
      kind: 'task',
      type: 'stream',
      start: '2025-11-24T16:00:00Z',
      nodes: [{ name: 'stream0' }, { name: 'from1' }, { name: 'eval2' }, { name: 'alert3' }],
    });
    const doubles = ofKind(lines, 'point').filter(({ node }) => node === 'eval2');
    expect(doubles.map(({ fields }) => fields.double)).toEqual([42, 70, 72, 40]);
    const events = ofKind(lines, 'event');
    expect(events).toMatchObject([
      { id: 'kitchen', level: 'CRITICAL', previous: 'OK', topics: ['', 'heat'] },
      { id: 'kitchen', level: 'OK', previous: 'CRITICAL', tags: { name: 'kitchen' } },
    ]);
    expect(events[0]?.['handlers']).toEqual(['exec']);
    const whys = ofKind(lines, 'why').filter(({ node }) => node === 'alert3');
    expect(whys).toHaveLength(4);
    expect(whys[0]?.['conditions'][0]).toMatchObject({
      label: 'crit',
      result: false,
      values: { double: 42 },
    });
    expect(lines.at(-1)).toMatchObject({ kind: 'end', count: 4, problem: '' });
    // Nothing of it is there afterwards.
    expect((await engine.call('GET', '/engine/v1/tasks')).json.tasks).toEqual([]);
    expect((await engine.call('GET', '/engine/v1preview/alerts/topics')).json.topics).toEqual([]);
  });

  test('moves the clock with the points and behind them, as a deadman needs it', async () => {
    const script = "stream|from().measurement('room')|deadman(0.0, 10s)";
    const alone = await tryOut(typed(script, POINTS));
    const longer = await tryOut(typed(script, POINTS, { 'goes-on': '30s' }));

    expect(ofKind(alone, 'event')).toEqual([]);
    expect(ofKind(longer, 'event')).toMatchObject([
      { level: 'CRITICAL', time: '2025-11-24T16:00:50Z' },
      expect.objectContaining({ level: 'CRITICAL' }),
    ]);
    expect(ofKind(longer, 'clock').at(-1)).toMatchObject({ time: '2025-11-24T16:01:00Z' });
  });

  test('tells a mistake of a node, and how it ended', async () => {
    const lines = await tryOut(
      typed("stream|from()|where(lambda: \"celsius\" > 'warm')|httpOut('o')", POINTS),
    );

    expect(ofKind(lines, 'log')[0]).toMatchObject({ level: 'error', node: 'where2' });
    expect(lines.at(-1)?.['stats']['node-stats'].where2.errors).toBe(4);
  });
});

test('sends, writes and asks nothing', async () => {
  const sink = new TestServer();
  await sink.open();
  const { url } = sink;
  const database = new PointDatabase();
  await engine.start({ tsdb: [cluster(await database.open())] });
  const script = `var rooms = stream|from().measurement('room')
rooms|httpPost('${url}/post')
rooms|influxDBOut().database('out').retentionPolicy('week').create().precision('s')
rooms|kapacitorLoopback().database('e').retentionPolicy('r').measurement('again')
`;
  const lines = await tryOut(typed(script, POINTS.split('\n')[0] ?? ''));

  const effects = ofKind(lines, 'effect').map(({ what, target, text }) => [what, target, text]);
  expect(effects.toSorted()).toEqual([
    ['loopback', 'e.r', `again,name=kitchen celsius=21 ${START * SECOND}`],
    ['request', `POST ${url}/post`, expect.stringContaining('"celsius"')],
    ['statement', '', expect.stringContaining('CREATE DATABASE')],
    ['write', 'out.week (s)', `room,name=kitchen celsius=21 ${START}`],
  ]);
  expect(sink.requests).toEqual([]);
  expect(database.queries.filter((query) => !query.startsWith('SHOW'))).toEqual([]);
  await sink.close();
  await database.close();
});

describe('on data that is there', () => {
  let database: PointDatabase;

  beforeEach(async () => {
    database = new PointDatabase();
    await engine.start({ tsdb: [cluster(await database.open())] });
  });

  afterEach(() => database.close());

  test('of the database, in the order of its times and no other than those asked for', async () => {
    for (const seconds of [30n, 10n, 50n, 90n]) {
      database.points.push({
        measurement: 'room',
        host: 'kitchen',
        time: (START + seconds) * SECOND,
        fields: { celsius: 30 + Number(seconds) / 10 },
      });
    }
    const script = "stream|from().measurement('room')|httpOut('o')";
    const at = (seconds: bigint): string => new Date(Number(START + seconds) * 1000).toISOString();
    const lines = await tryOut({
      task: { script, dbrps },
      source: { start: at(0n), stop: at(60n) },
    });

    const points = ofKind(lines, 'point').filter(({ node }) => node === 'from1');
    expect(points.map(({ fields }) => fields.celsius)).toEqual([31, 33, 35]);
    expect(lines[0]).toMatchObject({ start: '2025-11-24T16:00:00Z' });
    expect(ofKind(lines, 'clock').at(-1)).toMatchObject({ time: '2025-11-24T16:01:00Z' });
  });

  test('of a recording', async () => {
    const task = { id: 't', dbrps, script: "stream|from()|httpOut('o')", status: 'enabled' };
    await engine.call('POST', '/engine/v1/tasks', task);
    await engine.call('POST', '/engine/v1/recordings/stream', {
      id: 'rec',
      task: 't',
      stop: '2020-01-01T00:00:00Z',
    });
    await engine.call('POST', '/write?db=d&rp=r&precision=s', 'room,name=kitchen celsius=40 100');
    await engine.call('POST', '/write?db=d&rp=r&precision=s', `room celsius=1 ${START}`);
    await eventually('the recording', async () => {
      const { json } = await engine.call('GET', '/engine/v1/recordings/rec');
      return json.status === 'finished' ? true : undefined;
    });
    const lines = await tryOut({ task: { script: SCRIPT, dbrps }, source: { recording: 'rec' } });

    expect(ofKind(lines, 'event')).toMatchObject([{ level: 'CRITICAL' }]);
  });
});

test.each([
  [
    'a script that is wrong',
    typed('stream|frm()', POINTS),
    /^invalid TICKscript: line 1 char 8: no method or property "frm"/,
  ],
  ['lines that are none', typed(SCRIPT, 'room celsius=1 1\nroom'), /^line 2: unable to parse/],
  ['no points', typed(SCRIPT, ''), /^no points are given$/],
  [
    'points for a script that asks',
    typed("batch|query('SELECT * FROM d.r.m').period(1m).every(1m)", POINTS),
    /takes no points/,
  ],
  [
    'a recording that does not exist',
    { task: { script: SCRIPT, dbrps }, source: { recording: 'no' } },
    /no recording exists/,
  ],
  [
    'a span of time that ends before it begins',
    {
      task: { script: SCRIPT, dbrps },
      source: { start: '2026-01-02T00:00:00Z', stop: '2026-01-01T00:00:00Z' },
    },
    /stop must be after start/,
  ],
  ['a body that says nothing', {}, /^invalid try-out: expected "task"$/],
])('refuses %s', async (_what, body, message) => {
  await engine.start();
  const { status, json } = await engine.call('POST', '/engine/v1/try-outs', body);

  expect([400, 404]).toContain(status);
  expect(json.error).toMatch(message);
});

test('ends when its reader goes away, and makes room for others', async () => {
  const slow = new TestServer(() => new Promise(() => undefined));
  await slow.open();
  await engine.start({ tsdb: [cluster(slow.url)] });
  const body = JSON.stringify({
    task: { script: SCRIPT, dbrps },
    source: { start: '2026-01-01T00:00:00Z', stop: '2026-01-01T01:00:00Z' },
  });
  const readers = Array.from({ length: 4 }, () => new AbortController());
  const tried = readers.map(({ signal }) =>
    fetch(`${engine.url}/engine/v1/try-outs`, { method: 'POST', body, signal }),
  );
  await Promise.all(tried);
  const refused = await engine.call('POST', '/engine/v1/try-outs', typed(SCRIPT, POINTS));
  expect(refused).toMatchObject({
    status: 429,
    json: { error: expect.stringMatching(/too many try-outs run: 4 may/) },
  });
  for (const reader of readers) reader.abort();

  const lines = await eventually('room', async () => {
    const { status, bytes } = await engine.call(
      'POST',
      '/engine/v1/try-outs',
      typed(SCRIPT, POINTS),
    );
    return status === 200 ? bytes.toString('utf8') : undefined;
  });
  expect(lines).toContain('"kind":"end"');
  await slow.close();
});

describe('saved as a task test', () => {
  beforeEach(() => engine.start());

  const options = {
    clock: systemClock(),
    readScript: (): never => {
      throw new Error('no file');
    },
  };

  const saved = async (body: object): Promise<string> => {
    const { status, bytes } = await engine.call('POST', '/engine/v1/try-outs/task-test', body);
    const text = bytes.toString('utf8');
    expect(status, text).toBe(200);
    return text;
  };

  test('it expects what came out', async () => {
    const text = await saved(
      typed(SCRIPT, POINTS, { name: 'a warm  kitchen', expects: ['events', 'emits eval2'] }),
    );

    expect(text).toContain('test a warm kitchen\nid try-out\nclock 2025-11-24T16:00:00Z\n');
    expect(text).toContain('| kitchen | CRITICAL | OK |');
    const [result] = await runTaskTests(text, options);
    expect(result).toMatchObject({ name: 'a warm kitchen', failures: [], checkCount: 2 });
    const [changed] = await runTaskTests(text.replace('> 60.0', '> 71.0'), options);
    expect(changed?.failures).not.toEqual([]);
  });

  test('with a clock that goes on, vars and the database of the script', async () => {
    const script = `dbrp "d"."r"

var limit = 0.0
stream|from().measurement('room')|deadman(limit, 10s).topic('dead')`;
    const text = await saved({
      task: { script, vars: { limit: { type: 'float', value: 0.5 } } },
      source: { points: POINTS, precision: 's' },
      'goes-on': '30s',
      expects: ['events'],
    });

    expect(text).toContain('advance 30s');
    expect(text).toContain('| CRITICAL | OK |');
    const [result] = await runTaskTests(text, options);
    expect(result).toMatchObject({ failures: [], checkCount: 1 });
  });

  test.each([
    ['an expectation that no test has', { expects: ['luck'] }, /expects has "luck"/],
    ['a node that is not there', { expects: ['emits mean9'] }, /no node mean9/],
  ])('refuses %s', async (_what, more, message) => {
    const { status, json } = await engine.call(
      'POST',
      '/engine/v1/try-outs/task-test',
      typed(SCRIPT, POINTS, more),
    );

    expect(status).toBe(400);
    expect(json.error).toMatch(message);
  });
});

function cluster(url: string): object {
  return { name: 'main', default: true, urls: [url], 'disable-subscriptions': true };
}
