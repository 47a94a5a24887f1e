// Look-up of groups by id, in every order of look-ups, creations and removals.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HashIndex } from './hash-index.ts';
import type { GroupDimensions } from './group.ts';
import { GroupTable } from './group.ts';
import { PagedSeries, SeriesPage } from './paged-series.ts';
import type { Series } from './series.ts';
import { SeriesTable } from './series.ts';

test('the index finds what a map finds when many hashes are equal', () => {
  const step = fc.record({ hash: fc.integer({ min: -3, max: 3 }), isRemoved: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const index = new HashIndex();
      const model = new Map<number, number[]>();
      steps.forEach(({ hash, isRemoved }, i) => {
        const spread = hash * 64 + (hash % 2);
        const entries = model.get(spread) ?? [];
        model.set(spread, entries);
        const last = isRemoved ? entries.shift() : undefined;
        if (last !== undefined) index.delete(spread, last);
        else {
          index.add(spread, i);
          entries.push(i);
        }
      });
      for (const [hash, entries] of model)
        expect(found(index, hash).sort()).toEqual(entries.sort());
      expect(index.count).toBe([...model.values()].flat().length);
    }),
  );
});

function found(index: HashIndex, hash: number): number[] {
  const all: number[] = [];
  for (let place = index.find(hash); place >= 0; place = index.find(hash, place + 1)) {
    all.push(index.at(place));
  }
  return all;
}

const DIMENSIONS: readonly GroupDimensions[] = [
  { isByName: false, tagNames: [] },
  { isByName: false, tagNames: ['a'] },
  { isByName: false, tagNames: ['a', 'b'] },
  { isByName: true, tagNames: ['b'] },
  { isByName: false, tagNames: ['a'], idNames: ['a', 'a'] },
];

/** Values that make different tags look alike in an id. */
const value = fc.constantFrom('', '1', '2', '1,b=1', '1,b=2', 'ü\ud83d\ude00');
const step = fc.record({
  dimensions: fc.constantFrom(...DIMENSIONS),
  a: value,
  b: value,
  isPaged: fc.boolean(),
  action: fc.constantFrom('open', 'open', 'named', 'values', 'release'),
});

test('groups are one object per id while they are not released', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const series = new SeriesTable();
      const table = new GroupTable(series, 1000);
      const model = new Map<string, unknown>();
      steps.forEach(({ dimensions, a, b, isPaged, action }, i) => {
        const tags = [
          ['a', a],
          ['b', b],
        ].filter(([, text]) => text !== '') as [string, string][];
        const one = isPaged ? paged(series, tags, i) : series.of('m', tags);
        const id = idOf(dimensions, { a, b });
        const group =
          action === 'named' ? table.named(id, dimensions, []) : table.of(one, dimensions);
        expect(group?.id).toBe(id);
        expect(group).toBe(model.get(id) ?? group);
        expect(table.get(id)).toBe(group);
        expect(table.at(group!.index)).toBe(group);
        model.set(id, group);
        // Its values are taken out of the series then: from here on ids are compared.
        if (action === 'values') expect(group?.values).toBeDefined();
        if (action !== 'release') return;
        table.release(group!);
        if (id !== '') model.delete(id);
      });
      expect(table.count).toBe(model.size);
      expect(new Set(table.list())).toEqual(new Set(model.values()));
    }),
  );
});

test('a task that has all its groups opens no more, and finds those that it has', () => {
  const series = new SeriesTable();
  const table = new GroupTable(series, 2);
  const by = { isByName: false, tagNames: ['a'] };
  const of = (a: string): unknown => table.of(series.of('m', [['a', a]]), by);

  expect([of('1'), of('2')]).not.toContain(undefined);
  expect(of('3')).toBeUndefined();
  expect(of('1')).toBe(table.get('a=1'));
});

function idOf(
  dimensions: GroupDimensions,
  tags: { readonly a: string; readonly b: string },
): string {
  const names = dimensions.idNames ?? dimensions.tagNames;
  const text = names.map((name) => `${name}=${tags[name as 'a']}`).join(',');
  if (!dimensions.isByName) return text;
  return names.length === 0 ? 'm' : `m\n${text}`;
}

/** As the write path makes them. */
function paged(table: SeriesTable, tags: readonly [string, string][], i: number): Series {
  const shape = { name: 'm', tagKeys: tags.map(([key]) => key) };
  const text = `x${tags.map(([, each]) => each).join('')}`;
  let end = 1;
  const page = SeriesPage.of(
    text,
    Uint32Array.from([1, ...tags.map(([, each]) => (end += each.length))]),
  );
  return table.intern(new PagedSeries(shape, { page, first: 1 }, i));
}
