// Series in the order of their keys, against a plain sort of the keys as bytes.
import { formatSeriesKey } from '@tidemark/core';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { IngestKernel } from './ingest-kernel.ts';
import { Kernels } from './loader.ts';
import { SeriesKeys } from './series-keys.ts';
import { sortedByKey, sortedByTags, sortedSymbols } from './series-order.ts';

const HOUR = 3_600_000_000_000n;

/** A table with a series per tag value, in this order. */
function tableOf(values: readonly string[]): SeriesKeys {
  return tableOfTags(values.map((value) => [['t', value]]));
}

/** A table with a series per set of tags. */
function tableOfTags(sets: readonly (readonly (readonly [string, string])[])[]): SeriesKeys {
  const series = new SeriesKeys(new Kernels());
  const kernel = new IngestKernel({
    series,
    parseLine: () => {
      throw new Error('points are given');
    },
  });
  const points = sets.map((tags) => ({
    measurement: 'm',
    tags,
    fields: [['f', 1]] as const,
    time: 0n,
  }));
  kernel.appendPoints(points, {
    shardFor: () => ({ id: 1, start: 0n, end: HOUR }),
    fieldTypes: () => [],
  });
  return series;
}

function sorted(series: SeriesKeys, ids: Uint32Array, order = sortedByKey): Uint32Array {
  const work = order(series, ids);
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

function plainly(series: SeriesKeys, ids: Uint32Array): number[] {
  const keys = new Map(Array.from(ids, (id) => [id, Buffer.from(series.key(id))]));
  return [...ids].sort((a, b) => Buffer.compare(keys.get(a)!, keys.get(b)!));
}

test('any series come in the order of their keys as bytes', () => {
  const value = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((t) => !/[\n\\]/.test(t)),
    fc.stringMatching(/^abcdefg[a-c]{1,12}$/),
  );
  fc.assert(
    fc.property(fc.uniqueArray(value, { maxLength: 60 }), (values) => {
      const series = tableOf(values);
      const ids = Uint32Array.from({ length: series.nextId }, (_, id) => id);

      expect([...sorted(series, ids)]).toEqual(plainly(series, ids));
      const textIds = Uint32Array.from({ length: series.symbolCount }, (_, id) => id);
      const texts = Array.from(textIds, (id) => Buffer.from(series.symbol(id)));
      expect(Array.from(sorted(series, textIds, sortedSymbols), (id) => texts[id])).toEqual(
        texts.toSorted((a, b) => Buffer.compare(a, b)),
      );
    }),
    { numRuns: 100 },
  );
});

test('many series are merged from runs, with pauses, and room for it is given back', () => {
  const series = tableOf(
    Array.from({ length: 20_000 }, (_, i) => `v${Math.imul(i, 2654435761) >>> 0}`),
  );
  const ids = Uint32Array.from({ length: 13_007 }, (_, i) => i + 1000);
  const before = series.kernels.exports.memoryInUse();

  const work = sortedByKey(series, ids);
  expect(work.next().done).toBe(false);
  work.return(new Uint32Array(0));

  expect(series.kernels.exports.memoryInUse()).toBe(before);
  expect([...sorted(series, ids)]).toEqual(plainly(series, ids));
});

test('series come in the order of their tags, whatever has to be escaped in a key', () => {
  // Bytes around those that separate, escape and are escaped.
  const text = fc.string({
    unit: fc.constantFrom(' ', '!', '+', ',', '-', '=', 'a', '\\', 'é'),
    maxLength: 4,
  });
  const part = text.filter((t) => t !== '' && !t.endsWith('\\'));
  const tags = fc.uniqueArray(fc.tuple(part, part), { maxLength: 3, selector: ([key]) => key });
  fc.assert(
    fc.property(fc.array(tags, { minLength: 1, maxLength: 20 }), (sets) => {
      const series = tableOfTags(sets);
      const ids = Uint32Array.from({ length: series.nextId }, (_, id) => id);

      const found = Array.from(sorted(series, ids, sortedByTags), (id) => series.key(id));

      expect(found.map((key) => Buffer.from(key).toString())).toEqual(inTagOrder(sets));
    }),
    { numRuns: 100 },
  );
});

/** Keys of the sets, without repetitions, sorted part by part. */
function inTagOrder(sets: readonly (readonly (readonly [string, string])[])[]): string[] {
  const parts = new Map(
    sets.map((set) => {
      const tags = set.toSorted((a, b) => Buffer.compare(Buffer.from(a[0]), Buffer.from(b[0])));
      return [formatSeriesKey('m', tags), tags.flat()];
    }),
  );
  const order = (a: readonly string[], b: readonly string[]): number => {
    for (let i = 0; i < Math.min(a.length, b.length); i++) {
      const difference = Buffer.compare(Buffer.from(a[i]!), Buffer.from(b[i]!));
      if (difference !== 0) return difference;
    }
    return a.length - b.length;
  };
  return [...parts].sort(([, a], [, b]) => order(a, b)).map(([key]) => key);
}
