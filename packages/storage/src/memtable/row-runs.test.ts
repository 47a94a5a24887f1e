import fc from 'fast-check';
import { expect, test } from 'vitest';

import { runStarts } from './row-runs.ts';

test('a run begins with the first row and wherever the series is another', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 3 })), fc.nat(8), (ids, more) => {
      const series = Uint32Array.from([...ids, ...Array.from({ length: more }, (_, i) => i)]);

      const starts = [...runStarts(series, ids.length)];

      expect(starts).toEqual(ids.flatMap((id, row) => (id === ids[row - 1] ? [] : [row])));
    }),
  );
});
