// The start of all enabled tasks, several at the same time.
import { deferred, InvalidRequest, Unavailable } from '@tidemark/core';
import { expect, test } from 'vitest';

import { ChangeLock } from './change-lock.ts';
import { TaskStarts } from './task-starts.ts';
import type { TaskStartsOptions } from './task-starts.ts';

test('a reason that cannot be stored is thrown after the starts that are under way', async () => {
  const goesOn = deferred();
  const empty = { script: '', varsJson: '{}', error: '', dbrps: [] };
  const task = { ...empty, status: 'enabled', lastEnabled: '' };
  const records = new Map([
    ['bad', { ...task, id: 'bad' }],
    ['good', { ...task, id: 'good' }],
  ]);
  const disk = new Unavailable('the disk is full');
  const starts = new TaskStarts({
    lock: new ChangeLock(),
    records: {
      values: () => records.values(),
      get: (id: string) => records.get(id),
      put: () => Promise.reject(disk),
    },
    checks: {
      startableOf: ({ id }: { readonly id: string }) => {
        if (id === 'bad') throw new InvalidRequest('no such node');
        return { pipeline: { nodes: [] } };
      },
      diagnosticsOf: () => [],
    },
    executor: { start: () => goesOn.promise.then(() => []) },
    snapshots: {},
    redactor: { addOwned: () => {}, setOwned: () => {}, redact: (text: string) => text },
    onStarted: () => {},
    log: () => {},
  } as unknown as TaskStartsOptions);
  let outcome: unknown;

  const resumed = starts.resumeEnabled().catch((error: unknown) => {
    outcome = error;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(outcome).toBeUndefined();
  goesOn.resolve();
  await resumed;

  expect(outcome).toBe(disk);
});
