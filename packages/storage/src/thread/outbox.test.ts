import { setImmediate } from 'node:timers/promises';
import type { Transferable } from 'node:worker_threads';

import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { Outbox } from './outbox.ts';

let delivered: { readonly messages: number[]; readonly transfer: Transferable[] }[];
let outbox: Outbox<number>;

beforeEach(() => {
  delivered = [];
  outbox = new Outbox((messages, transfer) => delivered.push({ messages, transfer }));
});

afterEach(() => vi.useRealTimers());

const lists = (): number[][] => delivered.map(({ messages }) => messages);

test('messages of a turn go together, with what they hand over', async () => {
  const buffers = [new ArrayBuffer(1), new ArrayBuffer(2)];
  outbox.sendSoon(1, [buffers[0]!]);
  outbox.sendSoon(2, [buffers[1]!]);
  expect(delivered).toEqual([]);

  await setImmediate();
  outbox.sendSoon(3);
  await setImmediate();

  expect(lists()).toEqual([[1, 2], [3]]);
  expect(delivered.map(({ transfer }) => transfer)).toEqual([buffers, []]);
});

test('a message that goes at once takes along what waits, in order', async () => {
  outbox.sendLater(1);
  outbox.sendSoon(2);
  outbox.send(3);
  expect(lists()).toEqual([[1, 2, 3]]);

  await setImmediate();

  expect(lists()).toEqual([[1, 2, 3]]);
});

test('a long list does not wait for the end of the turn', async () => {
  for (let i = 0; i < 20; i++) outbox.sendSoon(i);
  expect(lists()).toEqual([Array.from({ length: 16 }, (_, i) => i)]);

  await setImmediate();

  expect(lists()[1]).toEqual([16, 17, 18, 19]);
});

test('messages that may wait go after a while, alone', () => {
  vi.useFakeTimers();
  outbox.sendLater(1);
  expect(delivered).toEqual([]);

  vi.advanceTimersByTime(20);

  expect(lists()).toEqual([[1]]);
});

test('nothing is delivered to nobody', async () => {
  outbox.sendSoon(1);
  outbox.clear();

  await setImmediate();

  expect(delivered).toEqual([]);
});
