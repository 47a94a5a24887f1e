import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Cancelled, Conflict, LimitExceeded, Unavailable } from '@tidemark/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { joinBackups, storeBackup } from '../backup/chain.ts';
import { EVERYTHING, POLICY, scanRows, write } from '../testing/fixtures.ts';
import { errorFromMessage, errorToMessage } from './errors.ts';
import { openStorage } from './open-storage.ts';
import type { ThreadedEngine } from './open-storage.ts';
import { eachBatch } from '@tidemark/query';
import type { ScanRequest } from '@tidemark/query';

let directory: string;
let engine: ThreadedEngine;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'storage-thread-'));
  engine = await openStorage({ directory });
});

afterEach(async () => {
  await engine.close();
  rmSync(directory, { recursive: true, force: true });
});

test('writes and reads cross the thread, from memory and from segments', async () => {
  const outcome = await write(engine, 'm,t=a f=1,s="x" 1\nm,t=b f=2 2\nbad\n');
  const rows = [
    ['m,t=a', 1n, 1, 'x'],
    ['m,t=b', 2n, 2, null],
  ];
  const fields = [
    ['f', 'float'],
    ['s', 'string'],
  ] as const;

  expect(outcome).toMatchObject({ pointsWritten: 2, valuesWritten: 3 });
  expect(await scanRows(engine, 'm', fields)).toEqual(rows);
  await engine.flush();
  expect(await scanRows(engine, 'm', fields)).toEqual(rows);
});

test('the size of what crosses the thread is told, texts included', async () => {
  await write(engine, `m,t=a s="${'x'.repeat(10_000)}" 1\nm,t=b s="y" 2\n`);
  const { signal } = new AbortController();
  const source = { database: 'db', retentionPolicy: 'autogen', measurement: 'm' };
  const sizes: number[] = [];
  const memory = {
    openSource: () => ({
      grantedBytes: 1 << 20,
      ask: () => Promise.resolve(),
      release: () => undefined,
    }),
    received: (sizeBytes: number) => sizes.push(sizeBytes),
  };
  const snapshot = engine.source.snapshot();
  const request: ScanRequest = {
    source,
    timeRange: EVERYTHING,
    fields: [{ name: 's', type: 'string' }],
    tags: [],
    groupBy: [],
    descending: false,
  };
  let rowCount = 0;
  for await (const { times } of eachBatch(snapshot.scan(request, { signal, memory }))) {
    rowCount += times.length;
  }
  snapshot.close();

  expect(rowCount).toBe(2);
  const sum = sizes.reduce((total, each) => total + each, 0);
  expect(sum).toBeGreaterThan(10_000);
  expect(sum).toBeLessThan(20_000);
});

test('a second engine on the same directory is refused and names the owner', async () => {
  await expect(openStorage({ directory })).rejects.toThrow(Conflict);
  await expect(openStorage({ directory })).rejects.toThrow(`process ${process.pid};`);
});

test('a backup and its restore cross the thread, and end early without a trace', async () => {
  await write(engine, 'm,t=a f=1,s="x" 1\n');
  const file = join(directory, 'backup');
  const request = { databases: new Map([['db', 'copy']]), policies: new Map([[1, 7]]) };
  const broken = async function* () {
    yield* [new Uint8Array(5)];
    throw new Error('the connection broke');
  };

  const summary = await storeBackup(file, engine.backup({}));
  await expect(engine.restore(request, broken())).rejects.toThrow('the connection broke');
  const report = await engine.restore(request, joinBackups([file]));
  await expect(engine.restore(request, joinBackups([file]))).rejects.toThrow(Conflict);
  const unfinished = engine.backup({});
  await unfinished.next();
  await unfinished.return(undefined);

  expect(summary).toMatchObject({ databases: ['db'], segments: 1 });
  expect(report).toMatchObject({ databases: ['copy'], segments: 1 });
  expect((await engine.statistics()).counters['openSnapshots']).toBe(0);
  const source = { database: 'copy', retentionPolicy: 'autogen', measurement: 'm' };
  expect(await scanRows(engine, 'm', [['f', 'float']], { source })).toEqual([['m,t=a', 1n, 1]]);
});

test('a directory can be opened again after it was closed', async () => {
  await write(engine, 'm f=1 1\n');
  await engine.close();
  engine = await openStorage({ directory });

  expect(await scanRows(engine, 'm', [['f', 'float']])).toEqual([['m', 1n, 1]]);
});

test.each([
  [
    'the reason that was given',
    new LimitExceeded('query-timeout limit exceeded', 'x'),
    LimitExceeded,
  ],
  ['an error of its own where there is none', new Error('enough'), Cancelled],
])('a cancelled request ends with %s, and others go on', async (_name, reason, thrown) => {
  await write(engine, 'm f=1 1\n');
  const abort = new AbortController();
  const snapshot = engine.source.snapshot();
  const batches = snapshot.scan(
    {
      source: { database: 'db', retentionPolicy: 'autogen', measurement: 'm' },
      timeRange: EVERYTHING,
      descending: false,
      groupBy: 'all',
      fields: [{ name: 'f', type: 'float' }],
    },
    { signal: abort.signal },
  );
  const first = eachBatch(batches).next();
  abort.abort(reason);

  await expect(first).rejects.toThrow(thrown);
  snapshot.close();
  expect(await scanRows(engine, 'm', [['f', 'float']])).toHaveLength(1);
});

test('a request releases its memory when its reader leaves', async () => {
  const lines = Array.from({ length: 5000 }, (_, i) => `m,t=${i} f=1 1\n`);
  await write(engine, lines.join(''));
  const snapshot = engine.source.snapshot();
  const batches = snapshot.scan(
    {
      source: { database: 'db', retentionPolicy: 'autogen', measurement: 'm' },
      timeRange: EVERYTHING,
      descending: false,
      groupBy: 'all',
      fields: [{ name: 'f', type: 'float' }],
    },
    { signal: new AbortController().signal },
  );

  for await (const _ of eachBatch(batches)) break;

  await vi.waitFor(async () => {
    const { counters } = await engine.statistics();
    expect(counters['requestMemoryBytes']).toBe(0);
  });
  snapshot.close();
});

test('points from inside the process keep their types', async () => {
  await engine.writePoints({
    policy: POLICY,
    points: [
      {
        measurement: 'm',
        tags: [['t', 'a']],
        fields: [
          ['i', 5n],
          ['u', { unsigned: 2n ** 64n - 1n }],
          ['skipped', Number.NaN],
        ],
        time: 7n,
      },
    ],
  });

  const fields = [
    ['i', 'integer'],
    ['u', 'unsigned'],
  ] as const;
  expect(await scanRows(engine, 'm', fields)).toEqual([['m,t=a', 7n, 5n, 2n ** 64n - 1n]]);
});

test('a rehearsal in the same thread has points of its own, and can be opened again', async () => {
  await write(engine, 'm,t=a v=1 1');
  const fields = [['v', 'float']] as const;

  for (let i = 0; i < 3; i++) {
    const rehearsal = await engine.openRehearsal();
    const [, rows] = await Promise.all([
      write(rehearsal, 'm,t=b v=2 2').then(() => rehearsal.flush()),
      scanRows(engine, 'm', fields),
    ]);
    expect(rows).toEqual([['m,t=a', 1n, 1]]);
    expect(await scanRows(rehearsal, 'm', fields)).toEqual([['m,t=b', 2n, 2]]);
    await rehearsal.close();
    await expect(write(rehearsal, 'm,t=b v=2 2')).rejects.toThrow(Unavailable);
  }
});

test('many reads and writes of one turn are all answered, each with its own', async () => {
  const lines = Array.from({ length: 50 }, (_, i) => `m${i} v=${i} 1`);
  await Promise.all(lines.map((line) => write(engine, line)));
  const fields = [['v', 'float']] as const;

  const answers = await Promise.all(
    lines.map(async (_line, i) => {
      if (i % 5 === 0) await write(engine, `n v=${i} ${i}`);
      return scanRows(engine, `m${i}`, fields);
    }),
  );

  expect(answers).toEqual(lines.map((_line, i) => [[`m${i}`, 1n, i]]));
});

test('errors keep their class and what they carry', () => {
  const limit = errorFromMessage(errorToMessage(new LimitExceeded('too much', 'a.b')));

  expect(limit).toBeInstanceOf(LimitExceeded);
  expect(limit).toMatchObject({ message: 'too much', setting: 'a.b' });
});
