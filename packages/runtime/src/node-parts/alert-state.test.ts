// Flapping: the share of changes is that of exact arithmetic at the bounds that scripts name.
import { expect, test } from 'vitest';
import { AlertState } from './alert-state.ts';

test('a single change in a history of two is a share of 0.8, neither more nor less', () => {
  const flaps = (flapping: { readonly low: number; readonly high: number }): boolean[] => {
    const state = new AlertState(2);
    return [3, 0, 3].map((level, i) => {
      state.record(level, BigInt(i), flapping);
      return state.isFlapping;
    });
  };
  expect(flaps({ low: 0.1, high: 0.8 })).toEqual([false, false, false]);
  expect(flaps({ low: 0.8, high: 0.7 })).toEqual([true, true, true]);
});
