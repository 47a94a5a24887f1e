import { Worker } from 'node:worker_threads';

import { MAX_INT64, MIN_INT64 } from '@tidemark/core';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { WriteLinesRequest } from '@tidemark/storage-api';

import { POLICY } from '../testing/fixtures.ts';
import { RingReader, ringMemory, RingWriter, SMALL_BODY_BYTES } from './write-ring.ts';

const OTHER = {
  ...POLICY,
  id: 9,
  database: 'Zürich "a\\b',
  oldestAccepted: -5n,
  newestAccepted: 2n ** 62n,
};

function request(text: string, more: Partial<WriteLinesRequest> = {}): WriteLinesRequest {
  const body = Buffer.from(text);
  return { policy: POLICY, body, precision: 'ns', now: 5n, isDetailed: true, ...more };
}

test('writes are taken as they were added, with their policies, an empty body among them', () => {
  const memory = ringMemory();
  const writer = new RingWriter(memory);
  const reader = new RingReader(memory);
  const requests = [
    request('m v=1'),
    request('', { policy: OTHER }),
    request('m,t=ä v=2 3\n', { precision: 'h', isDetailed: false, now: -1n }),
  ];

  for (const [id, one] of requests.entries()) expect(writer.add(id, one)).toBe(true);
  const taken = reader.take();

  expect(taken.map(({ id }) => id)).toEqual([0, 1, 2]);
  for (const [i, { request: one }] of taken.entries()) {
    expect({ ...one, body: Buffer.from(one.body) }).toEqual(requests[i]);
  }
  expect(reader.take()).toEqual([]);
});

test('bounds of a policy beyond 64 bits bound no point', () => {
  const memory = ringMemory();
  const far = { oldestAccepted: MIN_INT64 - 1n, newestAccepted: MAX_INT64 + 1n };
  new RingWriter(memory).add(1, request('m v=1', { policy: { ...POLICY, ...far } }));

  const [taken] = new RingReader(memory).take();

  expect(taken?.request.policy).toMatchObject({
    oldestAccepted: MIN_INT64,
    newestAccepted: MAX_INT64,
  });
});

test('a longer body is not taken, and nothing is overwritten before it was read', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(SMALL_BODY_BYTES + 8), fc.nat(599)), {
        minLength: 1000,
        maxLength: 1500,
      }),
      (steps) => {
        const memory = ringMemory();
        const writer = new RingWriter(memory);
        const reader = new RingReader(memory);
        const added: { readonly id: number; readonly length: number }[] = [];
        const taken: { readonly id: number; readonly length: number }[] = [];
        const take = (): void => {
          for (const { id, request: one } of reader.take()) {
            expect(one.body.every((byte) => byte === id % 251)).toBe(true);
            expect(one.policy.database).toBe(id % 2 === 0 ? 'db' : OTHER.database);
            taken.push({ id, length: one.body.length });
          }
        };
        for (const [id, [length, rest]] of steps.entries()) {
          const body = new Uint8Array(length).fill(id % 251);
          const policy = id % 2 === 0 ? POLICY : OTHER;
          const isAdded = writer.add(id, request('', { body, policy }));
          if (length > SMALL_BODY_BYTES) expect(isAdded).toBe(false);
          if (isAdded) added.push({ id, length });
          if (rest === 0) take();
        }
        take();
        expect(taken).toEqual(added);
      },
    ),
    { numRuns: 12 },
  );
});

test('who adds a write wakes a reader that sleeps, once; one that falls asleep meanwhile sees it', () => {
  const memory = ringMemory();
  const writer = new RingWriter(memory);
  const reader = new RingReader(memory);

  expect(reader.sleep()).toBe(true);
  writer.add(1, request('m v=1'));
  expect([writer.mustWake(), writer.mustWake()]).toEqual([true, false]);
  expect(reader.take()).toHaveLength(1);
  // Before the reader sleeps, nobody wakes it.
  writer.add(2, request('m v=1'));
  expect(writer.mustWake()).toBe(false);
  expect(reader.sleep()).toBe(false);
  expect(reader.take()).toHaveLength(1);
  expect(reader.sleep()).toBe(true);
});

test('another thread takes all writes in their order, and is woken when it sleeps', async () => {
  const memory = ringMemory();
  const writer = new RingWriter(memory);
  const count = 20_000;
  const worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
     import(workerData.file).then(({ RingReader }) => {
       const reader = new RingReader(workerData.memory);
       let next = 0;
       const take = () => {
         do {
           for (const { id, request } of reader.take()) {
             if (id !== next++ || request.body.length !== id % 300) parentPort.postMessage('wrong ' + id);
           }
         } while (!reader.sleep());
         if (next === workerData.count) parentPort.postMessage('all');
       };
       parentPort.on('message', take);
       take();
     });`,
    {
      eval: true,
      workerData: { file: new URL('write-ring.ts', import.meta.url).href, memory, count },
      execArgv: ['--conditions=source', '--disable-warning=ExperimentalWarning'],
    },
  );
  const end = new Promise((resolve, reject) => {
    worker.on('message', resolve);
    worker.on('error', reject);
  });
  for (let id = 0; id < count;) {
    const isAdded = writer.add(id, request('', { body: new Uint8Array(id % 300) }));
    if (isAdded) id++;
    if (writer.mustWake()) worker.postMessage('wake');
    if (!isAdded || id % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }

  expect(await end).toBe('all');
  await worker.terminate();
});
