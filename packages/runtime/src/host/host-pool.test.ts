// Tasks in threads of their own: they behave like tasks in this thread, and cannot affect other
// tasks.
import { fileURLToPath } from 'node:url';
import { systemClock } from '@tidemark/core';
import { buildPipeline } from '@tidemark/pipeline';
import type { Pipeline, UdfRegistry } from '@tidemark/pipeline';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import type { EventCause } from '../event-cause.ts';
import type { PointBatch } from '../point-batch.ts';
import { PointBatchBuilder } from '../point-batch.ts';
import type { TapMessage, TaskOptions } from '../running-task.ts';
import type { AlertEvent } from '../services.ts';
import { silentServices } from '../testing/silent-services.ts';
import { Inhibitions } from '../inhibitions.ts';
import type { HostedTaskServices, StateListener } from './hosted-services.ts';
import { createTask } from '../task.ts';
import { VirtualTimers } from '../timers.ts';
import type { HostPoolOptions } from './host-pool.ts';
import { HostPool } from './host-pool.ts';
import type { HostedTask } from './hosted-task.ts';

const clock = systemClock();

/** Things that happened, and a way to wait for one of them. */
class Record<T> {
  readonly all: T[] = [];
  #wake: () => void = () => undefined;

  add(item: T): void {
    this.all.push(item);
    this.#wake();
  }

  async until(fits: (item: T) => boolean): Promise<T> {
    for (;;) {
      const found = this.all.find(fits);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

const sum = fileURLToPath(new URL('../../examples/udf-running-sum.mjs', import.meta.url));

let pool: HostPool;
let events: Record<{ readonly topic: string; readonly event: AlertEvent }>;
let told: Record<string>;
let remembered: Map<string, 'OK' | 'CRITICAL'>;
let lastCause: EventCause | undefined;
let follow: StateListener;
let checking: AbortController;

/** Most tests share one pool: starting a thread is most of their time. */
let shared: HostPool | undefined;
const inhibitions = new Inhibitions();

function open(options?: Partial<HostPoolOptions>): void {
  if (options === undefined) pool = shared ??= openPool({});
  else pool = openPool(options);
}

function openPool(options: Partial<HostPoolOptions>): HostPool {
  return new HostPool({
    hostCount: 1,
    clock,
    inhibitions,
    functions: new Map([
      ['sum', { prog: process.execPath, args: [sum], env: {}, timeoutMs: 0 }],
      [
        'silent',
        {
          prog: process.execPath,
          args: ['-e', 'setInterval(() => {}, 1e6)'],
          env: {},
          timeoutMs: 0,
        },
      ],
    ]),
    server: { hostname: 'h', clusterId: 'c', serverId: 's' },
    memoryMiB: 0,
    hostTimeoutMs: 10_000,
    stopTimeoutMs: () => 10_000,
    followStates: (listener) => {
      follow = listener;
      return () => undefined;
    },
    log: (_level, message) => told.add(message),
    logUdf: () => undefined,
    ...options,
  });
}

/** Looks after the hosts as the engine does; ten unanswered checks are ten seconds to them. */
async function lookAfter(intervalMs: number): Promise<void> {
  while (!checking.signal.aborted) {
    await clock.sleep(intervalMs, checking.signal).catch(() => undefined);
    await pool.check();
  }
}

beforeEach(() => {
  events = new Record();
  told = new Record();
  remembered = new Map();
  lastCause = undefined;
  checking = new AbortController();
});

afterEach(async () => {
  checking.abort();
  if (pool !== shared) await pool.close();
});

afterAll(() => shared?.close());

function services(more: Partial<HostedTaskServices> = {}): HostedTaskServices {
  return {
    alerts: {
      inhibitions,
      openAnonymousTopic: (topic) => told.add(`open ${topic}`),
      closeAnonymousTopic: (topic) => told.add(`close ${topic}`),
      publish: (topic, event) => events.add({ topic, event }),
      openTopic: () => undefined,
      lastCause: () => lastCause,
      eventStates: () =>
        [...remembered].map(([id, level]) => [id, { level, time: 0n, durationNanos: 0n }] as const),
      updateEvent: () => undefined,
    },
    database: {
      writeLines: (target, body) => {
        told.add(`${target.database} ${target.precision} ${body}`);
        return Promise.resolve();
      },
      execute: (_cluster, statement) => {
        told.add(statement);
        return Promise.resolve();
      },
      query: () => Promise.resolve([]),
    },
    loopback: {
      writeBatch: (batch) => told.add(`${batch.database} ${batch.rowCount} rows`),
    },
    http: {
      send: (request) => {
        told.add(`${request.method} ${request.url}`);
        return Promise.resolve({ status: 200, body: '' });
      },
      endpoint: (name) => (name === 'e' ? { url: 'http://e/', headers: {} } : undefined),
    },
    log: {
      log: (level, node, message, context) =>
        told.add(`${level} ${node} ${message} ${String(context?.['err'] ?? '')}`),
    },
    scalerCluster: () => undefined,
    sideload: undefined,
    ...more,
  };
}

const udfs: UdfRegistry = new Map([
  ['sum', { wants: 'stream', provides: 'stream', options: { field: ['string'] } }],
  ['silent', { wants: 'stream', provides: 'stream', options: {} }],
]);

function pipelineOf(script: string): Pipeline {
  const { pipeline, error } = buildPipeline(script, { udfs });
  if (pipeline === undefined) throw new Error(error?.text);
  return pipeline;
}

function make(
  id: string,
  script: string,
  more: { options?: Partial<TaskOptions>; services?: Partial<HostedTaskServices> } = {},
): HostedTask {
  const options = { taskId: id, clock, ...more.options };
  return pool.createTask(pipelineOf(script), services(more.services), options);
}

async function start(
  id: string,
  script: string,
  more: Parameters<typeof make>[2] = {},
): Promise<HostedTask> {
  const task = make(id, script, more);
  await task.start();
  return task;
}

function points(values: readonly (number | string)[], host = 'a', first = 1): PointBatch {
  const builder = new PointBatchBuilder('d', 'r');
  values.forEach((v, i) =>
    builder.add({ name: 'm', tags: [['h', host]], fields: [['v', v]], time: BigInt(i + first) }),
  );
  return builder.build();
}

test('counters are asked for again only when their thread has worked since', async () => {
  open();
  const task = await start('t', `stream|from()|httpOut('o')`);
  task.push(points([1]));
  await task.drain();
  await task.refresh();
  const first = task.stats();

  await task.httpOutput('o');
  await task.refresh();
  expect(task.stats()).toBe(first);

  task.push(points([2]));
  await task.refresh();
  expect(task.stats().collected).toBe(2);
  expect(first.collected).toBe(1);
});

/** Takes a time that the length of its text decides. */
/** Hundreds of states for each letter. */
const ENDLESS = `stream|from()|eval(lambda: regexReplace(/(x?){300}[yz]/, "v", 'yy')).as('n').keep('n')`;
const SLOW = `stream|from()|eval(lambda: regexReplace(/x/, "v", 'yy')).as('n').keep('n')`;

test('points, counters, outputs and state of a task cross its thread', async () => {
  open();
  const script = `stream|from().groupBy('h')|eval(lambda: count()).as('n').keep('n')|httpOut('o')`;
  const task = await start('t', script);

  task.push(points([1, 2, 3]));
  const state = await task.takeState();
  await task.refresh();

  expect(task.stats().nodes.get('eval2')).toMatchObject({ collected: 3, emitted: 3, errors: 0 });
  expect(await task.httpOutput('o')).toMatchObject([
    { name: 'm', tags: { h: 'a' }, columns: ['time', 'n'], values: [[3n, 3n]] },
  ]);
  expect(await task.httpOutput('other')).toBeUndefined();
  await task.close();

  const next = make('t', script);
  next.restore(state);
  await next.start();
  next.push(points([4]));
  await next.drain();
  expect(await next.httpOutput('o')).toMatchObject([{ values: [[1n, 4n]] }]);
  await next.close();
});

test('a task that is given a log again tells what it has not told, and by which row it was caused', async () => {
  open();
  const script = `stream|from()|alert().id('x').crit(lambda: "v" > 1.0).topic('top')`;
  const logged = (record: number, values: readonly number[]): PointBatch => ({
    ...points(values),
    record,
  });
  const task = make('t', script, { options: { position: { latenessNanos: 0n } } });
  await task.start();
  const state = await task.takeState();
  task.push(logged(7, [5, 6]));
  task.push(logged(8, [7]));
  await task.drain();
  await task.close();
  const causes = [
    { unit: 't', record: 7, row: 0 },
    { unit: 't', record: 7, row: 1 },
    { unit: 't', record: 8, row: 0 },
  ];
  expect(events.all.map(({ event }) => event.cause)).toEqual(causes);

  lastCause = causes[1];
  const rerun = { now: 0n, since: 0n, begun: 0n, record: 0 };
  const next = make('t', script, { options: { position: { latenessNanos: 0n }, rerun } });
  next.restore(state);
  await next.start();
  next.pushDue(logged(7, [5, 6]), { at: 1n });
  next.pushDue(logged(8, [7]), { at: 2n });
  next.goLive();
  await next.drain();
  await next.close();

  expect(events.all.slice(3).map(({ event }) => event.cause)).toEqual([causes[2]]);
});

test('messages and requests of nodes reach the services: events, writes, loops, requests, logs', async () => {
  open();
  remembered.set('a', 'CRITICAL');
  const task = await start(
    't',
    `var s = stream|from().groupBy('h')
s|alert().id('{{ index .Tags "h" }}').crit(lambda: "v" > 1.0).topic('top').stateChangesOnly()
s|influxDBOut().create().database('out').precision('s').buffer(1)
s|kapacitorLoopback().database('loop').retentionPolicy('r')
s|httpPost('http://x/y')
s|httpPost().endpoint('e')
s|log().prefix('seen')`,
  );

  task.push(points([5]));
  task.push(points([5], 'b'));
  await task.drain();
  await task.close();

  // The topic remembers that `a` is critical already.
  expect(events.all.map(({ topic, event }) => [topic, event.id, event.level])).toEqual([
    ['top', 'b', 'CRITICAL'],
  ]);
  expect(told.all).toEqual(
    expect.arrayContaining([
      'CREATE DATABASE "out"',
      'out s m,h=a v=5 0',
      'loop 1 rows',
      'POST http://x/y',
      'POST http://e/',
      expect.stringContaining('info log7 seen'),
    ]),
  );
});

test('a start that a node refuses is rejected with its words, and nothing is left', async () => {
  open();
  const task = make('t', `stream|from()|httpOut('o')|httpOut('o')`);

  await expect(task.start()).rejects.toThrow('http_out endpoint "o" is used twice');

  expect(await task.httpOutput('o')).toBeUndefined();
});

test('user-defined functions run beside their task, and their state is part of its state', async () => {
  open();
  const script = `stream|from().groupBy('h')@sum().field('v')|httpOut('o')`;
  const task = await start('t', script);
  task.push(points([1, 2]));
  const state = await task.takeState();
  await task.close();

  const next = make('t', script);
  next.restore(state);
  await next.start();
  next.push(points([10]));
  await next.drain();

  expect(await next.httpOutput('o')).toMatchObject([{ values: [[1n, 13, 10]] }]);
  await next.close();
});

test('a task that waits for a silent function delays nobody, and is given up when it is stopped', async () => {
  open({ stopTimeoutMs: () => 100 });
  const stuck = make('stuck', `stream|from()@silent()`);
  // The function never answers, not even to the first message.
  const starting = stuck.start();
  const task = await start('t', `stream|from()|httpOut('o')`);

  task.push(points([1]));
  await task.drain();

  expect(await task.httpOutput('o')).toMatchObject([{ values: [[1n, 1]] }]);
  await stuck.close();
  await pool.close();
  await expect(starting).rejects.toThrow();
});

test('points of a busy task are cut into slices, so that its neighbour has its turn between them', async () => {
  open();
  const busy = await start('busy', SLOW);
  const light = await start('light', `stream|from()|where(lambda: "v" == 'a')`);
  // Far more work than one turn.
  busy.push(points(Array.from({ length: 200 }, () => 'x'.repeat(1000))));
  light.push(points(['a']));

  const ended: string[] = [];
  await Promise.all([
    busy.drain().then(() => ended.push('busy')),
    light.drain().then(() => ended.push('light')),
  ]);

  expect(ended).toEqual(['light', 'busy']);
  await light.refresh();
  expect(light.stats().collected).toBe(1);
  await busy.refresh();
  expect(busy.stats().collected).toBe(200);
});

test('requests to a busy task are refused when its host discards it first', async () => {
  open();
  const busy = await start('busy', SLOW);
  busy.push(points(Array.from({ length: 200 }, () => 'x'.repeat(1000))));

  const state = busy.takeState();
  busy.client.send({ kind: 'discard', task: busy.id });

  await expect(state).rejects.toThrow('task is not running');
  await busy.close();
});

test('a task that holds its thread is stopped with its reason, its neighbours go on with their saved state', async () => {
  open({ hostTimeoutMs: 10_000 });
  const script = `stream|from()|eval(lambda: count()).as('n').keep('n')|httpOut('o')`;
  const saved: Uint8Array[] = [];
  const good = await start('good', script, {
    options: { savedState: () => saved[0] && { state: saved[0] } },
  });
  good.push(points([1, 2]));
  saved.push(await good.takeState());
  const restarted = new Record<string>();
  good.onRestarted((reason) => restarted.add(reason ?? ''));
  const bad = await start('bad', ENDLESS);
  const died = new Record<string>();
  bad.onRestarted((reason) => restarted.add(reason ?? ''));
  bad.onError((error) => died.add(error));
  const looking = lookAfter(200);

  // One value of 5 MB, about a minute: nothing can be done about it between two rows.
  const endless = points(['x'.repeat(5_000_000)]);
  bad.push(endless);
  await restarted.until((reason) => reason.includes('task bad'));
  good.push(points([3]));
  await good.drain();

  expect(await good.httpOutput('o')).toMatchObject([{ values: [[1n, 3n]] }]);
  expect(restarted.all).toEqual(
    Array.from({ length: restarted.all.length }, () =>
      expect.stringMatching(
        /^task host failed while it worked for task bad: task host did not answer for 10000 ms; the task was started again/,
      ),
    ),
  );
  // A second time it is alone, and stays stopped.
  await restarted.until((reason) => reason.includes('1 points that waited were lost'));
  bad.push(endless);
  expect(await died.until(() => true)).toBe(
    'task host failed while it worked for task bad: task host did not answer for 10000 ms',
  );
  expect(good.error).toBeUndefined();
  expect(restarted.all.length).toBe(2);
  checking.abort();
  await looking;
}, 60_000);

test('a host that runs out of memory fails alone: its tasks are started again', async () => {
  // Enough to load the sources in: less is not the greedy task's fault.
  open({ memoryMiB: 96 });
  const greedy = await start(
    'greedy',
    `stream|from()|window().period(1000h).every(1000h)|count('v')`,
  );
  const other = await start('other', `stream|from()|httpOut('o')`);
  const restarted = new Record<string>();
  for (const task of [greedy, other]) task.onRestarted((reason) => restarted.add(reason ?? ''));

  const many = points(Array.from({ length: 5_000 }, (_, i) => `${i}`.padEnd(300, 'x')));
  while (restarted.all.length === 0) {
    greedy.push(many);
    await greedy.ready();
    await greedy.refresh();
  }
  while (restarted.all.length < 2) await restarted.until(() => restarted.all.length === 2);

  expect(restarted.all[0]).toMatch(/^task host failed.*memory.*the task was started again/);
  other.push(points([7]));
  await other.drain();
  expect(await other.httpOutput('o')).toMatchObject([{ values: [[1n, 7]] }]);
}, 60_000);

test('a task whose host fails while it starts begins on another one', async () => {
  open({});
  const task = make('t', `stream|from()|httpOut('o')`);
  const starting = task.start();

  await task.client.terminate({ isExpected: false, reason: 'it broke' });

  await starting;
  task.push(points([7]));
  await task.drain();
  expect(await task.httpOutput('o')).toMatchObject([{ values: [[1n, 7]] }]);
});

test('a host that points cannot be sent to ends: its tasks go on from their saved states', async () => {
  open({});
  const saved = { state: undefined as Uint8Array | undefined };
  const task = await start('t', `stream|from()|stateCount(lambda: TRUE)|httpOut('o')`, {
    options: { savedState: () => saved },
  });
  const restarted = new Record<string>();
  task.onRestarted((reason) => restarted.add(reason ?? ''));
  task.push(points([1]));
  saved.state = await task.takeState();

  const gone = points([2]);
  structuredClone(undefined, { transfer: [gone.times.buffer as ArrayBuffer] });
  task.push(gone);
  await expect(task.takeState()).rejects.toThrow(/points cannot be sent/);

  expect(await restarted.until(() => true)).toMatch(/^task host failed: points cannot be sent/);
  task.push(points([3]));
  await task.drain();
  expect(await task.httpOutput('o')).toMatchObject([{ values: [[1n, 2n, 3]] }]);
});

test('taps see what leaves a node, go on after a restart, and end', async () => {
  open();
  const task = await start('t', `stream|from().groupBy('h')|where(lambda: "v" > 1.0)`);
  const seen = new Record<TapMessage>();
  const stop = task.tap('where2', (message) => seen.add(message), { isExplaining: true });

  task.push(points([1, 2]));
  await task.drain();

  expect(seen.all).toMatchObject([
    { kind: 'why', outcome: 'dropped', conditions: [{ label: 'where', values: { v: 1 } }] },
    { kind: 'why', outcome: 'passed' },
    { kind: 'point', group: 'h=a', point: { name: 'm', time: 2n } },
  ]);
  stop();
  task.push(points([3]));
  await task.drain();
  expect(seen.all.length).toBe(3);
});

test('states that others change in a topic reach the host', async () => {
  open({});
  const script = `stream|from().groupBy('h')|alert().id('e').crit(lambda: "v" > 1.0).topic('top').stateChangesOnly()`;
  const task = await start('t', script);
  follow('top', 'e', { level: 'CRITICAL', time: 0n, durationNanos: 0n });

  task.push(points([0]));
  await task.drain();

  // The group begins at the level that the topic has by now, so that falling is a change.
  expect(events.all.map(({ event }) => event.level)).toEqual(['OK']);
});

test('a task that died leaves nothing behind in its host', async () => {
  open();
  remembered.set('e', 'CRITICAL');
  const script = (message: string): string =>
    `stream|from()|alert().id('e').message('${message}').crit(lambda: "v" > 1.0).topic('top').stateChangesOnly()`;
  const dying = await start('t', script('{{ .Nope }}'));
  const died = new Record<string>();
  dying.onError((error) => died.add(error));
  dying.push(points([0]));
  await died.until((error) => error.includes('Nope'));
  expect(dying.stats().nodes.get('alert2')?.collected).toBe(1);

  // Since then the topic was deleted.
  remembered.clear();
  const task = await start('t', script('fine'));
  task.push(points([5]));
  await task.drain();

  expect(events.all.map(({ event }) => event.level)).toEqual(['CRITICAL']);
});

test('columns are moved when nobody else keeps them, and the rows arrive all the same', async () => {
  open();
  const task = await start('t', `stream|from()|httpOut('o')`);
  const batch = points(Array.from({ length: 1000 }, (_, i) => i));

  task.push(batch);
  task.taker.takeOver(batch);
  await task.drain();

  expect(batch.times.length).toBe(0);
  await task.refresh();
  expect(task.stats().collected).toBe(1000);
});

test('closing processes what was pushed before', async () => {
  open();
  const task = await start(
    't',
    `stream|from()|window().periodCount(10000).everyCount(10000)|count('v')`,
  );
  for (let i = 0; i < 20; i++) task.push(points(Array.from({ length: 5000 }, (_, k) => k)));

  await task.close();

  expect(task.stats().collected).toBe(100_000);
  expect(task.stats().nodes.get('count3')?.collected).toBe(10);
});

test('a replay has a time of its own, the same as in this thread, and can be read after its end', async () => {
  open();
  const script = `stream|from().groupBy('h')|barrier().idle(1u)|eval(lambda: count(), lambda: unixNano(now())).as('n', 'now').keep('n', 'now')|httpOut('o')`;
  const options = (): TaskOptions => ({
    taskId: 'replay',
    clock,
    isReplay: true,
    timers: new VirtualTimers(100n),
  });
  const hosted = make('replay', script, { options: options() });
  const inline = createTask(pipelineOf(script), silentServices(), options());
  const seen: TapMessage[][] = [[], []];
  await Promise.all([hosted, inline].map((task) => task.start()));
  [hosted, inline].forEach((task, i) => task.tap('barrier2', (m) => seen[i]?.push(m)));

  for (const task of [hosted, inline]) {
    // The first point lies at the start of the replay.
    task.pushDue(points([1, 2, 3]), { offset: 99n });
    task.advanceTo(2000n);
    task.pushDue(points([4], 'a', 2100), { offset: 0n });
    await task.drain();
    await task.close();
  }

  expect(await hosted.httpOutput('o')).toEqual([
    expect.objectContaining({ columns: ['time', 'n', 'now'], values: [[2100n, 4n, 2100n]] }),
  ]);
  expect(await hosted.httpOutput('o')).toEqual(inline.httpOutput('o'));
  expect(seen[0]).toEqual(seen[1]);
  expect(seen[0]?.map(({ kind }) => kind)).toEqual(['point', 'point', 'point', 'barrier', 'point']);
  expect(hosted.stats().nodes.get('barrier2')).toMatchObject({ collected: 4, emitted: 4 });
});

test('a replay whose host fails ends with the reason', async () => {
  open({});
  const options = { isReplay: true, timers: new VirtualTimers(0n) };
  const replay = await start('replay', `stream|from()|httpOut('o')`, { options });
  const died = new Record<string>();
  replay.onError((error) => died.add(error));

  await replay.client.terminate({ isExpected: false, reason: 'it broke' });

  expect(await died.until(() => true)).toBe('task host failed: it broke');
  expect(replay.error).toBe('task host failed: it broke');
  await replay.close();
});

test('results of queries count like rows: one that is too many makes the task ask to wait', async () => {
  open();
  const task = await start('t', `batch|query('SELECT v FROM d.r.m').period(1s).every(1s)`);
  const values = Array.from({ length: 140_000 }, (_, i) => [BigInt(i), 1]);

  task.pushQueryResult('query1', [{ name: 'm', tags: {}, columns: ['time', 'v'], values }], {
    stop: 1n,
  });

  expect(task.ready()).toBeInstanceOf(Promise);
  await task.ready();
  expect(task.ready()).toBeUndefined();
  await task.close();
});
