// The service with tasks in threads of their own: a misbehaving task does not affect the API and
// other tasks.
import { TestEngine } from '@tidemark/testkit/engine';
import { eventually, PointDatabase, TestServer } from '@tidemark/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';

let engine: TestEngine;

async function start(
  task: Readonly<Record<string, unknown>> = {},
  { tsdb, http = {} }: { readonly tsdb?: readonly object[]; readonly http?: object } = {},
): Promise<void> {
  const database = tsdb === undefined ? {} : { tsdb };
  await engine.start({ task: { hosts: '1', ...task }, http, ...database });
}

async function call(method: string, path: string, body?: string): Promise<any> {
  const response = await fetch(engine.url + path, {
    method,
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  return text.startsWith('{') ? JSON.parse(text) : { status: response.status };
}

async function define(id: string, script: string): Promise<void> {
  const dbrps = [{ db: 'd', rp: 'r' }];
  const body = JSON.stringify({ id, dbrps, script, status: 'enabled' });
  expect(await call('POST', '/engine/v1/tasks', body)).toMatchObject({ id, executing: true });
}

const write = (lines: string): Promise<any> => call('POST', '/engine/v1/write?db=d&rp=r', lines);

/** Asks again until the answer fits. */
function until(path: string, fits: (answer: any) => boolean): Promise<any> {
  const ask = async (): Promise<any> => {
    const answer = await call('GET', path);
    return fits(answer) ? answer : undefined;
  };
  return eventually(path, ask, 100_000);
}

beforeEach(() => {
  engine = new TestEngine();
});

afterEach(() => engine.close());

test('a task that is stuck does not delay the API, and ends up stopped with the reason while others go on', async () => {
  const database = new PointDatabase();
  const url = await database.open();
  const cluster = { name: 'main', default: true, urls: [url], 'disable-subscriptions': true };
  await start({ 'host-timeout': '2s', 'catch-up': '1h' }, { tsdb: [cluster] });
  await define(
    'good',
    "stream|from().measurement('m')|eval(lambda: count()).as('n').keep('n')|httpOut('o')",
  );
  await define(
    'bad',
    "stream|from().measurement('slow')|eval(lambda: regexReplace(/(x?){300}[yz]/, \"v\", 'yy')).as('n')",
  );
  await define(
    'kept',
    "stream|from().measurement('k')|eval(lambda: count()).as('n').keep('n')|httpOut('o')",
  );
  const time = BigInt(Date.now() + 1) * 1_000_000n;
  await write('m v=1 1\nm v=1 2');
  await write(`k,h=a v=1 ${time}\nk,h=a v=1 ${time + 1n}`);
  for (const at of [time, time + 1n]) {
    database.points.push({ measurement: 'k', host: 'a', time: at, fields: { v: 1 } });
  }
  await until('/engine/v1/tasks/good/o', ({ series }) => series?.[0].values[0][1] === 2);

  // Hundreds of states for each of four million letters take most of a minute that cannot be
  // interrupted.
  const slow = `slow v="${'x'.repeat(4_000_000)}" 1`;
  expect(await write(slow)).toEqual({ status: 204 });
  expect(await call('GET', '/engine/v1/ping')).toEqual({ status: 204 });
  expect(await call('GET', '/engine/v1/tasks/bad')).toMatchObject({ executing: true, error: '' });

  const restarted = await until('/engine/v1/tasks/bad', ({ error }) => error !== '');
  expect(restarted.error).toMatch(
    /^task host failed while it worked for task bad: task host did not answer for 2000 ms; the task was started again; 1 points that waited were lost$/,
  );
  expect(restarted.executing).toBe(true);
  await until('/engine/v1/tasks/good', ({ error }) => error.includes('the task was started again'));
  // Points since its state was saved come from the database; the others are from before its time.
  await until('/engine/v1/tasks/kept/o', ({ series }) => series?.[0]?.values[0][1] === 2);
  await write('m v=1 3');
  await until('/engine/v1/tasks/good/o', ({ series }) => series?.[0].values[0][1] === 1);

  // Now it is alone in its thread.
  await write(slow);
  const stopped = await until('/engine/v1/tasks/bad', ({ executing }) => !executing);
  expect(stopped.error).toBe(
    'task host failed while it worked for task bad: task host did not answer for 2000 ms',
  );
  expect(await call('GET', '/engine/v1/tasks/good')).toMatchObject({ executing: true });
  expect(await call('GET', '/engine/v1/tasks/good/o')).toMatchObject({
    series: [{ values: [[expect.anything(), 1]] }],
  });
  await database.close();
}, 120_000);

test('acknowledged points are processed before a graceful stop, and state continues after it', async () => {
  await start();
  await define('t', "stream|from()|eval(lambda: count()).as('n').keep('n')|httpOut('o')");
  const lines = Array.from({ length: 5_000 }, (_, i) => `m v=${i} ${i}`).join('\n');
  for (let i = 0; i < 10; i++) await write(lines);

  await engine.stop();
  await start();

  const { series } = await call('GET', '/engine/v1/tasks/t/o');
  expect(series[0].values[0][1]).toBe(50_000);
});

test('a task whose receiver never answers is given up when it is deleted, with what waits for it', async () => {
  const receiver = new TestServer(() => new Promise(() => undefined));
  await receiver.open();
  await start({ 'max-waiting-points': 1000, 'stop-timeout': '200ms' });
  await define('slow', `stream|from()|httpPost('${receiver.url}')`);
  const lines = Array.from({ length: 20_000 }, (_, i) => `m v=1 ${i + 1}`).join('\n');
  // More than twice of what a thread is given, so that some waits before it. The task takes up to
  // 10,000 of that and a slice.
  const writing = Promise.all(Array.from({ length: 15 }, () => write(lines)));
  await until('/engine/v1/tasks?fields=lag', ({ tasks }) => tasks[0].lag.waiting > 100_000);

  expect(await call('DELETE', '/engine/v1/tasks/slow')).toEqual({ status: 204 });
  await writing;

  expect(engine.log.join('\n')).toContain('task did not stop within 200 ms');
  await receiver.close();
});

test('a stop ends in time although a task is stuck and writes wait for it, and keeps the states of the others', async () => {
  const receiver = new TestServer(() => new Promise(() => undefined));
  await receiver.open();
  const settings = { 'max-waiting-points': 1000, 'snapshot-interval': '0s' };
  await start(settings, { http: { 'shutdown-timeout': '3s' } });
  await define('stuck', `stream|from().measurement('m')|httpPost('${receiver.url}')`);
  await define(
    'counts',
    "stream|from().measurement('n')|eval(lambda: count()).as('n').keep('n')|httpOut('o')",
  );
  await write('n v=1 1\nn v=1 2');
  const lines = Array.from({ length: 20_000 }, (_, i) => `m v=1 ${i + 1}`).join('\n');
  const writes: Promise<any>[] = [];
  // Until the thread has what it is given at most, and a write waits.
  await eventually('a write that waits', async () => {
    let isAnswered = false;
    const one = write(lines).finally(() => (isAnswered = true));
    writes.push(one);
    await Promise.race([one, new Promise((resolve) => setTimeout(resolve, 1000))]);
    return isAnswered ? undefined : true;
  });

  const begun = performance.now();
  await engine.stop();
  // On a busy machine; the limit of a task that is stopped alone is 10 s twice.
  expect(performance.now() - begun).toBeLessThan(15_000);

  expect(engine.log.join('\n')).toContain('has not taken all of its points');
  expect((await Promise.all(writes)).at(-1)).toEqual({
    error: expect.stringContaining('the engine stops'),
  });
  await receiver.close();
  await start(settings);
  const { series } = await call('GET', '/engine/v1/tasks/counts/o');
  expect(series[0].values[0][1]).toBe(2);
});

test('a script that a node refuses at its start is refused by the API in the same words', async () => {
  await start();
  const script = "stream|from()|httpOut('o')|httpOut('o')";
  const body = JSON.stringify({
    id: 't',
    dbrps: [{ db: 'd', rp: 'r' }],
    script,
    status: 'enabled',
  });

  expect(await call('POST', '/engine/v1/tasks', body)).toEqual({
    error: 'http_out endpoint "o" is used twice',
  });
  expect(await call('GET', '/engine/v1/tasks/t')).toEqual({
    error: 'no task exists with the id "t"',
  });
});

/** Reads a tap: `next` gives one message after the other, `undefined` at the end. */
async function tap(path: string): Promise<{ next: () => Promise<any>; close: () => void }> {
  const abort = new AbortController();
  const response = await fetch(engine.url + path, { signal: abort.signal });
  const decoder = new TextDecoder();
  const reader = response.body!.getReader();
  const lines: string[] = [];
  let rest = '';
  return {
    close: () => abort.abort(),
    next: async () => {
      while (lines.length === 0) {
        const { done, value } = await reader.read();
        if (done) return undefined;
        const parts = (rest + decoder.decode(value, { stream: true })).split('\n');
        rest = parts.pop() ?? '';
        lines.push(...parts);
      }
      return JSON.parse(lines.shift() ?? '');
    },
  };
}

test('a tap tells what leaves a node and why a condition failed, for one group, until the task ends', async () => {
  await start();
  await define(
    't',
    'stream|from().groupBy(\'h\')|where(lambda: "v" > 1 AND "ok")|eval(lambda: "v" * 2).as(\'d\').keep()',
  );
  const where = await tap('/engine/v1/taps/t/where2?group=h%3Da');
  const evaluated = await tap('/engine/v1/taps/t/eval3');
  const plain = await tap('/engine/v1/taps/t/where2?explain=false');

  await write('m,h=b v=9i,ok=true 1\nm,h=a v=3i,ok=false 2\nm,h=a v=4i,ok=true 3');

  expect(await where.next()).toEqual({
    kind: 'why',
    node: 'where2',
    group: 'h=a',
    time: '1970-01-01T00:00:00.000000002Z',
    outcome: 'dropped',
    conditions: [
      { label: 'where', text: '"v" > 1 AND "ok"', result: false, values: { v: 3, ok: false } },
      { label: 'where', text: '"v" > 1', result: true, values: { v: 3 }, isPart: true },
      { label: 'where', text: '"ok"', result: false, values: { ok: false }, isPart: true },
    ],
  });
  expect(await where.next()).toMatchObject({ kind: 'why', outcome: 'passed' });
  expect(await where.next()).toMatchObject({
    kind: 'point',
    name: 'm',
    fields: { v: 4, ok: true },
  });
  expect(await evaluated.next()).toMatchObject({
    kind: 'why',
    outcome: 'evaluated',
    conditions: [{ label: 'd', text: '"v" * 2', result: 18, values: { v: 9 } }],
  });
  expect(await evaluated.next()).toMatchObject({
    kind: 'point',
    fields: { v: 9, d: 18, ok: true },
  });
  expect(await plain.next()).toMatchObject({ kind: 'point', group: 'h=b' });
  plain.close();
  await call('DELETE', '/engine/v1/tasks/t');
  expect(await where.next()).toBeUndefined();
});

test('a tap on nothing says what there is', async () => {
  await start();
  await define('t', 'stream|from()');

  expect(await call('GET', '/engine/v1/taps/t/where9')).toEqual({
    error: 'no node "where9"; the task has stream0, from1',
  });
  expect(await call('GET', '/engine/v1/taps/other/from1')).toEqual({
    error: 'task "other" is not running',
  });
});

test('why an alert did not fire: each level with the values that it saw', async () => {
  await start();
  await define(
    't',
    'stream|from()|alert().warn(lambda: "v" > 5.0).crit(lambda: "v" > 9.0 OR "w" > 1.0).topic(\'x\')',
  );
  const seen = await tap('/engine/v1/taps/t/alert2');

  await write('m v=4 1');

  expect(await seen.next()).toMatchObject({
    kind: 'why',
    outcome: 'OK -> OK',
    conditions: [
      { label: 'warn', result: false, values: { v: 4 } },
      { label: 'crit', values: { v: 4 }, error: expect.stringContaining('"w"') },
      { label: 'crit', text: '"v" > 9.0', result: false, isPart: true },
      { label: 'crit', text: '"w" > 1.0', error: expect.stringContaining('"w"'), isPart: true },
    ],
  });
  seen.close();
});
