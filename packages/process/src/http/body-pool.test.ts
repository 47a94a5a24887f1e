import { expect, test } from 'vitest';
import { BodyPool } from './body-pool.ts';

const KIB = 1 << 10;

test('the memory of a released body is used for the next one that fits', () => {
  const pool = new BodyPool();
  const first = pool.acquire(100 * KIB);

  expect(pool.release(first)).toBe(true);
  const larger = pool.acquire(200 * KIB);
  const second = pool.acquire(120 * KIB);

  expect(larger.buffer).not.toBe(first.buffer);
  expect(second.buffer).toBe(first.buffer);
  expect(second.length).toBe(120 * KIB);
});

test('two bodies never have the same memory', () => {
  const pool = new BodyPool();
  pool.release(pool.acquire(100 * KIB));

  const bodies = Array.from({ length: 3 }, () => pool.acquire(100 * KIB));

  expect(new Set(bodies.map(({ buffer }) => buffer)).size).toBe(3);
});

test('memory that is not from the pool, or was given back, is not taken', () => {
  const pool = new BodyPool();
  const body = pool.acquire(100 * KIB);
  pool.release(body);

  expect(pool.release(body)).toBe(false);
  expect(pool.release(new Uint8Array(100 * KIB))).toBe(false);
});

test('small bodies are not kept, and no more than some megabytes', () => {
  const pool = new BodyPool();
  expect(pool.release(pool.acquire(1000))).toBe(false);
  expect(pool.release(pool.acquire(9 << 20))).toBe(false);

  const bodies = Array.from({ length: 6 }, () => pool.acquire(1 << 20));

  expect(bodies.map((body) => pool.release(body))).toEqual([true, true, true, true, false, false]);
});
