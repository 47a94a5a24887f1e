// Every mutant still applies, and every area has one. `npm run soak:mutants` runs them all.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import { PLANS } from '../../../packages/storage/src/testing/simulation/seeds/plans.ts';
import { AT_ONCE } from './at-once.ts';
import { AREAS, MUTANTS } from './mutants.ts';

const SOURCE = new URL('../../../packages/storage/src/', import.meta.url);

test.each(MUTANTS)('occurs once: $guard', ({ file, from, to }) => {
  const source = readFileSync(new URL(file, SOURCE), 'utf8');

  expect(source.split(from)).toHaveLength(2);
  expect(to).not.toBe(from);
});

test('plans are those that were found', () => {
  const known = new Set(PLANS.map(({ what }) => what));

  expect(MUTANTS.filter(({ plan }) => plan !== undefined && !known.has(plan))).toEqual([]);
});

test('every area has a guard that is taken out', () => {
  expect(new Set(MUTANTS.map(({ area }) => area))).toEqual(new Set(AREAS));
});

test.each(AT_ONCE)('$file has such a test: $because', ({ file, test: name }) => {
  expect(readFileSync(new URL(file, SOURCE), 'utf8')).toContain(name ?? 'test(');
});
