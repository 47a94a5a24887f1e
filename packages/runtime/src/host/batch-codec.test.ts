import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WriteParser } from '../ingest/parse-write.ts';
import type { PointBatch } from '../point-batch.ts';
import { PointBatchBuilder } from '../point-batch.ts';
import { appendMovable, BatchPacker, BatchUnpacker } from './batch-codec.ts';

const options = { database: 'd', retentionPolicy: 'r', precision: 'ns', now: 0n } as const;
const parse = (parser: WriteParser, text: string): PointBatch =>
  parser.parse(Buffer.from(text), options).batch;

/** The batch after it was sent, its columns copied. */
function sent(packer: BatchPacker, unpacker: BatchUnpacker, batch: PointBatch): PointBatch {
  return unpacker.unpack(structuredClone(packer.pack(batch)));
}

/** As data: texts of series are read out of their pages. */
const withTexts = (batch: PointBatch): PointBatch => ({
  ...batch,
  series: batch.series.map(({ name, tagKeys, tagValues, stableId }) => ({
    name,
    tagKeys,
    tagValues,
    stableId,
  })),
});

/** Without numbers of series, which each parser gives anew. */
const plain = (batch: PointBatch): unknown => ({
  ...batch,
  series: withTexts(batch).series.map((ref) => ({ ...ref, stableId: undefined })),
});

const word = fc.string({ minLength: 1, maxLength: 3 });
const point = fc.record({
  name: word,
  tags: fc.dictionary(word, word, { maxKeys: 3 }),
  value: fc.oneof(fc.double(), fc.string(), fc.boolean(), fc.bigInt({ min: -9n, max: 9n })),
  isParsed: fc.boolean(),
});

test('any sequence of batches arrives as it was sent, whether series carry numbers or not', () => {
  fc.assert(
    fc.property(fc.array(fc.array(point, { minLength: 1 })), (writes) => {
      const packer = new BatchPacker();
      const unpacker = new BatchUnpacker();
      const numbers = new Map<string, number>();
      for (const write of writes) {
        const builder = new PointBatchBuilder('d', 'r');
        write.forEach(({ name, tags, value }, i) =>
          builder.add({
            name,
            tags: Object.entries(tags),
            fields: [['f', value]],
            time: BigInt(i),
          }),
        );
        const built = builder.build();
        const batch = {
          ...built,
          series: built.series.map((ref, i) => {
            if (write[i]?.isParsed !== true) return ref;
            const key = JSON.stringify(ref);
            if (!numbers.has(key)) numbers.set(key, numbers.size + 1);
            return { ...ref, stableId: numbers.get(key) };
          }),
        };

        expect(withTexts(sent(packer, unpacker, batch))).toEqual(withTexts(batch));
      }
    }),
  );
});

test('a series that the host knows is sent as a number alone', () => {
  const parser = new WriteParser();
  const packer = new BatchPacker();
  const unpacker = new BatchUnpacker();

  const first = packer.pack(parse(parser, 'm,h=a v=1 1\nm,h=b v=2 2'));
  const second = packer.pack(parse(parser, 'm,h=b v=3 3\nm,h=c v=4 4'));

  expect(first.series?.text).toBe('ab');
  expect(second.series?.text).toBe('c');
  unpacker.unpack(first);
  expect(unpacker.unpack(second).series.map(({ tagValues }) => tagValues)).toEqual([['b'], ['c']]);
});

test('numbers beyond the range start over, and earlier ones cross as texts', () => {
  const packer = new BatchPacker();
  const unpacker = new BatchUnpacker();
  const batch = (ids: readonly number[]): PointBatch => {
    const builder = new PointBatchBuilder('d', 'r');
    for (const id of ids) {
      builder.add({ name: `m${id}`, tags: [], fields: [['f', 1]], time: 0n });
    }
    const built = builder.build();
    return { ...built, series: built.series.map((ref, i) => ({ ...ref, stableId: ids[i] })) };
  };

  const names = [
    [1, 2],
    [5_000_000, 2],
    [5_000_000, 2, 12_000_000],
  ].map((ids) => sent(packer, unpacker, batch(ids)).series.map(({ name }) => name));

  expect(names).toEqual([
    ['m1', 'm2'],
    ['m5000000', 'm2'],
    ['m5000000', 'm2', 'm12000000'],
  ]);
});

test('columns of a large batch are moved, those of a small one copied', () => {
  const parser = new WriteParser();
  const lines = (count: number): string =>
    Array.from({ length: count }, (_, i) => `m,h=a f=${i},s="x",b=true,i=${i}i ${i}`).join('\n');
  const movableOf = (text: string): Set<ArrayBuffer> => {
    const movable = new Set<ArrayBuffer>();
    appendMovable(new BatchPacker().pack(parse(parser, text)), movable);
    return movable;
  };

  // Four columns, times and series by row.
  expect(movableOf(lines(100)).size).toBe(6);
  expect(movableOf(lines(10)).size).toBe(0);
});

test('what was moved has the values that were sent', () => {
  const parser = new WriteParser();
  const text = Array.from({ length: 100 }, (_, i) => `m,h=a f=${i},s="x${i % 3}" ${i}`).join('\n');
  const expected = plain(parse(parser, text));
  const packed = new BatchPacker().pack(parse(parser, text));
  const movable = new Set<ArrayBuffer>();
  appendMovable(packed, movable);

  const moved = structuredClone(packed, { transfer: [...movable] });

  expect(plain(new BatchUnpacker().unpack(moved))).toEqual(expected);
  expect(packed.times.length).toBe(0);
});

test('series of several writes arrive, whether they come in the order of their writes or not', () => {
  const parser = new WriteParser();
  const texts = ['m,h=a,r=1 v=1\nm,h=bb,r=22 v=1\nn,h=c v=1', 'm,h=dd,r=4 v=1\nm,x=é v=1'];
  const batches = texts.map((text) => parse(parser, text));
  const again = parse(parser, 'm,h=dd,r=4 v=1\nn,h=c v=1\nm,h=bb,r=22 v=1\nm,h=new,r=5 v=1');
  // Another host gets only the last write: it knows none of the series.
  const packer = new BatchPacker();
  const unpacker = new BatchUnpacker();

  expect(plain(sent(packer, unpacker, again))).toEqual(plain(again));
  for (const batch of batches) {
    expect(plain(sent(packer, unpacker, batch))).toEqual(plain(batch));
  }
});
