// The simulation of the catalog finds nothing, meets what it is for, and its table of guards fits
// the source. `npm run soak:catalog-mutants` takes the guards out.
import { expect, test } from 'vitest';

import { misfits } from '../mutants/mutant.ts';
import { MUTANTS } from './mutants.ts';
import { simulate } from './simulate.ts';
import type { Marks } from './simulate.ts';

test('changes at once, failures, kills and power failures lose nothing and bring nothing back', async () => {
  const marks: Marks = new Map();

  for (let seed = 1; seed <= 40; seed++) await simulate(seed, marks);

  for (const what of ['acknowledged', 'refused', 'closed', 'kills', 'power failures', 'damaged']) {
    expect(marks.get(what), what).toBeGreaterThan(20);
  }
  expect(marks.get('found without an acknowledgement')).toBeGreaterThan(0);
});

test('each guard is in the source once', () => {
  expect(misfits(MUTANTS)).toEqual([]);
});
