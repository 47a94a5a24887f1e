import { expect, test } from 'vitest';
import { weightOf } from './plan-weight.ts';

const MAX = 1 << 20;

test.each([
  ['a text', 'x'.repeat(1000), 1000, 1100],
  ['a list of objects', Array.from({ length: 100 }, (_, n) => ({ n })), 100 * 32, 100 * 64],
  ['a set', new Set(Array.from({ length: 100 }, (_, n) => n)), 100 * 32, 100 * 64],
  ['a map with texts', new Map([['a'.repeat(500), 'b'.repeat(500)]]), 1000, 1300],
  ['bytes', new Uint8Array(1000), 1000, 1100],
])('%s weighs what it holds', (_, value, atLeast, atMost) => {
  const weight = weightOf([value], MAX);
  expect(weight).toBeGreaterThanOrEqual(atLeast);
  expect(weight).toBeLessThanOrEqual(atMost);
});

test('objects that occur twice, or contain themselves, count once', () => {
  const inner: { text: string; self?: object } = { text: 'x'.repeat(1000) };
  inner.self = inner;
  expect(weightOf([inner, inner, [inner]], MAX)).toBeLessThan(1300);
});

test('the walk ends where it is too much', () => {
  let reads = 0;
  const list = Array.from({ length: 10_000 }, () => ({
    get text() {
      reads++;
      return 'x'.repeat(1000);
    },
  }));
  expect(weightOf([list], 100_000)).toBeGreaterThan(100_000);
  expect(reads).toBeLessThan(200);
});
