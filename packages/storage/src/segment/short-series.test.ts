// Series with few rows share chunks: every written row is read back, series by series and in
// blocks, and merged sources equal a plain map.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { columnFrom, columnValue } from '@tidemark/core';
import type { FieldType, FieldValue } from '@tidemark/core';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { mergeSources } from '../columns/merge-sources.ts';
import type { SeriesRows } from '../columns/series-rows.ts';
import { nodeDisk } from '../disk/node-disk.ts';
import { storedRowsWithin } from '../shard/stored-rows.ts';
import type { SegmentMeasurement } from './format.ts';
import { SegmentCaches } from './segment-caches.ts';
import { Segment } from './segment.ts';
import { ALL_SERIES } from './series-ranges.ts';
import { SegmentWriter } from './writer.ts';

type Row = { readonly series: number; readonly time: bigint; readonly values: Values };
type Values = readonly (FieldValue | null)[];

const FIELDS: readonly { readonly name: string; readonly type: FieldType }[] = [
  { name: 'f', type: 'float' },
  { name: 'i', type: 'integer' },
  { name: 's', type: 'string' },
  { name: 'b', type: 'boolean' },
];

const values: fc.Arbitrary<Values> = fc.tuple(
  fc.option<FieldValue>(fc.double({ noNaN: true }), { freq: 3 }),
  fc.option<FieldValue>(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { freq: 5 }),
  fc.option<FieldValue>(fc.constantFrom('', 'a', 'b'), { freq: 2 }),
  fc.option<FieldValue>(fc.boolean(), { freq: 1 }),
);

/** Series of up to 40 rows; with gaps, so that some files have few neighbours to share with. */
const sourceOf = (seriesMax: number): fc.Arbitrary<readonly Row[]> =>
  fc
    .uniqueArray(fc.integer({ min: 0, max: seriesMax }), { maxLength: 120 })
    .chain((ids) =>
      fc.tuple(
        ...ids.map((series) =>
          fc
            .tuple(
              fc.oneof(
                { weight: 9, arbitrary: fc.integer({ min: 1, max: 4 }) },
                fc.integer({ min: 1, max: 40 }),
              ),
              fc.integer({ min: 0, max: 20 }),
              values,
            )
            .map(([count, start, first]) =>
              Array.from({ length: count }, (_, i) => ({
                series,
                time: BigInt(start + i * 2),
                values: i % 3 === 1 ? first.map((_, at) => (at === 0 ? i : null)) : first,
              })),
            ),
        ),
      ),
    )
    .map((all) => all.flat().sort((a, b) => a.series - b.series || Number(a.time - b.time)));

function seriesRows(rows: readonly Row[]): SeriesRows {
  return {
    series: Uint32Array.from(rows, ({ series }) => series),
    times: BigInt64Array.from(rows, ({ time }) => time),
    columns: FIELDS.map(({ type }, i) =>
      columnFrom(
        type,
        rows.map((row) => row.values[i] ?? null),
      ),
    ),
  };
}

function plain({ series, times, columns }: SeriesRows): readonly Row[] {
  return Array.from(series, (id, row) => ({
    series: id,
    time: times[row]!,
    values: columns.map((column) => (column === undefined ? null : columnValue(column, row))),
  }));
}

function withRows(blocks: Iterable<SeriesRows | undefined>): readonly SeriesRows[] {
  return [...blocks].filter((block) => block !== undefined);
}

async function inFile(
  rows: readonly Row[],
  look: (segment: Segment, stored: SegmentMeasurement) => void,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'short-series-'));
  try {
    const disk = nodeDisk();
    const path = join(directory, 'segment');
    const writer = new SegmentWriter(disk, path, 1);
    writer.beginMeasurement(0, FIELDS);
    writer.addSeriesRows(seriesRows(rows));
    writer.endMeasurement();
    const sizeBytes = await writer.finish();
    const info = { fileId: 1, sequence: 1, level: 0, sizeBytes };
    const segment = Segment.open(info, disk.open(path, 'read'), new SegmentCaches());
    try {
      look(segment, segment.measurement(0)!);
    } finally {
      segment.close();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function rowsOfSeries(segment: Segment, stored: SegmentMeasurement, series: number): Row[] {
  return segment.rowsOf(stored, series).flatMap(({ chunk, from, to, ids }) => {
    expect([...ids]).toEqual([series]);
    const columns = FIELDS.map((_, field) => {
      const meta = chunk.columns.find((column) => column.field === field);
      return meta && segment.column(stored, chunk, meta);
    });
    const times = segment.times(chunk);
    const all = plain({ series: new Uint32Array(chunk.rows).fill(series), times, columns });
    return all.slice(from, to);
  });
}

test('series come back one by one and in blocks', async () => {
  await fc.assert(
    fc.asyncProperty(sourceOf(400), async (rows) => {
      await inFile(rows, (segment, stored) => {
        const ids = [...new Set(rows.map(({ series }) => series))];

        expect(Array.from(stored.series)).toEqual(ids);
        expect(stored.rows).toBe(rows.length);
        for (const id of ids) {
          const own = rows.filter(({ series }) => series === id);
          expect(rowsOfSeries(segment, stored, id)).toEqual(own);
        }
        const range = { from: ids[1] ?? 0, to: ids.at(-2) ?? 0 };
        for (const { from, to } of [ALL_SERIES, range]) {
          const blocks = [...storedRowsWithin({ segment, stored, tombstones: [] }, { from, to })];
          const read = blocks.map((block) => {
            const columns = FIELDS.map((_, field) => {
              const meta = block.chunk.columns.find((column) => column.field === field);
              return meta && block.column(meta);
            });
            return block.leftOfSeries({ times: block.times(), columns });
          });
          expect(read.flatMap(plain)).toEqual(
            rows.filter(({ series }) => series >= from && series <= to),
          );
        }
      });
    }),
    { numRuns: 40 },
  );
});

test('a thousand series of three rows lie in chunks of a thousand rows', async () => {
  const rows = Array.from({ length: 3000 }, (_, i) => ({
    series: 7 + Math.floor(i / 3),
    time: BigInt(1000 + (i % 3) * 10),
    values: [i, BigInt(i), 'x', true],
  }));
  await inFile(rows, (_, { pages }) => {
    expect(pages.map(({ isShared, firstSeries }) => ({ isShared, firstSeries }))).toEqual([
      { isShared: true, firstSeries: 7 },
      { isShared: true, firstSeries: 349 },
      { isShared: true, firstSeries: 691 },
    ]);
  });
});

test('merged sources equal a map that later sources write to', () => {
  fc.assert(
    fc.property(fc.array(sourceOf(60), { maxLength: 4 }), fc.nat(20), (sources, cut) => {
      const expected = new Map<string, Row>();
      for (const row of sources.flat()) {
        const key = `${row.series} ${row.time}`;
        const before = expected.get(key)?.values;
        const merged = row.values.map((value, i) => value ?? before?.[i] ?? null);
        expected.set(key, { ...row, values: merged });
      }
      const all = [...expected.values()].sort(
        (a, b) => a.series - b.series || Number(a.time - b.time),
      );
      const merged = mergeSources(sources.map((rows) => blocksOf(rows, cut + 1)));

      expect(withRows(merged).flatMap(plain)).toEqual(all);
    }),
    { numRuns: 60 },
  );
});

/** Blocks of some series each. */
function* blocksOf(rows: readonly Row[], seriesPerBlock: number): Generator<SeriesRows> {
  const ids = [...new Set(rows.map(({ series }) => series))];
  for (let i = 0; i < ids.length; i += seriesPerBlock) {
    const wanted = new Set(ids.slice(i, i + seriesPerBlock));
    yield seriesRows(rows.filter(({ series }) => wanted.has(series)));
  }
}
