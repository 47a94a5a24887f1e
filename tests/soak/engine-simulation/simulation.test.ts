// A cluster of engines in virtual time, 200 seeds. More: `npm run soak:engine-simulation`; a seed
// alone: `npm run soak:engine-simulation SEED 1`.
import { expect, test } from 'vitest';
import { misfits } from '../mutants/mutant.ts';
import { explore } from './explore.ts';
import { MUTANTS } from './mutants.ts';
import { simulate } from './simulate.ts';
import { planOf } from './workload/plan.ts';

/** Seeds of one test, and how many tests there are. */
const COUNT = 40;
const TESTS = 5;

const marks = new Map<string, number>();

test.each(Array.from({ length: TESTS }, (_, i) => i * COUNT + 1))(
  'what a cluster promises holds, whatever goes wrong, from seed %i on',
  { timeout: 300_000 },
  async (first) => {
    const { found, marks: taken } = await explore(
      Array.from({ length: COUNT }, (_, i) => first + i),
    );

    expect(found).toBeUndefined();
    for (const [mark, count] of taken) marks.set(mark, (marks.get(mark) ?? 0) + count);
  },
);

test('rare ways were taken', () => {
  for (const mark of [
    'kill of the leader',
    'cut of the leader',
    'isolate of the leader',
    'pause of the leader',
    'stop of the leader',
    'drain of the leader',
    'a change was refused',
    'a change was unknown',
    'a task was moved',
    'tasks went on elsewhere',
    'a host ended',
    'a task died',
    'a record was set aside',
    'files were loaded',
    'an event was told again',
    'a loss that stops all',
  ])
    expect([mark, (marks.get(mark) ?? 0) > 0]).toEqual([mark, true]);
});

test('the same seed twice takes the same way', async () => {
  for (const seed of [3, 7, 11]) {
    const [first, second] = [await simulate(planOf(seed)), await simulate(planOf(seed))];
    expect(second.trace).toEqual(first.trace);
    expect(first.trace.length).toBeGreaterThan(20);
  }
});

test('mutants fit the source', () => {
  expect(misfits(MUTANTS)).toEqual([]);
});
