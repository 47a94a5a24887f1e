import { expect, test } from 'vitest';

import { BodyBuffers } from './body-buffers.ts';

test('a buffer that came back is given out again, to one body at a time', () => {
  const bodies = new BodyBuffers();
  const first = bodies.take(100_000);
  const { buffer } = first;

  bodies.giveBack(buffer);
  const second = bodies.take(90_000);
  const third = bodies.take(90_000);

  expect(first.length).toBe(100_000);
  expect(second.length).toBe(90_000);
  expect(second.buffer).toBe(buffer);
  expect(third.buffer).not.toBe(buffer);
  expect([bodies.isLent(second), bodies.isLent(third)]).toEqual([true, true]);
});

test('huge bodies have buffers of their own, and others are not taken for lent ones', () => {
  const bodies = new BodyBuffers();

  for (const sizeBytes of [5000, 16_000, (4 << 20) + 1]) {
    const body = bodies.take(sizeBytes);
    expect(body.buffer.byteLength).toBe(sizeBytes);
    expect(bodies.isLent(body)).toBe(false);
  }
  expect(bodies.isLent(new Uint8Array(1 << 17))).toBe(false);
});

test('small bodies share a buffer, no byte of it twice, and are not lent', () => {
  const bodies = new BodyBuffers();
  const taken = Array.from({ length: 100 }, (_, i) => bodies.take((i * 97) % 4097).fill(i));

  for (const [i, body] of taken.entries()) {
    expect(body.length).toBe((i * 97) % 4097);
    expect(body.every((byte) => byte === i)).toBe(true);
    expect(bodies.isLent(body)).toBe(false);
  }
  expect(new Set(taken.map(({ buffer }) => buffer)).size).toBeLessThan(6);
});

test('no more is kept than the limit, and nothing after it was cleared', () => {
  const bodies = new BodyBuffers();
  const buffers = Array.from({ length: 20 }, () => bodies.take(1 << 20).buffer);

  for (const buffer of buffers) bodies.giveBack(buffer);
  bodies.giveBack(new ArrayBuffer(100_001));

  expect(bodies.freeBytes).toBe(8 << 20);
  bodies.clear();
  expect(bodies.freeBytes).toBe(0);
  expect(buffers).not.toContain(bodies.take(1 << 20).buffer);
});
