import { escapeMeasurement, formatSeriesKey } from '@tidemark/core';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { CodecError } from './codec-error.ts';
import { Area } from './abi.gen.ts';
import { Kernels } from './loader.ts';
import { NO_MEASUREMENT, SeriesKeys } from './series-keys.ts';

const utf8 = new TextEncoder();
const text = new TextDecoder();

type Series = {
  readonly measurement: string;
  readonly tags: readonly (readonly [string, string])[];
};

const part = fc.oneof(
  fc.constantFrom('a', 'host', 'ünï', 'x y', 'k=v', 'c,d', 'b\\s', '\u{1f600}'),
  fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }),
);
const plain = part.filter((t) => !/[\n\\]/.test(t) || t === 'b\\s');
const oneSeries: fc.Arbitrary<Series> = fc
  .tuple(plain, fc.uniqueArray(fc.tuple(plain, plain), { selector: ([key]) => key, maxLength: 5 }))
  .map(([measurement, tags]) => ({ measurement, tags }));

function keyOf({ measurement, tags }: Series): string {
  return formatSeriesKey(measurement, tags);
}

/** A list as logs hold it, all series of distinct measurements `names`. */
function listOf(keys: readonly string[], names: readonly string[]): Uint8Array {
  const bytes: number[] = [];
  const varint = (value: number): void => {
    let rest = value;
    for (; rest >= 128; rest >>= 7) bytes.push((rest & 127) | 128);
    bytes.push(rest);
  };
  for (const key of keys) {
    const owner = names.findIndex((name) => {
      const prefix = escapeMeasurement(name);
      return key === prefix || key.startsWith(`${prefix},`);
    });
    const tags = utf8.encode(key.slice(escapeMeasurement(names[owner]!).length));
    varint(owner);
    varint(tags.length);
    bytes.push(...tags);
  }
  return Uint8Array.from(bytes);
}

function insert(series: SeriesKeys, keys: readonly string[], names: readonly string[]): void {
  const numbers = Uint32Array.from(names, (name) => series.measurementNumber(name));
  const list = { bytes: listOf(keys, names), count: keys.length, firstId: series.nextId };
  series.insertList(list, numbers);
}

test('series of a list are found, split into their tags, and listed again', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(oneSeries, { selector: keyOf, minLength: 1, maxLength: 20 }),
      (all) => {
        const series = new SeriesKeys(new Kernels());
        // Longest first, so that a name that begins another one does not claim its keys.
        const names = [...new Set(all.map((one) => one.measurement))].sort(
          (a, b) => b.length - a.length,
        );
        const keys = all.map(keyOf);

        insert(series, keys, names);

        keys.forEach((key, id) => expect(series.find(utf8.encode(key))).toBe(id));
        expect(Array.from(keys, (_, id) => text.decode(series.key(id)))).toEqual(keys);
        expect(splitAll(series)).toEqual(
          all.map(({ measurement, tags }) => ({
            measurement,
            tags: Object.fromEntries(tags),
          })),
        );
        const ids = new Uint32Array(100);
        names.forEach((name, i) => (ids[series.measurementNumber(name)] = i));
        expect(series.encodeList(0, keys.length, { measurementIds: ids })).toEqual({
          bytes: listOf(keys, names),
          count: keys.length,
        });
      },
    ),
    { numRuns: 60 },
  );
});

function splitAll(series: SeriesKeys): unknown[] {
  const result: unknown[] = [];
  for (let first = 0; first < series.nextId;) {
    const { count, words } = series.split(first, series.nextId);
    let at = 0;
    const numbers = words.slice();
    for (let i = 0; i < count; i++) {
      const measurement = series.measurementName(numbers[at]!);
      const tags: [string, string][] = [];
      for (let n = numbers[at + 1]!, t = at + 2; n > 0; n--, t += 2) {
        tags.push([series.tagKey(numbers[t]!), text.decode(series.symbol(numbers[t + 1]!))]);
      }
      at += 2 + 2 * numbers[at + 1]!;
      // Keys such as `__proto__` are no properties to assign to.
      result.push({ measurement, tags: Object.fromEntries(tags) });
    }
    first += count;
  }
  return result;
}

test('a list without deleted series leaves their ids free of memory, and a checkpoint keeps it so', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 70_000 }),
      fc.uniqueArray(fc.nat(69_999), { maxLength: 40 }),
      (count, kept) => {
        const series = new SeriesKeys(new Kernels());
        insert(
          series,
          Array.from({ length: count }, (_, i) => `hc,id=${i}`),
          ['hc'],
        );
        const isKept = new Set(kept);
        for (let id = 0; id < count; id++) if (!isKept.has(id)) series.delete(id);

        const list = series.encodeList(0, count, {
          measurementIds: Uint32Array.of(0),
          leavesDeleted: true,
        });
        const sparse = new SeriesKeys(new Kernels());
        sparse.insertList({ ...list, firstId: 0 }, Uint32Array.of(sparse.measurementNumber('hc')));
        const loaded = reload(sparse);

        const left = kept.filter((id) => id < count);
        for (const copy of [sparse, loaded]) {
          expect([copy.nextId, copy.presentCount]).toEqual([count, left.length]);
          for (const id of left) {
            expect(copy.find(utf8.encode(`hc,id=${id}`))).toBe(id);
            expect(text.decode(copy.key(id))).toBe(`hc,id=${id}`);
          }
          expect(copy.has(count)).toBe(false);
          insert(copy, ['hc,id=new'], ['hc']);
          expect(copy.find(utf8.encode('hc,id=new'))).toBe(count);
        }
        expect(sparse.encodeList(0, count, { measurementIds: Uint32Array.of(0) })).toEqual(list);
      },
    ),
    { numRuns: 5 },
  );
});

/** As a checkpoint brings it back. */
function reload(series: SeriesKeys): SeriesKeys {
  const copy = new SeriesKeys(new Kernels());
  copy.measurementNumber('hc');
  const count = series.nextId;
  const portions = Array.from(series.exportPart('series', count), (bytes) => bytes.slice());
  const bytes = Buffer.concat(portions);
  const checksum = crc32c(bytes);
  copy.loadPart('series', { sizeBytes: bytes.length, count, checksum }, (target) => {
    target.set(bytes);
  });
  return copy;
}

function crc32c(bytes: Uint8Array): number {
  const kernels = new Kernels();
  const address = kernels.copyIn(Area.input, bytes);
  return kernels.exports.crc32c(address, bytes.length, 0) >>> 0;
}

test('a hundred thousand series are found again, at less than 80 bytes each beyond their texts', () => {
  const series = new SeriesKeys(new Kernels());
  const count = 100_000;
  const keys = Array.from({ length: count }, (_, i) => `hc,dc=dc${i % 7},id=${i}`);
  insert(series, keys, ['hc']);

  expect(series.nextId).toBe(count);
  for (let id = 0; id < count; id += 997) expect(series.find(utf8.encode(keys[id]!))).toBe(id);
  expect(series.find(utf8.encode('hc,dc=dc1,id=0'))).toBe(-1);
  expect(series.memoryBytes).toBeLessThan(count * 80);
});

test('series that are known are skipped, of two with one key the later is found', () => {
  const series = new SeriesKeys(new Kernels());
  const numbers = Uint32Array.of(series.measurementNumber('m'));
  insert(series, ['m,t=a', 'm,t=b'], ['m']);

  const again = listOf(['m,t=a', 'm,t=b', 'm,t=c'], ['m']);
  series.insertList({ bytes: again, count: 3, firstId: 0 }, numbers);
  expect(series.nextId).toBe(3);
  series.insertList({ bytes: listOf(['m,t=d', 'm,t=a'], ['m']), count: 2, firstId: 3 }, numbers);

  expect(series.find(utf8.encode('m,t=a'))).toBe(4);
  expect(text.decode(series.key(0))).toBe('m,t=a');
  series.undelete(0);
  expect(series.find(utf8.encode('m,t=a'))).toBe(4);
});

test('a deleted series is not found until it is undeleted', () => {
  const series = new SeriesKeys(new Kernels());
  const keys = Array.from({ length: 20_000 }, (_, i) => `m,t=${i}`);
  insert(series, keys, ['m']);

  for (let id = 0; id < keys.length; id += 2) series.delete(id);
  insert(series, ['m,t=more'], ['m']);
  for (let id = 0; id < keys.length; id += 101) {
    expect(series.find(utf8.encode(keys[id]!))).toBe(id % 2 === 0 ? -1 : id);
    expect(text.decode(series.key(id))).toBe(keys[id]);
  }
  for (let id = 0; id < keys.length; id += 4) series.undelete(id);
  for (let id = 0; id < keys.length; id += 101) {
    expect(series.find(utf8.encode(keys[id]!))).toBe(id % 4 === 2 ? -1 : id);
  }
});

test('lists that no writer made are refused', () => {
  const series = new SeriesKeys(new Kernels());
  const numbers = Uint32Array.of(series.measurementNumber('m'));
  const good = listOf(['m,t=a', 'm,t=b'], ['m']);

  for (let length = 0; length < good.length; length++) {
    const list = { bytes: good.subarray(0, length), count: 2, firstId: 10 };
    const fresh = new SeriesKeys(new Kernels());
    const number = fresh.measurementNumber('m');
    expect(() => fresh.insertList(list, Uint32Array.of(number))).toThrow(CodecError);
  }
  const foreign = { bytes: Uint8Array.of(9, 0), count: 1, firstId: 20 };
  expect(() => series.insertList(foreign, numbers)).toThrow(CodecError);
});

test('ids that do not exist have no measurement', () => {
  const series = new SeriesKeys(new Kernels());
  insert(series, ['m,t=a'], ['m']);
  const list = { bytes: listOf(['m,t=b'], ['m']), count: 1, firstId: 3 };
  series.insertList(list, Uint32Array.of(series.measurementNumber('m')));

  const { count, words } = series.split(0, 4);

  expect(count).toBe(4);
  expect([words[0], words[1]]).toEqual([series.measurementNumber('m'), 1]);
  expect([...words.subarray(4, 8)]).toEqual([NO_MEASUREMENT, 0, NO_MEASUREMENT, 0]);
  expect(series.key(1)).toHaveLength(0);
});

test('while a table grows in portions, keys lead to their series and deleted ones to none', () => {
  // 16,384 slots at first: growing begins with 10,240 entries and is over some thousand later.
  fc.assert(
    fc.property(fc.infiniteStream(fc.nat()), (numbers) => {
      const random = (below: number): number => numbers.next().value % below;
      const series = new SeriesKeys(new Kernels());
      const keys: string[] = [];
      const deleted = new Set<number>();
      const wrong: string[] = [];
      const check = (id: number): void => {
        const found = series.find(utf8.encode(keys[id]!));
        if (found !== (deleted.has(id) ? -1 : id)) wrong.push(`${keys[id]} led to ${found}`);
      };
      const add = (count: number): void => {
        const added = Array.from({ length: count }, (_, i) => `m,id=${keys.length + i}`);
        insert(series, added, ['m']);
        keys.push(...added);
      };
      add(10_000);
      while (keys.length < 13_000) {
        add(1 + random(60));
        const old = random(keys.length);
        const recent = keys.length - 1 - random(20);
        for (const id of [old, recent]) {
          series.delete(id);
          deleted.add(id);
        }
        if (random(20) === 0) {
          series.undelete(old);
          deleted.delete(old);
        }
        for (let n = 0; n < 5; n++) check(random(keys.length));
        check(old);
        check(recent);
        if (series.find(utf8.encode(`m,id=${keys.length}`)) !== -1) wrong.push('a key that is new');
      }

      for (let id = 0; id < keys.length; id++) check(id);
      expect(wrong).toEqual([]);
    }),
    { numRuns: 3 },
  );
});

test('texts are found again while their table grows', () => {
  const series = new SeriesKeys(new Kernels());
  for (let first = 0; first < 14_000; first += 50) {
    insert(
      series,
      Array.from({ length: 50 }, (_, i) => `m,id=${first + i}`),
      ['m'],
    );
    for (let next = first; next < series.nextId;) next += series.split(next, series.nextId).count;
    // Values get their numbers in the order in which they come.
    for (let id = first % 7; id < series.nextId; id += 997) {
      expect(series.findSymbol(utf8.encode(String(id)))).toBe(id);
    }
  }

  expect(series.symbolCount).toBe(14_000);
  for (let id = 0; id < 14_000; id += 3)
    expect(series.findSymbol(utf8.encode(String(id)))).toBe(id);
  expect(series.findSymbol(utf8.encode('14000'))).toBe(-1);
});

test('keys lead to their series while tables grow and most series come and go', () => {
  const series = new SeriesKeys(new Kernels());
  const model = new Map<string, number>();
  const keyAt = (round: number, i: number): string => `m,id=${round * 1_000_003 + i}`;
  // 80,000 ids of which 8,000 stay: ids need more bits than there are slots, and tables are made
  // again a few times.
  for (let round = 0; round < 10; round++) {
    const keys = Array.from({ length: 8_000 }, (_, i) => keyAt(round, i));
    const first = series.nextId;
    insert(series, keys, ['m']);
    keys.forEach((key, i) => model.set(key, first + i));
    if (round === 0) continue;
    for (let i = 0; i < 8_000; i++) {
      const key = keyAt(round - 1, i);
      const id = model.get(key)!;
      series.delete(id);
      model.delete(key);
      // Some come back before anything takes their place.
      if (i % 100 === 0 && round === 9) {
        series.undelete(id);
        model.set(key, id);
      }
    }
  }

  const lost = [...model.keys()].filter((key) => series.find(utf8.encode(key)) !== model.get(key));
  expect(lost).toEqual([]);
  expect(model.size).toBe(8_080);
  for (let i = 0; i < 8_000; i += 97) expect(series.find(utf8.encode(keyAt(3, i)))).toBe(-1);
});

test('each instance hashes in its own way, so that clients cannot choose keys that collide', () => {
  const keys = Array.from({ length: 100 }, (_, i) => `m,id=${i}`);
  const memories = [1, 2].map(() => {
    const series = new SeriesKeys(new Kernels());
    insert(series, keys, ['m']);
    expect(series.find(utf8.encode('m,id=7'))).toBe(7);
    return series.kernels.bytes;
  });

  // Everything but the slots that the hashes choose is the same.
  expect(Buffer.compare(...(memories as [Uint8Array, Uint8Array]))).not.toBe(0);
});
