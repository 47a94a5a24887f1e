import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JoinSets } from './sets.ts';

/** Times of each parent's messages, in order, and whose turn it is. */
const inputs = fc.integer({ min: 2, max: 4 }).chain((parentCount) =>
  fc.record({
    times: fc.array(
      fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 12 }).map((times) => times.sort()),
      { minLength: parentCount, maxLength: parentCount },
    ),
    turns: fc.array(fc.nat({ max: parentCount - 1 }), { maxLength: 60 }),
    isStored: fc.boolean(),
  }),
);

type Emitted = { readonly time: number; readonly parts: readonly (string | undefined)[] };

/** The k-th messages of a time belong together. */
function expected(times: readonly (readonly number[])[]): Emitted[] {
  return [0, 1, 2, 3, 4].flatMap((time) => {
    const counts = times.map((own) => own.filter((each) => each === time).length);
    return Array.from({ length: Math.max(...counts) }, (_, k) => ({
      time,
      parts: counts.map((count, parent) => (k < count ? `${parent}/${time}/${k}` : undefined)),
    }));
  });
}

test('the k-th messages of one time form a set, in whatever order they come', () => {
  fc.assert(
    fc.property(inputs, ({ times, turns, isStored }) => {
      const emitted: Emitted[] = [];
      const create = (): JoinSets<string> =>
        new JoinSets(times.length, (time, parts) =>
          emitted.push({ time: Number(time), parts: [...parts] }),
        );
      let sets = create();
      const left = times.map((own) => [...own]);
      const seen = new Map<string, number>();
      const order = [...turns, ...times.flatMap((own, parent) => own.map(() => parent))];

      for (const parent of order) {
        const time = left[parent]?.shift();
        if (time === undefined) continue;
        const name = `${parent}/${time}`;
        const k = seen.get(name) ?? 0;
        seen.set(name, k + 1);
        const parts = sets.completed(parent, BigInt(time), `${name}/${k}`);
        if (parts === undefined) sets.add(parent, BigInt(time), `${name}/${k}`);
        else emitted.push({ time, parts });
        if (!isStored) continue;
        const code = sets.encode((message) => message);
        sets = create();
        sets.decode(code, (message) => message as string);
      }
      sets.finish();

      const byTime = emitted.toSorted((a, b) => a.time - b.time);
      expect(byTime).toEqual(expected(times));
    }),
  );
});
