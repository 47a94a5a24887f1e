// The small form of `npm run soak:api`, and a check that it finds faults.
import { expect, test } from 'vitest';
import { Random } from '../query-fuzz/random.ts';
import { differences } from './call.ts';
import { runEpisode } from './episode.ts';
import { shrinkSteps } from './shrink.ts';
import { makeStep } from './steps.ts';
import type { Step } from './steps.ts';
import { startInProcess } from './subject.ts';

const SEED = 20261121;
const STEPS = 250;

test('mixed requests, writes and restarts agree with the model of the specification', async () => {
  const random = new Random(SEED);
  const steps = Array.from({ length: STEPS }, () => makeStep(random));

  const { failure, steps: taken } = await runEpisode(steps, { start: startInProcess });

  expect(failure).toBeUndefined();
  expect(taken).toBe(STEPS);
}, 120_000);

test('a difference is named with its place', () => {
  const base = { base: '/engine/v1' };

  expect(
    differences({ a: [1, { b: '@/x' }] }, { a: [1, { b: '/engine/v1/x' }], c: 2 }, base),
  ).toEqual([]);
  expect(differences({ a: [1, { b: '@/x' }] }, { a: [1, { b: '/x' }] }, base)).toEqual([
    '$.a[1].b: expected "/engine/v1/x", got "/x"',
  ]);
  expect(differences([1], [1, 2], base)).toEqual(['$: expected 1 items, got 2: [1,2]']);
  expect(differences({ a: 1 }, undefined, base)).toEqual(['$: expected an object, got nothing']);
});

test('a failure is made smaller until every step is needed', async () => {
  const invalid = (which: number): Step => ({ kind: 'invalid', which });
  const steps = Array.from({ length: 40 }, (_, which) => invalid(which));
  const needed = [7, 23];
  const run = async (tried: readonly Step[]) => {
    const numbers = tried.map((step) => (step.kind === 'invalid' ? step.which : -1));
    const isFailing = needed.every((which) => numbers.includes(which));
    const at = numbers.indexOf(23);
    const failure = isFailing ? { at, call: undefined, problems: ['found'] } : undefined;
    return { steps: at, requests: 0, restarts: 0, seen: new Map(), failure };
  };

  const left = await shrinkSteps(steps, { run, attemptsMax: 1000 });

  expect(left).toEqual(needed.map(invalid));
});
