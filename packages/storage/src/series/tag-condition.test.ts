// Conditions on tags, with and without postings, compared with the tags of each series.
import { utf8Text } from '@tidemark/core';
import type { Predicate } from '@tidemark/query';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { finish } from '../schedule/steps.ts';
import type { MeasurementIndex } from './measurement-index.ts';
import { IndexCache } from './index-cache.ts';
import { ordinalsInSteps } from './select.ts';
import { SeriesIndex } from './series-index.ts';
import type { TagPair } from '@tidemark/storage-api';

const KEYS = ['dc', 'host', 'rack', 'unused'] as const;
const VALUES = ['', 'a', 'b', 'ab', 'h1', 'h22', 'nobody has this'] as const;
const PATTERNS = ['a', '^a', 'b$', '^$', 'h[0-9]+', '.', 'never'] as const;

/** Some tags; empty values are tags that a series lacks. */
const tags: fc.Arbitrary<readonly TagPair[]> = fc
  .record({
    dc: fc.constantFrom('', 'a', 'b'),
    host: fc.oneof(fc.constantFrom('', 'h1', 'h22'), fc.stringMatching(/^[abh][0-9]{1,2}$/)),
    rack: fc.constantFrom('', '', '', 'ab'),
  })
  .map((values) => Object.entries(values).filter(([, value]) => value !== ''));

function selectOrdinals(
  index: SeriesIndex,
  measurement: MeasurementIndex,
  where: Predicate,
): Uint32Array {
  return finish(ordinalsInSteps(index, measurement, where));
}

function either(nodes: readonly Predicate[]): Predicate {
  return nodes.reduce((left, right) => ({ kind: 'or', left, right }));
}

/** One of several values of a key, the same more than once at times. */
const oneOf = fc
  .record({
    key: fc.constantFrom(...KEYS),
    values: fc.array(fc.constantFrom(...VALUES), { minLength: 2, maxLength: 4 }),
  })
  .map(({ key, values }) =>
    either(values.map((value) => ({ kind: 'tag', key, operator: '=', value }))),
  );

const { node: condition } = fc.letrec<{ node: Predicate }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({
      kind: fc.constant('tag' as const),
      key: fc.constantFrom(...KEYS),
      operator: fc.constantFrom('=' as const, '!=' as const),
      value: fc.constantFrom(...VALUES),
    }),
    fc.record({
      kind: fc.constant('tag-regex' as const),
      key: fc.constantFrom(...KEYS),
      operator: fc.constantFrom('=~' as const, '!~' as const),
      pattern: fc.constantFrom(...PATTERNS),
    }),
    oneOf,
    fc.record({ kind: fc.constant('constant' as const), value: fc.boolean() }),
    fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const),
      left: tie('node'),
      right: tie('node'),
    }),
  ),
}));

function holds(node: Predicate, values: ReadonlyMap<string, string>): boolean {
  switch (node.kind) {
    case 'tag':
      return ((values.get(node.key) ?? '') === node.value) === (node.operator === '=');
    case 'tag-regex':
      return new RegExp(node.pattern).test(values.get(node.key) ?? '') === (node.operator === '=~');
    case 'and':
      return holds(node.left, values) && holds(node.right, values);
    case 'or':
      return holds(node.left, values) || holds(node.right, values);
    case 'constant':
      return node.value;
    default:
      throw new Error('no fields here');
  }
}

describe.each([
  ['with postings', 1 << 20],
  ['with room for the postings of some keys', 200],
  ['without postings', 0],
])('%s', (_, budgetBytes) => {
  test('a condition selects the series whose tags it holds for, new ones included', () => {
    const series = fc.uniqueArray(tags, { selector: String, minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(series, fc.array(condition, { minLength: 1, maxLength: 4 }), (all, nodes) => {
        const index = new SeriesIndex('db', new IndexCache(budgetBytes, 1));
        const measurement = index.addMeasurement('m');
        const known: ReadonlyMap<string, string>[] = [];
        for (const one of all) {
          index.addSeries(measurement, one);
          known.push(new Map(one));
          // Postings are made when the first series is there: the others are behind their end, at
          // times.
          for (const node of known.length % 7 === 1 ? nodes : []) {
            const expected = known.flatMap((own, i) => (holds(node, own) ? [i] : []));
            expect([...selectOrdinals(index, measurement, node)]).toEqual(expected);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});

test('one of several values that very many series have', () => {
  const index = new SeriesIndex('db', new IndexCache(1 << 20, 1));
  const measurement = index.addMeasurement('m');
  const series = Array.from({ length: 9000 }, (_, i) => i);
  for (const i of series) {
    index.addSeries(measurement, [
      ['dc', `dc${i % 5}`],
      ['id', String(i)],
    ]);
  }
  const is = (value: string): Predicate => ({ kind: 'tag', key: 'dc', operator: '=', value });
  const some = either([is('dc3'), is('dc0'), is('none'), is('dc3')]);

  const selected = selectOrdinals(index, measurement, some);

  expect([...selected]).toEqual(series.filter((i) => i % 5 === 0 || i % 5 === 3));
});

test('a pattern is tested once per distinct value, however often it is asked for', () => {
  const index = new SeriesIndex('db', new IndexCache(1 << 20, 1));
  const measurement = index.addMeasurement('m');
  for (let i = 0; i < 300; i++) {
    index.addSeries(measurement, [
      ['dc', `dc${i % 3}`],
      ['id', String(i)],
    ]);
  }
  const read: string[] = [];
  const textOf = index.keys.symbol.bind(index.keys);
  index.keys.symbol = (id) => {
    read.push(utf8Text(textOf(id)));
    return textOf(id);
  };
  const node = { kind: 'tag-regex', key: 'dc', operator: '=~', pattern: '^dc[12]$' } as const;

  expect(selectOrdinals(index, measurement, node)).toHaveLength(200);
  expect(read).toEqual(['dc0', 'dc1', 'dc2']);

  index.addSeries(measurement, [['dc', 'dc12']]);
  expect(selectOrdinals(index, measurement, node)).toHaveLength(200);
  expect(read).toEqual(['dc0', 'dc1', 'dc2', 'dc12']);
});

test('a condition on one series of many decodes no long list', () => {
  const index = new SeriesIndex('db', new IndexCache(1 << 20, 1));
  const measurement = index.addMeasurement('m');
  for (let i = 0; i < 200; i++)
    index.addSeries(measurement, [
      ['dc', 'x'],
      ['id', String(i)],
    ]);
  const dc = { kind: 'tag', key: 'dc', operator: '=', value: 'x' } as const;
  const id = { kind: 'tag', key: 'id', operator: '=', value: '77' } as const;
  selectOrdinals(index, measurement, { kind: 'and', left: dc, right: id });
  const column = measurement.column('dc')!;
  const work = index.cache.postings.of(column, { count: 200, symbolCount: index.symbolCount });
  const postings = work.next().value!;
  const list = postings.list.bind(postings);
  let lists = 0;
  postings.list = (value) => {
    lists++;
    return list(value);
  };

  const both = selectOrdinals(index, measurement, { kind: 'and', left: dc, right: id });

  expect([...both]).toEqual([77]);
  expect(lists).toBe(0);
});
