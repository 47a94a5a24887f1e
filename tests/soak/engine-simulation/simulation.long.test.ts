// The seeds of a cluster of engines that follow those of `simulation.test.ts`.
import { expect, test } from 'vitest';
import { explore } from './explore.ts';

const FIRST = 61;
const COUNT = 35;
const TESTS = 4;

test.each(Array.from({ length: TESTS }, (_, i) => FIRST + i * COUNT))(
  'a cluster keeps its promises whatever goes wrong, from seed %i on',
  { timeout: 300_000 },
  async (first) => {
    const { found } = await explore(Array.from({ length: COUNT }, (_, i) => first + i));

    expect(found).toBeUndefined();
  },
);
