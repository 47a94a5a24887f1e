// Which state tasks keep over a restart of the engine.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { fileURLToPath } from 'node:url';
import { deferred, systemClock, Unavailable } from '@tidemark/core';
import type { TaskState } from '@tidemark/runtime';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Executor } from './executor.ts';
import type { Unit } from './unit.ts';
import { Metadata } from '../store/metadata.ts';
import { Snapshots } from './snapshots.ts';
import type { SnapshotsOptions } from './snapshots.ts';
import { TestClock } from '@tidemark/testkit';
import { TestEngine } from '@tidemark/testkit/engine';

const DBRPS = [{ db: 'd', rp: 'r' }];
const COUNT = "stream|from()|eval(lambda: count()).as('n')|httpOut('o')";
const runningSum = fileURLToPath(
  new URL('../../../runtime/examples/udf-running-sum.mjs', import.meta.url),
);

let engine: TestEngine;

beforeEach(() => {
  engine = new TestEngine();
});

afterEach(() => engine.close());

/** Sends a request that must succeed. */
async function send(method: string, path: string, body?: unknown): Promise<any> {
  const { status, json } = await engine.call(method, path, body);
  expect(`${method} ${path}: ${status} ${status < 300 ? '' : JSON.stringify(json)}`).toMatch(
    /: 20[0-9] $/,
  );
  return json;
}

const post = (path: string, body?: unknown): Promise<any> => send('POST', path, body);
const patch = (path: string, body: unknown): Promise<any> => send('PATCH', path, body);

const define = (more: object = { script: COUNT }): Promise<any> =>
  post('/engine/v1/tasks', { id: 't', dbrps: DBRPS, status: 'enabled', ...more });

let lastTime = 0;
async function write(count = 1): Promise<void> {
  for (let i = 0; i < count; i++) await post('/write?db=d&rp=r', `m v=1 ${++lastTime}`);
}

/** How many points the task has counted, the last written included. */
async function counted(task = 't'): Promise<unknown> {
  const { series } = await send('GET', `/engine/v1/tasks/${task}/o`);
  return series[0]?.values[0]?.[1];
}

/** Ends the engine and starts it on what would be on its disk if it had been killed before. */
async function killAndStart(): Promise<void> {
  const { bytes } = await engine.call('GET', '/engine/v1/storage/backup');
  await engine.stop();
  rmSync(join(engine.directory, 'engine.mdb-lock'), { force: true });
  writeFileSync(join(engine.directory, 'engine.mdb'), bytes);
  await engine.start();
}

test(
  'the state of a user-defined function goes on after a restart',
  { timeout: 120_000 },
  async () => {
    const values = {
      task: { hosts: 'auto' },
      udf: { functions: { sum: { prog: process.execPath, args: [runningSum] } } },
    };
    await engine.start(values);
    await define({ script: "stream|from().groupBy('h')@sum().field('v')|httpOut('o')" });
    await post('/write?db=d&rp=r', 'm,h=a v=5 1\nm,h=a v=6 2');

    await engine.stop();
    await engine.start(values);
    await post('/write?db=d&rp=r', 'm,h=a v=1 3');
    // Saving at the stop waits for the answers of the function.
    await engine.stop();
    await engine.start(values);

    expect(await send('GET', '/engine/v1/tasks/t/o')).toMatchObject({
      series: [{ columns: ['time', 'sum', 'v'], values: [[expect.anything(), 12, 1]] }],
    });
  },
);

test('a task goes on with its state after a restart', async () => {
  await engine.start();
  await define();
  await write(2);

  await engine.stop();
  await engine.start();
  await write();

  expect(await counted()).toBe(3);
});

test('a task that was changed while it ran is another one after a restart', async () => {
  await engine.start();
  await define();
  await write(2);
  await patch('/engine/v1/tasks/t', { vars: { other: { type: 'int', value: 1 } } });

  await engine.stop();
  await engine.start();
  await write();

  expect(await counted()).toBe(1);
});

test.each([
  [
    'disabled and enabled',
    async () => {
      await patch('/engine/v1/tasks/t', { status: 'disabled' });
      await patch('/engine/v1/tasks/t', { status: 'enabled' });
    },
  ],
  [
    'reloaded with its template, whose script is the same',
    () => patch('/engine/v1/templates/tpl', { script: COUNT }),
  ],
  [
    'renamed and renamed back',
    async () => {
      await patch('/engine/v1/tasks/t', { id: 'u' });
      await patch('/engine/v1/tasks/u', { id: 't' });
    },
  ],
])(
  'a task that was %s began anew, and does not get its earlier state after a kill',
  async (_what, change) => {
    await engine.start();
    await post('/engine/v1/templates', { id: 'tpl', script: COUNT });
    await define({ 'template-id': 'tpl' });
    await write(2);
    // Saves the state, which then goes on.
    await engine.stop();
    await engine.start();
    await write();
    expect(await counted()).toBe(3);

    await change();
    await killAndStart();
    await write();

    expect(await counted()).toBe(1);
  },
);

test('an alert goes on from the last event also when the saved state is older and the event of long ago', async () => {
  const level = async (): Promise<unknown> =>
    (await send('GET', '/engine/v1preview/alerts/topics/t/events/e')).state.level;
  await engine.start();
  await define({
    script: `stream|from()|alert().id('e').crit(lambda: "v" > 5).stateChangesOnly().topic('t')`,
  });
  await post('/write?db=d&rp=r', 'm v=9 1');
  await engine.stop();
  await engine.start();
  await post('/write?db=d&rp=r', 'm v=0 2');
  expect(await level()).toBe('OK');

  await killAndStart();
  await post('/write?db=d&rp=r', 'm v=9 3');

  expect(await level()).toBe('CRITICAL');
});

/** With options of its own, or those under which nothing is said or waited for. */
function snapshotsOf(metadata: Metadata, own: Partial<SnapshotsOptions> = {}): Snapshots {
  return new Snapshots({
    metadata,
    clock: systemClock(),
    log: () => undefined,
    effectsStored: () => undefined,
    isEnabled: () => false,
    ...own,
  });
}

test('a state that knows of an alert is kept only behind the alert', async () => {
  const metadata = await Metadata.open(engine.directory);
  let stored: Promise<void> | undefined = Promise.reject(new Unavailable('no space left'));
  const errors: unknown[] = [];
  const snapshots = snapshotsOf(metadata, {
    log: (_level, _message, fields) => void errors.push(fields?.['err']),
    effectsStored: () => stored,
  });
  const task = { takeState: () => Promise.resolve(serialize('alerted')) };
  const entry = { unit: 't', definition: 'x', task, source: {} } as unknown as Unit;
  const executor = { units: () => [entry], unit: () => entry } as unknown as Executor;

  await snapshots.saveAll(executor);
  expect(snapshots.saved({ unit: 't', definition: 'x' })).toBeUndefined();
  expect(errors).toEqual(['no space left']);
  stored = undefined;
  await snapshots.saveAll(executor);

  expect(snapshots.saved({ unit: 't', definition: 'x' })).toBeDefined();
  await metadata.close();
});

test('the states of very many tasks are not in memory together', async () => {
  const metadata = await Metadata.open(engine.directory);
  const snapshots = snapshotsOf(metadata);
  let asked = 0;
  let askedMost = 0;
  const takeState = async (): Promise<Buffer> => {
    askedMost = Math.max(askedMost, ++asked);
    await new Promise((resolve) => setImmediate(resolve));
    asked--;
    return serialize('state');
  };
  const entries = new Map(
    Array.from({ length: 300 }, (_, i) => {
      const task = i === 7 ? { takeState: () => Promise.reject(new Error('no')) } : { takeState };
      return [`t${i}`, { unit: `t${i}`, definition: 'x', task, source: {} } as unknown as Unit];
    }),
  );
  const executor = {
    units: () => entries.values(),
    unit: (unit: string) => entries.get(unit),
  } as unknown as Executor;

  await snapshots.saveAll(executor);

  expect(askedMost).toBeLessThan(100);
  const saved = [...entries.keys()].filter(
    (unit) => snapshots.saved({ unit, definition: 'x' }) !== undefined,
  );
  expect(saved).toHaveLength(299);
  await metadata.close();
});

test('a state that was asked of a task which was started anew meanwhile is not kept', async () => {
  const metadata = await Metadata.open(engine.directory);
  const snapshots = snapshotsOf(metadata);
  let answer: (state: TaskState) => void = () => undefined;
  const state = new Promise<TaskState>((resolve) => (answer = resolve));
  const entryOf = (taken: Promise<TaskState>): Unit =>
    ({
      unit: 't',
      definition: 'x',
      task: { takeState: () => taken },
      source: {},
    }) as unknown as Unit;
  let entry = entryOf(state);
  const executor = { units: () => [entry], unit: () => entry } as unknown as Executor;
  const saved = (): unknown => {
    const bytes = snapshots.saved({ unit: 't', definition: 'x' });
    return bytes && deserialize(bytes);
  };

  const saving = snapshots.saveAll(executor);
  entry = entryOf(state);
  await snapshots.forget('t');
  answer(serialize('of the first'));
  await saving;
  expect(saved()).toBeUndefined();
  await snapshots.saveAll(executor);
  expect(saved()).toBe('of the first');
  await metadata.close();
});

test('when the engine stops, those tasks are not waited for whose state does not come', async () => {
  const metadata = await Metadata.open(engine.directory);
  const clock = new TestClock();
  const told: string[] = [];
  const snapshots = snapshotsOf(metadata, {
    clock,
    log: (_level, message) => void told.push(message),
    isEnabled: () => true,
  });
  const unitOf = (unit: string, state: Promise<TaskState>): Unit =>
    ({ unit, definition: 'x', task: { takeState: () => state }, source: {} }) as unknown as Unit;
  const silent = unitOf('silent', new Promise(() => undefined));
  const quick = unitOf('quick', Promise.resolve(serialize('state')));
  const units = [silent, quick];
  const executor = {
    units: () => units,
    unit: (unit: string) => units.find((one) => one.unit === unit),
  } as unknown as Executor;

  const saving = snapshots.saveAll(executor);
  snapshots.endWithin(2000);
  await clock.passTo(2_000_000_000n);
  await saving;

  expect(units.map((unit) => snapshots.saved(unit) !== undefined)).toEqual([false, true]);
  // Later requests may be left out too, and nobody waits for them.
  await snapshots.saveAll(executor);
  expect(told).toEqual([]);
  await metadata.close();
});

test.each(['before it is written', 'while it is written'])(
  'a state of a task whose thread fails %s does not say how far the log of points may be forgotten',
  async (when) => {
    const metadata = await Metadata.open(engine.directory);
    const alerts = deferred();
    const snapshots = snapshotsOf(metadata, { effectsStored: () => alerts.promise });
    const run = new AbortController();
    const source = { sequence: 7, run: undefined as AbortSignal | undefined };
    const task = { takeState: () => Promise.resolve(serialize('state')) };
    const entry = { unit: 't', definition: 'x', task, source } as unknown as Unit;
    const executor = { units: () => [entry], unit: () => entry } as unknown as Executor;
    alerts.resolve();
    await snapshots.saveAll(executor);
    source.run = run.signal;
    source.sequence = 9;

    // It is started again on the state of before, and is given the log from there.
    const saving = snapshots.saveAll(executor);
    const write = metadata.commit.bind(metadata);
    metadata.commit = async (...args) => {
      if (when === 'before it is written') run.abort();
      await write(...args);
      run.abort();
    };
    await saving;

    expect(snapshots.sequenceOf({ unit: 't', definition: 'x' })).toBe(7);
    await metadata.close();
  },
);

test('a task that has begun and loses its host before it tells a state is where it began', async () => {
  const metadata = await Metadata.open(engine.directory);
  const options: SnapshotsOptions = {
    metadata,
    clock: systemClock(),
    log: () => undefined,
    effectsStored: () => undefined,
    isEnabled: () => true,
  };
  const task = { takeState: () => Promise.reject(new Error('the host has ended')), error: 'ended' };
  const source = { begin: 7, begun: 5n, sequence: 9 };
  const unit = { unit: 't', definition: 'x', task, source } as unknown as Unit;
  const executor = { units: () => [unit], unit: () => unit } as unknown as Executor;

  await new Snapshots(options).begin(executor, [unit]);

  const next = new Snapshots(options);
  expect(next.saved(unit)).toBeUndefined();
  expect(next.sequenceOf(unit)).toBe(7);
  expect(next.beginning(unit)).toEqual({ sequence: 7, begun: 5n });
  expect(new Snapshots(options).sequenceOf({ ...unit, definition: 'y' })).toBeUndefined();
  await metadata.close();
});

test('a part that waits for others to start is where it began', async () => {
  const metadata = await Metadata.open(engine.directory);
  const snapshots = snapshotsOf(metadata);
  const failing = { takeState: () => Promise.reject(new Error('the host has ended')) };
  const source = { begin: 7, begun: 5n, sequence: 9 };
  const begun = { unit: 't', definition: 'x', task: failing, source } as unknown as Unit;
  const executorOf = (unit: Unit): Executor =>
    ({ units: () => [unit], unit: () => unit }) as unknown as Executor;
  await snapshots.begin(executorOf(begun), [begun]);
  // Started again, from there: it has no source yet.
  const task = { takeState: () => Promise.resolve(serialize('state')) };
  const starting = { unit: 't', definition: 'x', task, source: undefined } as unknown as Unit;

  await snapshots.saveAll(executorOf(starting));

  expect(snapshots.saved(starting)).toBeUndefined();
  expect(snapshots.sequenceOf(starting)).toBe(7);
  expect(snapshots.beginning(starting)).toEqual({ sequence: 7, begun: 5n });
  await metadata.close();
});

test('a state does not replace a newer one that another save was faster with', async () => {
  const metadata = await Metadata.open(engine.directory);
  const snapshots = snapshotsOf(metadata);
  const slow = deferred();
  let sequence = 1;
  const sourceOf = (): object => ({
    run: new AbortController().signal,
    get sequence() {
      return sequence;
    },
  });
  const unitOf = (unit: string, takeState: () => Promise<TaskState>): Unit =>
    ({ unit, definition: 'x', task: { takeState }, source: sourceOf() }) as unknown as Unit;
  const moved = unitOf('moved', () => Promise.resolve(serialize(`at ${sequence}`)));
  const late = unitOf('late', () => slow.promise.then(() => serialize('late')));
  const units = [moved, late];
  const executor = {
    units: () => units,
    unit: (name: string) => units.find(({ unit }) => unit === name),
  } as unknown as Executor;

  const all = snapshots.saveAll(executor);
  sequence = 2;
  expect(await snapshots.save(executor, [moved])).toBe(true);
  slow.resolve();
  await all;

  expect(deserialize(snapshots.saved(moved) as Buffer)).toBe('at 2');
  expect(snapshots.sequenceOf(moved)).toBe(2);
  expect(snapshots.saved(late)).toBeDefined();
  await metadata.close();
});

test('forgetting a task removes the states of all its parts, and of no other task', async () => {
  const metadata = await Metadata.open(engine.directory);
  const snapshots = snapshotsOf(metadata);
  const task = { takeState: () => Promise.resolve(serialize('state')) };
  const names = ['t', 't#1/2', 't#2/2', 't-2', 't2', 't#1/11'];
  const units = names.map(
    (unit) => ({ unit, definition: 'x', task, source: {} }) as unknown as Unit,
  );
  const executor = {
    units: () => units,
    unit: (name: string) => units.find(({ unit }) => unit === name),
  } as unknown as Executor;
  await snapshots.saveAll(executor);

  await snapshots.forget('t');

  const left = names.filter((unit) => snapshots.saved({ unit, definition: 'x' }) !== undefined);
  expect(left).toEqual(['t-2', 't2']);
  await metadata.close();
});

test('the state of a task that has died stays as long as the task is enabled', async () => {
  const metadata = await Metadata.open(engine.directory);
  const enabled = new Set(['died', 'parted', 'disabled']);
  const snapshots = snapshotsOf(metadata, { isEnabled: (task) => enabled.has(task) });
  const task = { takeState: () => Promise.resolve(serialize('state')) };
  const entries = ['died', 'parted#1/2', 'disabled'].map(
    (unit) => ({ unit, definition: 'x', task, source: {} }) as unknown as Unit,
  );
  let running: readonly Unit[] = entries;
  const executor = {
    units: () => running,
    unit: (unit: string) => running.find((entry) => entry.unit === unit),
  } as unknown as Executor;
  await snapshots.saveAll(executor);
  running = [];
  enabled.delete('disabled');

  await snapshots.saveAll(executor);

  expect(entries.map((unit) => snapshots.saved(unit) !== undefined)).toEqual([true, true, false]);
  await metadata.close();
});
