// The cause of a unit's last event, as it is known after a restart.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidRequest } from '@tidemark/core';
import type { AlertEvent } from '@tidemark/runtime';
import { sectionsOf, TestClock } from '@tidemark/testkit';
import { open } from 'lmdb';
import type { RootDatabase } from 'lmdb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AlertService } from './alert-service.ts';
import { AlertStore } from './alert-store.ts';
import { handlerContext } from './testing/handler-context.ts';
import { lmdbEntries } from './testing/lmdb-entries.ts';

const clock = new TestClock();
let directory: string;
let root: RootDatabase;
let alerts: AlertService;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'event-causes-'));
  start();
});

afterEach(async () => {
  await stop();
  rmSync(directory, { recursive: true, force: true });
});

function start(): void {
  root = open({ path: join(directory, 'a.mdb'), noSubdir: true, overlappingSync: false });
  alerts = new AlertService({
    store: new AlertStore(lmdbEntries(root), { clock, log: () => undefined }),
    context: handlerContext({
      section: sectionsOf({}).section,
      http: {
        send: () => Promise.resolve({ status: 200, headers: {}, body: '' }),
        close: () => Promise.resolve(),
      },
      connections: {
        use: () => Promise.reject(new InvalidRequest('not used')),
        discard: () => Promise.resolve(),
      },
    }),
    clock,
    log: () => undefined,
    random: () => 0.5,
    isPersistent: true,
  });
  alerts.open();
}

async function stop(): Promise<void> {
  await alerts.close(1000);
  await root.close();
}

function event(unit: string, record: number, row: number): AlertEvent {
  return {
    id: 'a',
    message: 'm',
    details: '',
    time: 1n,
    durationNanos: 0n,
    level: 'CRITICAL',
    isRecoverable: true,
    data: [],
    context: { name: 'm', taskName: 'task', group: '', category: '', tags: {}, fields: {} },
    cause: { unit, record, row },
  };
}

test('the last event of each unit is known, whatever its topic, and after a restart', async () => {
  alerts.publish('t', event('cpu#1/2', 7, 3));
  alerts.publish('t', event('cpu#2/2', 5, 0));
  alerts.publish('main:cpu:alert2', event('cpu#1/2', 8, 1));
  const before = alerts.lastCause('cpu#1/2');
  await stop();
  start();

  expect(before).toEqual({ unit: 'cpu#1/2', record: 8, row: 1 });
  expect(alerts.lastCause('cpu#1/2')).toEqual(before);
  expect(alerts.lastCause('cpu#2/2')).toEqual({ unit: 'cpu#2/2', record: 5, row: 0 });
  expect(alerts.eventState('main:cpu:alert2', 'a')).toMatchObject({ record: 8 });
});

test('an event without one leaves it, and the state of its topic has none', async () => {
  alerts.publish('t', event('cpu', 7, 3));
  const { cause: _, ...timed } = event('cpu', 0, 0);
  alerts.publish('t', timed);
  await stop();
  start();

  expect(alerts.lastCause('cpu')).toEqual({ unit: 'cpu', record: 7, row: 3 });
  expect(alerts.eventState('t', 'a')?.record).toBeUndefined();
});

test('it goes with the task', async () => {
  for (const unit of ['cpu', 'cpu#1/2', 'cpu2']) alerts.publish('t', event(unit, 7, 3));
  await alerts.deleteTopicsOf('a-replay', 'cpu2');
  await alerts.deleteTopicsOf('main', 'cpu');
  await stop();
  start();

  expect(['cpu', 'cpu#1/2', 'cpu2'].map((unit) => alerts.lastCause(unit)?.record)).toEqual([
    undefined,
    undefined,
    7,
  ]);
});
