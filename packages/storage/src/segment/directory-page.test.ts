// Entries of directory pages are found individually, whatever their neighbours.
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { ByteWriter, DecodeError } from '../columns/bytes.ts';
import { DirectoryPage } from './directory-page.ts';
import { BLOCK_CHECKSUM_BYTES, writeEntry } from './format.ts';
import type { ChunkMeta, ColumnMeta, NumericStatistics, SegmentField } from './format.ts';

const FIELDS: readonly SegmentField[] = [
  { name: 'f', type: 'float' },
  { name: 'i', type: 'integer' },
  { name: 'u', type: 'unsigned' },
  { name: 's', type: 'string' },
];
const PAGE = { isShared: false, offset: 0, length: 0 };

type Entry = readonly [series: number, chunks: readonly ChunkMeta[]];

const int64 = fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n });
const uint64 = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
const blockBytes = fc.nat(1 << 20);

const times = fc
  .tuple(int64, fc.bigInt({ min: 0n, max: 1n << 40n }))
  .map(([start, span]) => ({ minTime: start > 0n ? start - (1n << 41n) : start, span }));

function valueOf(field: number): fc.Arbitrary<number | bigint> {
  if (field === 0) return fc.double({ noNaN: true });
  return field === 1 ? int64 : uint64;
}

type ColumnDraft = Omit<ColumnMeta, 'offset'>;

function columnOf(
  field: number,
  chunk: { readonly minTime: bigint; readonly maxTime: bigint; readonly rows: number },
): fc.Arbitrary<ColumnDraft> {
  const { minTime, maxTime, rows } = chunk;
  const time = fc.bigInt({ min: minTime, max: maxTime });
  const value = valueOf(field);
  return fc
    .record({
      validBytes: fc.constantFrom(0, 5),
      count: fc.integer({ min: 1, max: rows }),
      valueBytes: blockBytes,
      statistics: fc.option(
        fc.record({
          min: value,
          max: value,
          sum: value,
          first: value,
          last: value,
          minTime: time,
          maxTime: time,
          firstTime: time,
          lastTime: time,
        }),
        { nil: undefined },
      ),
    })
    .map(({ validBytes, count, valueBytes, statistics }) => ({
      field,
      validBytes,
      count: validBytes === 0 ? rows : count,
      valueBytes,
      statistics: field === 3 ? undefined : withTimes(statistics, { ...chunk, validBytes }),
    }));
}

/** Without nulls the first and the last value are those of the first and the last row. */
function withTimes(
  statistics: NumericStatistics | undefined,
  chunk: { readonly minTime: bigint; readonly maxTime: bigint; readonly validBytes: number },
): NumericStatistics | undefined {
  if (statistics === undefined || chunk.validBytes > 0) return statistics;
  return { ...statistics, firstTime: chunk.minTime, lastTime: chunk.maxTime };
}

const chunkDraft = fc
  .tuple(times, fc.integer({ min: 1, max: 4096 }), blockBytes, fc.subarray([0, 1, 2, 3]))
  .chain(([{ minTime, span }, rows, timeBytes, present]) => {
    const chunk = { minTime, maxTime: minTime + span, rows };
    const columns = fc.tuple(...present.map((field) => columnOf(field, chunk)));
    return columns.map((drafts) => ({ ...chunk, timeBytes, columns: drafts as ColumnDraft[] }));
  });

/** Entries whose blocks lie one after another from byte 16 on. */
const entries: fc.Arbitrary<Entry[]> = fc
  .array(
    fc.tuple(
      fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 1 << 20 })),
      fc.array(chunkDraft, { minLength: 1, maxLength: 3 }),
    ),
    { maxLength: 30 },
  )
  .map((drafts) => {
    let series = 0;
    let at = 16;
    const place = (bytes: number): number => {
      const offset = at;
      at += bytes + BLOCK_CHECKSUM_BYTES;
      return offset;
    };
    return drafts.map(([delta, chunks]): Entry => {
      series += delta;
      const placed = chunks.map(({ columns, ...chunk }) => {
        const timeOffset = place(chunk.timeBytes);
        const placedColumns = columns.map((column) => {
          return { ...column, offset: place(column.validBytes + column.valueBytes) };
        });
        return { ...chunk, timeOffset, columns: placedColumns };
      });
      return [series, placed];
    });
  });

function pageOf(list: readonly Entry[]): { readonly bytes: Uint8Array; readonly first: number } {
  const out = new ByteWriter();
  out.varint(16);
  const first = list[0]?.[0] ?? 0;
  let previous = first;
  for (const [series, chunks] of list) {
    writeEntry(out, { seriesDelta: series - previous, chunks }, FIELDS);
    previous = series;
  }
  return { bytes: out.finish(), first };
}

function open(list: readonly Entry[]): DirectoryPage {
  const { bytes, first } = pageOf(list);
  return new DirectoryPage(bytes, { ...PAGE, firstSeries: first }, FIELDS);
}

test('every entry is found as it was written, in any order, and nothing between them', () => {
  fc.assert(
    fc.property(entries, (list) => {
      const page = open(list);
      const held = new Set(list.map(([series]) => series));

      for (const [series, chunks] of list.toReversed()) {
        expect(page.chunks(series)).toEqual(chunks);
        for (const other of [series - 1, series + 1]) {
          if (!held.has(other)) expect(page.chunks(other)).toBeUndefined();
        }
      }
      expect([...page.entries()]).toEqual(list);
    }),
    { numRuns: 25 },
  );
});

test('bytes that are no page are refused or give something, nothing else happens', () => {
  const damage = fc.record({ at: fc.nat(), byte: fc.nat(255), length: fc.nat() });
  fc.assert(
    fc.property(entries, damage, (list, { at, byte, length }) => {
      const { bytes, first } = pageOf(list);
      const broken = bytes.slice(0, 1 + (length % bytes.length));
      broken[at % broken.length] = byte;

      try {
        const page = new DirectoryPage(broken, { ...PAGE, firstSeries: first }, FIELDS);
        for (const [series] of list) page.chunks(series);
        for (const entry of page.entries()) expect(entry).toHaveLength(2);
      } catch (error) {
        expect(error).toBeInstanceOf(DecodeError);
      }
    }),
    { numRuns: 60 },
  );
});

test('entries of single rows are not kept decoded, those with statistics are', () => {
  const chunk = { minTime: 0n, maxTime: 0n, rows: 1, timeOffset: 16, timeBytes: 1 };
  const plain: ColumnMeta = {
    field: 1,
    count: 1,
    offset: 21,
    validBytes: 0,
    valueBytes: 1,
    statistics: undefined,
  };
  const statistics: NumericStatistics = {
    min: -(1n << 62n),
    max: 1n << 62n,
    sum: 0n,
    first: -(1n << 62n),
    last: 1n << 62n,
    minTime: 0n,
    maxTime: 0n,
    firstTime: 0n,
    lastTime: 0n,
  };
  const small = open([[1, [{ ...chunk, columns: [plain] }]]]);
  const large = open([[1, [{ ...chunk, columns: [0, 1].map(() => ({ ...plain, statistics })) }]]]);
  const before = { small: small.sizeBytes, large: large.sizeBytes };

  for (const page of [small, large]) page.chunks(1);

  expect(small.sizeBytes).toBe(before.small);
  expect(large.sizeBytes).toBeGreaterThan(before.large);
  expect(large.chunks(1)).toBe(large.chunks(1));
});
