// The simulation with a few seeds (`npm run soak:simulation` runs more), and its own guarantees:
// the same seed gives the same history, and rare events happen.
import { expect, test } from 'vitest';

import { planOf } from './workload/operations.ts';
import { describeOperation, describeSetup, planInWords } from './workload/plan-words.ts';
import { PLANS } from './seeds/plans.ts';
import { shrink } from './shrink/shrink.ts';
import { simulate } from './simulate.ts';

const SEEDS = 300;

test(`what happens at once keeps every promise, with ${SEEDS} seeds`, async () => {
  const failures: string[] = [];
  const marks = new Map<string, number>();
  for (let seed = 1; seed <= SEEDS; seed++) {
    const outcome = await simulate(planOf(seed));
    for (const [name, times] of outcome.marks) marks.set(name, (marks.get(name) ?? 0) + times);
    if (outcome.violation !== undefined) failures.push(`seed ${seed}: ${outcome.violation}`);
  }

  expect(failures).toEqual([]);
  for (const mark of [
    'power-cut',
    'kill',
    'scan',
    'aggregate',
    'answer',
    'leased',
    'backup',
    'restore',
    'flipped bit',
    'writes in one message',
  ]) {
    expect(marks.get(mark) ?? 0, mark).toBeGreaterThan(20);
  }
}, 300_000);

test.each(PLANS)('no more: $what', async ({ plan }) => {
  expect((await simulate(plan)).violation).toBeUndefined();
});

test('plans are written in the words that histories are told in', () => {
  for (let seed = 1; seed <= 50; seed++) {
    const { setup, operations } = planOf(seed);
    const words = operations.map(describeOperation);
    const plan = planInWords(seed, describeSetup(setup), words.join('\n'));

    expect(plan.setup).toEqual(setup);
    expect(plan.operations.map(describeOperation)).toEqual(words);
  }
  expect(planInWords(1, 'fsync always, 2 at once', '2 x flush').operations).toHaveLength(2);
});

test('the same seed gives the same history', async () => {
  const first = await simulate(planOf(61));
  const second = await simulate(planOf(61));

  expect(second.history).toEqual(first.history);
  expect(first.history.length).toBeGreaterThan(100);
});

test('shrinking keeps what a plan fails with, and little else', async () => {
  const plan = planOf(1);
  const isFailure = async ({ operations }: typeof plan): Promise<boolean> =>
    operations.some(({ kind }) => kind === 'flush') &&
    operations.some(({ kind }) => kind === 'compact');

  const smallest = await shrink(plan, isFailure);

  expect(await isFailure(plan)).toBe(true);
  expect(smallest.operations.map(({ kind }) => kind).sort()).toEqual(['compact', 'flush']);
});
