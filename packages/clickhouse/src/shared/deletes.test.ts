// Deletes that front ends have agreed on, as entries and as a list.
import { expect, test } from 'vitest';

import { coversMeasurement, Deletes } from './deletes.ts';
import type { Delete, NewDelete } from './deletes.ts';
import { parseShared, printShared } from './entries.ts';

const where = { kind: 'tag', key: 'h', operator: '=', value: '1n' } as const;

const deleted = (version: bigint, one: Partial<NewDelete> = {}): Delete => ({
  version,
  groups: [1],
  filter: { measurements: ['m'] },
  ...one,
});

const versionsOf = (...all: readonly Delete[]): readonly bigint[] => {
  const deletes = new Deletes();
  for (const one of all) deletes.add(one);
  return deletes.all.map(({ version }) => version);
};

test('a later delete replaces those whose rows it hides, and no others', () => {
  const range = (start: bigint, end: bigint) => ({ timeRange: { start, end } });
  const tagged = { filter: { measurements: ['m'], where } };

  expect(versionsOf(deleted(1n), deleted(2n))).toEqual([2n]);
  expect(versionsOf(deleted(1n, range(2n, 3n)), deleted(2n, range(1n, 3n)))).toEqual([2n]);
  expect(versionsOf(deleted(1n, range(1n, 3n)), deleted(2n, range(2n, 3n)))).toEqual([1n, 2n]);
  expect(versionsOf(deleted(1n, range(1n, 3n)), deleted(2n))).toEqual([2n]);
  expect(versionsOf(deleted(1n), deleted(2n, range(1n, 3n)))).toEqual([1n, 2n]);
  expect(versionsOf(deleted(1n, tagged), deleted(2n))).toEqual([2n]);
  expect(versionsOf(deleted(1n), deleted(2n, tagged))).toEqual([1n, 2n]);
  expect(versionsOf(deleted(1n, { groups: [1, 2] }), deleted(2n))).toEqual([1n, 2n]);
  expect(versionsOf(deleted(1n), deleted(2n, { filter: { measurements: ['n'] } }))).toEqual([
    1n,
    2n,
  ]);
});

test('a delete that replaces one keeps its columns, which no type names any more', () => {
  const deletes = new Deletes();
  deletes.add(deleted(1n, { columns: ['7'] }));
  deletes.add(deleted(2n));
  expect(deletes.all).toEqual([deleted(2n, { columns: ['7'] })]);
});

test('shard groups that are dropped have nothing to hide', () => {
  const deletes = new Deletes();
  deletes.add(deleted(1n, { groups: [1, 2] }));
  deletes.add(deleted(2n, { groups: [2], filter: {} }));
  deletes.dropGroups([2]);
  expect(deletes.all).toEqual([deleted(1n)]);
});

test('covers measurements by name and by pattern', () => {
  expect(coversMeasurement(deleted(1n), 'm')).toBe(true);
  expect(coversMeasurement(deleted(1n), 'mm')).toBe(false);
  expect(coversMeasurement(deleted(1n, { filter: {} }), 'x')).toBe(true);
  const pattern = { filter: { measurementPattern: '^m' } };
  expect(coversMeasurement(deleted(1n, pattern), 'mm')).toBe(true);
  expect(coversMeasurement(deleted(1n, pattern), 'am')).toBe(false);
});

test('an entry and the state are texts that keep 64-bit numbers, and texts that look like them', () => {
  const entries = [
    { kind: 'delete', deleted: deleted(1n << 62n, { timeRange: { start: -1n, end: 9n } }) },
    { kind: 'delete', deleted: { groups: [1], filter: { where } } },
    { kind: 'deletes-removed', versions: [1n, 1n << 63n] },
    { versionBase: 0n },
  ];
  for (const entry of entries) expect(parseShared(printShared(entry))).toEqual(entry);
});
