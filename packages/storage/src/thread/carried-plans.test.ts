import { DEFAULT_QUERY_LIMITS } from '@tidemark/query';
import { expect, test } from 'vitest';

import { LIMITS } from '../limits.ts';
import { HeldPlans, SentPlans } from './carried-plans.ts';

const COUNT = LIMITS.keptPlans.value;
const HOW = { range: { start: 0n, end: 1n }, epoch: undefined, limits: DEFAULT_QUERY_LIMITS };

test('a plan is sent once, and again when others have taken its place', () => {
  const sent = new SentPlans();
  const held = new HeldPlans();
  const plans = Array.from({ length: COUNT + 1 }, (_, number) => ({ number }));
  const carry = (at: number): 'plan' | 'number' => {
    const plan = plans[at]!;
    const carried = sent.carry({ ...HOW, plan });
    expect(held.of(structuredClone(carried))).toMatchObject({ plan, limits: DEFAULT_QUERY_LIMITS });
    return typeof carried === 'number' ? 'number' : 'plan';
  };

  expect([carry(0), carry(1), carry(0), carry(1)]).toEqual(['plan', 'plan', 'number', 'number']);
  const rest = plans.slice(2).map(({ number }) => carry(number));
  expect(new Set(rest)).toEqual(new Set(['plan']));
  // The last one has taken the place of the first.
  expect([carry(1), carry(COUNT), carry(0)]).toEqual(['number', 'number', 'plan']);
  expect([carry(0), carry(1)]).toEqual(['number', 'plan']);
});
