import { deserialize, serialize } from 'node:v8';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SeriesTable } from '../data/series.ts';
import { WriteParser } from '../ingest/parse-write.ts';
import type { PointBatch, SeriesRef } from '../point-batch.ts';
import { PointBatchBuilder } from '../point-batch.ts';
import { BatchPacker, BatchUnpacker, movable, packWhole } from './batch-codec.ts';
import type { PackedBatch } from './batch-codec.ts';

const options = { database: 'd', retentionPolicy: 'r', precision: 'ns', now: 0n } as const;
const parse = (parser: WriteParser, text: string): PointBatch =>
  parser.parse(Buffer.from(text), options).batch;

/** The batch after it was sent, its columns copied. */
function sent(packer: BatchPacker, unpacker: BatchUnpacker, batch: PointBatch): PointBatch {
  return unpacker.unpack(structuredClone(packer.pack(batch))).batch;
}

/** As data, without numbers of series: each parser gives others, and the receiver has none. */
const plain = (batch: PointBatch): unknown => ({
  ...batch,
  series: Array.from(batch.series, ({ name, tagKeys, tagValues }) => ({
    name,
    tagKeys,
    tagValues,
  })),
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
      const unpacker = new BatchUnpacker(new SeriesTable());
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
          series: Array.from(built.series, (ref, i) => {
            if (write[i]?.isParsed !== true) return ref;
            const key = JSON.stringify(ref);
            if (!numbers.has(key)) numbers.set(key, numbers.size + 1);
            return { ...ref, stableId: numbers.get(key) };
          }),
        };

        expect(plain(sent(packer, unpacker, batch))).toEqual(plain(batch));
      }
    }),
  );
});

test('a series that the host knows is sent as a number alone', () => {
  const parser = new WriteParser();
  const packer = new BatchPacker();
  const unpacker = new BatchUnpacker(new SeriesTable());

  const first = packer.pack(parse(parser, 'm,h=a v=1 1\nm,h=b v=2 2'));
  const second = packer.pack(parse(parser, 'm,h=b v=3 3\nm,h=c v=4 4'));

  expect(first.series?.text).toBe('ab');
  expect(second.series?.text).toBe('c');
  unpacker.unpack(first);
  expect(Array.from(unpacker.unpack(second).batch.series, ({ tagValues }) => tagValues)).toEqual([
    ['b'],
    ['c'],
  ]);
});

test('numbers beyond the range start over, and earlier ones cross as texts', () => {
  const packer = new BatchPacker();
  const unpacker = new BatchUnpacker(new SeriesTable());
  const batch = (ids: readonly number[]): PointBatch => {
    const builder = new PointBatchBuilder('d', 'r');
    for (const id of ids) {
      builder.add({ name: `m${id}`, tags: [], fields: [['f', 1]], time: 0n });
    }
    const built = builder.build();
    return {
      ...built,
      series: Array.from(built.series, (ref, i) => ({ ...ref, stableId: ids[i] })),
    };
  };

  const names = [
    [1, 2],
    [5_000_000, 2],
    [5_000_000, 2, 12_000_000],
  ].map((ids) => Array.from(sent(packer, unpacker, batch(ids)).series, ({ name }) => name));

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
    const buffers = new Set<ArrayBuffer>();
    movable(new BatchPacker().pack(parse(parser, text)), buffers);
    return buffers;
  };

  // Four columns, of which texts have three arrays, times and series by row.
  expect(movableOf(lines(100)).size).toBe(8);
  expect(movableOf(lines(10)).size).toBe(0);
});

test('moved buffers have the values that were sent', () => {
  const parser = new WriteParser();
  const text = Array.from({ length: 100 }, (_, i) => `m,h=a f=${i},s="x${i % 3}" ${i}`).join('\n');
  const expected = plain(parse(parser, text));
  const packed = new BatchPacker().pack(parse(parser, text));
  const buffers = new Set<ArrayBuffer>();

  const moved = structuredClone(movable(packed, buffers), { transfer: [...buffers] });

  expect(plain(new BatchUnpacker(new SeriesTable()).unpack(moved).batch)).toEqual(expected);
  expect(packed.times.length).toBe(0);
});

test.each([10, 1000])('a batch of %i rows that came in a frame leaves the frame', (rowCount) => {
  const text = Array.from({ length: rowCount }, (_, i) => `m,h=a${i} f=${i},s="x${i}",b=true ${i}`);
  const batch = parse(new WriteParser(), text.join('\n'));
  const [framed] = deserialize(serialize([packWhole(batch), 'x'.repeat(1 << 20)])) as [PackedBatch];
  const buffers = new Set<ArrayBuffer>();

  const moved = structuredClone(movable(framed, buffers), { transfer: [...buffers] });

  expect(sharedBuffersOf(framed)).not.toEqual([]);
  expect(sharedBuffersOf(moved)).toEqual([]);
  expect(plain(new BatchUnpacker(new SeriesTable()).unpack(moved).batch)).toEqual(plain(batch));
});

/** Sizes of buffers of which columns are a part. */
function sharedBuffersOf({ numbers, series, seriesOfRow, times, blocks }: PackedBatch): number[] {
  const columns = blocks.flatMap((block) =>
    block.columns.map((column) => (column.type === 'string' ? column.codes : column.values)),
  );
  return [numbers, series?.ends, series?.shapeOf, seriesOfRow, times, ...columns]
    .filter((view) => view !== undefined && view.byteLength < view.buffer.byteLength)
    .map((view) => view?.buffer.byteLength ?? 0);
}

test('series of several writes arrive, whether they come in the order of their writes or not', () => {
  const parser = new WriteParser();
  const texts = ['m,h=a,r=1 v=1\nm,h=bb,r=22 v=1\nn,h=c v=1', 'm,h=dd,r=4 v=1\nm,x=é v=1'];
  const batches = texts.map((text) => parse(parser, text));
  const again = parse(parser, 'm,h=dd,r=4 v=1\nn,h=c v=1\nm,h=bb,r=22 v=1\nm,h=new,r=5 v=1');
  // Another host gets only the last write: it knows none of the series.
  const packer = new BatchPacker();
  const unpacker = new BatchUnpacker(new SeriesTable());

  expect(plain(sent(packer, unpacker, again))).toEqual(plain(again));
  for (const batch of batches) {
    expect(plain(sent(packer, unpacker, batch))).toEqual(plain(batch));
  }
});

test('series that share their page with others arrive without them', () => {
  const parser = new WriteParser();
  parse(parser, 'm,h=aa v=1\nm,h=bb v=1\nn,h=cc v=1\nn,h=dd v=1');

  for (const text of [
    'n,h=cc v=1\nn,h=dd v=1',
    'm,h=aa v=1\nm,h=bb v=1',
    'm,h=bb v=1',
    'n,h=dd v=1',
  ]) {
    const batch = parse(parser, text);
    const received = sent(new BatchPacker(), new BatchUnpacker(new SeriesTable()), batch);

    expect(plain(received)).toEqual(plain(batch));
    expect(
      Array.from(received.series, spelled)
        .map((key) => `${key} v=1`)
        .join('\n'),
    ).toBe(text);
  }
});

/** Spellings of series: of a few shapes, out of order, with more than ASCII, without tags. */
const spelling = fc
  .record({
    form: fc.constantFrom(
      (n: number) => `m,h=a${n}`,
      (n: number) => `m,h=a${n},r=${n % 3}`,
      (n: number) => `n,h=a${n}`,
      (n: number) => `m,r=b,h=a${n}`,
      (n: number) => `m,h=é${n}`,
      (n: number) => `m,hh=a${n}`,
      (n: number) => `m${n}`,
    ),
    n: fc.nat(4),
  })
  .map(({ form, n }) => form(n));

test('rows arrive with the series of their lines, at hosts that know them or not', () => {
  const writes = fc.array(
    fc.record({
      lines: fc.array(spelling, { minLength: 1, maxLength: 12 }),
      isForBoth: fc.boolean(),
      /** The whole body is left to the general parser, after some of its series were read. */
      isGivenUp: fc.constantFrom(false, false, false, true),
    }),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(writes, (list) => {
      const parser = new WriteParser();
      const ends = [0, 1].map(() => ({
        packer: new BatchPacker(),
        unpacker: new BatchUnpacker(new SeriesTable()),
      }));
      for (const { lines, isForBoth, isGivenUp } of list) {
        const text = lines.map((line, i) => `${line} v=${i}`).join('\n');
        const batch = parse(parser, isGivenUp ? `${text}\nm,h=a\\,b v=99` : text);
        for (const { packer, unpacker } of isForBoth ? ends : ends.slice(0, 1)) {
          const received = sent(packer, unpacker, batch);

          const expected = isGivenUp ? [...lines, 'm,h=a,b'] : lines;
          expect(Array.from(received.seriesOfRow, (i) => spelled(received.series.at(i)))).toEqual(
            expected.map(sortedKey),
          );
        }
      }
    }),
  );
});

test('a batch keeps its series when the parser has started over', () => {
  const parser = new WriteParser();
  const first = parse(parser, 'm,h=a,r=b v=1\nn v=1');
  const many = Array.from({ length: 200_001 }, (_, i) => `m,h=${i},r=c v=1`);
  parse(parser, many.join('\n'));

  const later = parse(parser, 'm,h=7,r=c v=1\nm,r=b,h=a v=1');

  expect(Array.from(first.series, spelled)).toEqual(['m,h=a,r=b', 'n']);
  expect(Array.from(later.series, spelled)).toEqual(['m,h=7,r=c', 'm,h=a,r=b']);
  const ids = [...first.series, ...later.series].map(({ stableId }) => stableId);
  expect(new Set(ids).size).toBe(4);
});

function spelled(ref: SeriesRef | undefined): string {
  return [ref?.name, ...(ref?.tagKeys ?? []).map((key, i) => `${key}=${ref?.tagValues[i]}`)].join();
}

function sortedKey(key: string): string {
  // The escaped comma of the line that only the general parser reads.
  if (key === 'm,h=a,b') return key;
  const [name, ...tags] = key.split(',');
  return [name, ...tags.toSorted()].join();
}
