import { beforeEach, expect, test } from 'vitest';

import { BackPressure } from './back-pressure.ts';

let heldBytes: number;
let pressure: BackPressure;
let written: string[];

beforeEach(() => {
  heldBytes = 0;
  written = [];
  pressure = new BackPressure(100, () => heldBytes);
});

/** A write of so many bytes, which are in the memtable as soon as it is let in. */
async function write(name: string, bytes: number): Promise<void> {
  await pressure.enter(bytes);
  written.push(name);
  heldBytes += bytes;
  pressure.leave(bytes);
}

test('writes go on at once while nothing is flushed, and while the memtable has its ordinary size', () => {
  heldBytes = 1000;
  expect(pressure.enter(0)).toBeUndefined();

  heldBytes = 100;
  pressure.flushing(0);
  expect(pressure.enter(0)).toBeUndefined();
});

test('writes beyond it are let in as the flush gets on, one by one and in order', async () => {
  pressure.flushing(0);
  heldBytes = 101;
  const all = [write('a', 20), write('b', 20), write('c', 20)];

  pressure.flushing(0.005);
  expect(pressure.waitingCount).toBe(3);
  pressure.flushing(0.01);
  await all[0];
  expect(written).toEqual(['a']);
  pressure.flushing(0.2);
  expect(pressure.waitingCount).toBe(2);
  pressure.flushing(0.21);
  await all[1];
  expect(written).toEqual(['a', 'b']);

  pressure.flushEnded();
  await all[2];
  expect(written).toEqual(['a', 'b', 'c']);
});

test('later writes do not overtake waiting ones', async () => {
  pressure.flushing(0);
  heldBytes = 101;
  const first = write('first', 1);

  heldBytes = 0;
  const second = write('second', 1);
  pressure.flushing(0);
  pressure.flushing(0);
  await Promise.all([first, second]);

  expect(written).toEqual(['first', 'second']);
});

test('the progress of a flush never decreases: a second attempt begins where the first one ended', () => {
  pressure.flushing(0.5);
  pressure.flushing(0.1);
  heldBytes = 150;

  expect(pressure.enter(0)).toBeUndefined();
});

test('as many writes are let in at once as there is room for', async () => {
  pressure.flushing(0);
  heldBytes = 101;
  const all = [write('a', 20), write('b', 20), write('c', 20), write('d', 20)];

  pressure.flushing(0.5);
  expect(pressure.waitingCount).toBe(1);
  await Promise.all(all.slice(0, 3));
  expect(written).toEqual(['a', 'b', 'c']);
  pressure.flushEnded();
  await all[3];
});

test('rows that admitted writes have yet to add count', () => {
  pressure.flushing(0.5);
  heldBytes = 100;
  expect(pressure.enter(60)).toBeUndefined();

  expect(pressure.enter(10)).toBeInstanceOf(Promise);
  // The first one has failed: its rows do not come.
  pressure.leave(60);
  expect(pressure.waitingCount).toBe(0);
});
