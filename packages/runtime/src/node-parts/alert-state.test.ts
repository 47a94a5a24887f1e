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

test('a state with a longer history continues at its present level', () => {
  const state = new AlertState(5);
  for (const [i, level] of [0, 3, 1].entries()) state.record(level, BigInt(i), undefined);

  const restored = AlertState.decode(state.encode(), 0);

  expect(restored.level).toBe(1);
  expect(restored.firstTriggered).toBe(1n);
  restored.record(1, 3n, undefined);
  expect(restored.isChanged).toBe(false);
});
