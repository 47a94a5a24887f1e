// Series come in the order of their groups and of their keys, or of tags within a group, whatever
// is remembered of the order of tag values.
import { compareBytes, systemClock } from '@tidemark/core';
import type { ScanRequest } from '@tidemark/query';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { numbers, ROWS_OF_F, scanRows, testEngine, write } from '../testing/fixtures.ts';

type Tags = ReadonlyMap<string, string>;

/** Prefixes of each other, several scripts, and characters whose UTF-16 order is another. */
const TEXTS = ['a', 'aa', 'b', 'ä', 'Z', '0', '10', '9', '€', '\uFFFD', '😀'];

function seriesOf(seed: number, count: number): ReadonlyMap<string, Tags> {
  const next = numbers(seed);
  const series = new Map<string, Tags>();
  for (let i = 0; i < count; i++) {
    const tags = new Map<string, string>();
    if (next() % 5 > 0) tags.set('a', TEXTS[next() % TEXTS.length]!);
    if (next() % 3 > 0) tags.set('b', TEXTS[next() % 3]!);
    tags.set('c', `${TEXTS[next() % TEXTS.length]!}${next() % 90}`);
    tags.set('d', TEXTS[next() % TEXTS.length]!);
    // Few series have another value, so that ties decide in one group of two only.
    tags.set('e', next() % 50 > 0 ? 'a' : 'b');
    series.set(['m', ...Array.from(tags, ([key, value]) => `${key}=${value}`)].join(), tags);
  }
  return series;
}

type Grouping = Pick<ScanRequest, 'groupBy' | 'tieTags'>;

function ordered(
  series: ReadonlyMap<string, Tags>,
  { groupBy, tieTags }: Grouping,
  descending: boolean,
): readonly string[] {
  const byTags = (names: readonly string[]) => (a: [string, Tags], b: [string, Tags]) => {
    for (const name of names) {
      const order = compareBytes(a[1].get(name) ?? '', b[1].get(name) ?? '');
      if (order !== 0) return order;
    }
    return 0;
  };
  const names = groupBy === 'all' ? [] : groupBy;
  const groups = new Map<string, [string, Tags][]>();
  for (const [key, tags] of series) {
    const group = names.map((name) => tags.get(name)).join();
    groups.set(group, [...(groups.get(group) ?? []), [key, tags]]);
  }
  const keys = [...groups.values()]
    .toSorted(([a], [b]) => byTags(names)(a!, b!))
    .flatMap((group) => {
      const isByTies = group.length >= 200 && groupBy !== 'all' && tieTags !== undefined;
      return group.toSorted(isByTies ? byTags(tieTags) : ([a], [b]) => compareBytes(a, b));
    })
    .map(([key]) => key);
  return descending ? keys.toReversed() : keys;
}

const GROUPINGS: readonly Grouping[] = [
  { groupBy: [] },
  { groupBy: 'all' },
  { groupBy: ['a'] },
  { groupBy: ['b', 'a'] },
  { groupBy: ['c', 'absent', 'b'] },
  // All series have these.
  { groupBy: [], tieTags: ['d', 'c'] },
  { groupBy: ['b'], tieTags: ['c'] },
  { groupBy: ['e'], tieTags: ['c'] },
];

test('series are ordered by group, then by key or by ties', async () => {
  const data = fc.record({
    seed: fc.integer({ min: 1, max: 1e9 }),
    counts: fc.array(fc.constantFrom(1, 7, 300, 700), { minLength: 2, maxLength: 3 }),
    cacheBytes: fc.constantFrom(0, 16_000, 1 << 20),
  });
  await fc.assert(
    fc.asyncProperty(data, async ({ seed, counts, cacheBytes }) => {
      const subject = await testEngine({ indexCacheBytes: cacheBytes });
      try {
        let count = 0;
        for (const more of counts) {
          count += more;
          const series = seriesOf(seed, count);
          const lines = [...series.keys()].map((key) => `${key} f=1 1`);
          await write(subject.engine, lines.join('\n'));
          for (const descending of [false, true, false]) {
            for (const grouping of GROUPINGS) {
              const request = { ...grouping, descending };
              const rows = await scanRows(subject.engine, 'm', [['f', 'float']], request);
              expect(rows.map(([key]) => key)).toEqual(ordered(series, grouping, descending));
            }
          }
        }
      } finally {
        await subject.dispose();
      }
    }),
    { numRuns: 8 },
  );
});

test('series of which one lacks a tag are in the order of their keys', async () => {
  const subject = await testEngine();
  try {
    const keys = Array.from({ length: 300 }, (_, i) => `m,a=${(i * 7) % 300},b=${i}`);
    await write(subject.engine, [...keys, 'm,b=5'].map((key) => `${key} f=1 1`).join('\n'));
    const request = { groupBy: [], tieTags: ['a'] } as const;
    const rows = await scanRows(subject.engine, 'm', [['f', 'float']], request);
    expect(rows.map(([key]) => key)).toEqual([...keys, 'm,b=5'].toSorted(compareBytes));
  } finally {
    await subject.dispose();
  }
});

test('series that lack a tag are one group, wherever its column ends', async () => {
  const subject = await testEngine();
  try {
    const keys = Array.from({ length: 300 }, (_, i) => (i < 3 ? `m,a=x,b=${i}` : `m,b=${i}`));
    for (const key of [...keys.slice(0, 5), ...keys.slice(5).toReversed()]) {
      await write(subject.engine, `${key} f=1 1`);
    }
    const rows = await scanRows(subject.engine, 'm', [['f', 'float']], { groupBy: ['a'] });
    const sorted = [...keys.slice(3).toSorted(compareBytes), ...keys.slice(0, 3)];
    expect(rows.map(([key]) => key)).toEqual(sorted);
  } finally {
    await subject.dispose();
  }
});

test.each([false, true])(
  'ties end a group that is in their order (descending: %s)',
  async (descending) => {
    const subject = await testEngine();
    try {
      const lines = ['m,g=b f=1 1'];
      for (let i = 0; i < 300; i++) lines.push(`m,g=a,t=${i} f=1 1`, `m,g=b,t=${i} f=1 1`);
      await write(subject.engine, lines.join('\n'));
      const limits = { limitPerSeries: 1, limitPerGroup: 1 };
      const request = { groupBy: ['g'], tieTags: ['t'], descending, ...limits };
      const rows = await scanRows(subject.engine, 'm', [['f', 'float']], request);
      const ofGroup = (group: string): number => rows.filter(([key]) => key.includes(group)).length;
      expect([ofGroup('g=a'), ofGroup('g=b')]).toEqual([1, 301]);
    } finally {
      await subject.dispose();
    }
  },
);

test('series that are added while others are sorted are in their place in the next answer', async () => {
  // Each look at the clock finds a slice used up: every place where work may pause is a step.
  let nowMs = 0;
  const clock = { ...systemClock(), monotonicMs: () => (nowMs += 1000) };
  const { signal } = new AbortController();
  const count = 9000;
  const keyOf = (i: number): string => `m,a=${(i * 7919) % 100_003}`;
  for (const grouping of [{ groupBy: ['a'] }, { groupBy: 'all' }] as const) {
    for (const step of [1, 6]) {
      const subject = await testEngine({}, { clock });
      try {
        const keys = Array.from({ length: count }, (_, i) => keyOf(i));
        await write(subject.engine, keys.map((key) => `${key} f=1 1`).join('\n'));
        const snapshot = subject.engine.source.snapshot();
        const seen: string[] = [];
        let steps = 0;
        try {
          for (const batch of snapshot.scan({ ...ROWS_OF_F, ...grouping }, { signal })) {
            if (batch !== undefined && 'times' in batch) seen.push(batch.seriesKey);
            if (steps++ !== step) continue;
            expect(seen).toEqual([]);
            const more = Array.from({ length: 20 }, (_, i) => keyOf(count + i));
            await write(subject.engine, more.map((key) => `${key} f=1 1`).join('\n'));
            keys.push(...more);
          }
        } finally {
          snapshot.close();
        }
        expect(seen).toEqual(keys.slice(0, count).toSorted(compareBytes));

        const rows = await scanRows(subject.engine, 'm', [['f', 'float']], grouping);
        expect(rows.map(([key]) => key)).toEqual(keys.toSorted(compareBytes));
        expect(keys).toHaveLength(count + 20);
      } finally {
        await subject.dispose();
      }
    }
  }
});
