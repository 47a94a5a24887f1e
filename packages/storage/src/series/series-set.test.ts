import fc from 'fast-check';
import { expect, test } from 'vitest';

import { SeriesSet } from './series-set.ts';

const IDS = fc.oneof(fc.nat(40), fc.nat(600), fc.nat(100_000));
const STEPS = fc.array(fc.record({ id: IDS, isAdded: fc.boolean() }), { maxLength: 300 });

test('pages that grow hold what was added and not deleted', () => {
  fc.assert(
    fc.property(STEPS, (steps) => {
      const set = new SeriesSet();
      const model = new Set<number>();
      for (const { id, isAdded } of steps) {
        const changed = isAdded ? set.add(id) : set.delete(id);
        expect(changed).toBe(isAdded ? !model.has(id) : model.has(id));
        if (isAdded) model.add(id);
        else model.delete(id);
        expect(set.has(id + 1)).toBe(model.has(id + 1));
      }
      const copy = set.clone();
      set.add(100_001);

      expect(copy.size).toBe(model.size);
      expect([...copy].toSorted((a, b) => a - b)).toEqual([...model].toSorted((a, b) => a - b));
    }),
  );
});
