// The seeds of the simulation that follow those of `simulation.test.ts`.
import { expect, test } from 'vitest';

import { simulate } from './simulate.ts';
import { planOf } from './workload/operations.ts';

const FIRST = 101;
const LAST = 300;

test(`concurrent work keeps every promise, with seeds ${FIRST} to ${LAST}`, async () => {
  const failures: string[] = [];
  for (let seed = FIRST; seed <= LAST; seed++) {
    const { violation } = await simulate(planOf(seed));
    if (violation !== undefined) failures.push(`seed ${seed}: ${violation}`);
  }

  expect(failures).toEqual([]);
}, 300_000);
