// The unit of reading: whatever series and tombstones there are, exactly the rows that are left
// come back, series by series and in ranges of series.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { columnFrom } from '@tidemark/core';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import type { SeriesRows } from '../columns/series-rows.ts';
import { nodeDisk } from '../disk/node-disk.ts';
import { SegmentCaches } from '../segment/segment-caches.ts';
import { Segment } from '../segment/segment.ts';
import { ALL_SERIES } from '../segment/series-ranges.ts';
import { SegmentWriter } from '../segment/writer.ts';
import { storedRowsOf, storedRowsWithin } from './stored-rows.ts';
import type { StoredPlace, StoredRows } from './stored-rows.ts';
import { withSharedSeries } from './tombstone.ts';
import type { Tombstone } from './tombstone.ts';

type Row = { readonly series: number; readonly time: number };

const IDS = 30;
const TIMES = 60;

/** Mostly short series, which share chunks, and some with chunks of their own. */
const rowsOfSegment = fc
  .array(
    fc.record({
      count: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 1, max: 4 }) }, fc.constant(40)),
      start: fc.integer({ min: 0, max: 20 }),
      gap: fc.integer({ min: 1, max: 3 }),
    }),
    { minLength: 10, maxLength: 10 },
  )
  .map((all) =>
    all.flatMap(({ count, start, gap }, i) =>
      Array.from({ length: count }, (_, row): Row => {
        return { series: gap + 3 * i, time: start + row };
      }),
    ),
  );

const tombstone: fc.Arbitrary<Tombstone> = fc
  .record({
    sequence: fc.integer({ min: 1, max: 3 }),
    measurementId: fc.constantFrom(0, 0, 1),
    ids: fc.option(
      fc.uniqueArray(fc.integer({ min: 0, max: IDS }), { minLength: 1, maxLength: 20 }),
      { nil: undefined },
    ),
    start: fc.integer({ min: 0, max: TIMES }),
    length: fc.integer({ min: 0, max: TIMES }),
  })
  .map(({ ids, start, length, ...rest }) => ({
    ...rest,
    series: ids && Uint32Array.from(ids).sort(),
    timeRange: { start: BigInt(start), end: BigInt(start + length) },
    freesTypes: false,
  }));

/** The segment has sequence 1. */
function isLeft(tombstones: readonly Tombstone[], { series, time }: Row): boolean {
  return !tombstones.some(({ measurementId, sequence, series: ids, timeRange }) => {
    if (measurementId !== 0 || sequence <= 1 || ids?.includes(series) === false) return false;
    return timeRange.start <= BigInt(time) && BigInt(time) <= timeRange.end;
  });
}

async function inSegment(rows: readonly Row[], look: (segment: Segment) => void): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'stored-rows-'));
  try {
    const disk = nodeDisk();
    const path = join(directory, 'segment');
    const writer = new SegmentWriter(disk, path, 1);
    writer.beginMeasurement(0, [{ name: 'f', type: 'integer' }]);
    writer.addSeriesRows({
      series: Uint32Array.from(rows, ({ series }) => series),
      times: BigInt64Array.from(rows, ({ time }) => BigInt(time)),
      columns: [
        columnFrom(
          'integer',
          rows.map(({ series, time }) => BigInt(series * TIMES + time)),
        ),
      ],
    });
    writer.endMeasurement();
    const sizeBytes = await writer.finish();
    const info = { fileId: 1, sequence: 1, level: 0, sizeBytes };
    const segment = Segment.open(info, disk.open(path, 'read'), new SegmentCaches());
    try {
      look(segment);
    } finally {
      segment.close();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function read(stored: StoredRows): SeriesRows {
  const columns = stored.chunk.columns.map((meta) => stored.column(meta));
  return stored.leftOfSeries({ times: stored.times(), columns });
}

function plain({ series, times, columns }: SeriesRows): Row[] {
  return Array.from(series, (id, row) => {
    const [column] = columns;
    const value = column?.type === 'integer' ? column.values[row] : undefined;
    expect(value).toBe(BigInt(id * TIMES) + times[row]!);
    return { series: id, time: Number(times[row]) };
  });
}

test('exactly the rows that are left come back', async () => {
  await fc.assert(
    fc.asyncProperty(
      rowsOfSegment,
      fc.array(tombstone, { maxLength: 6 }),
      fc.tuple(fc.nat(IDS), fc.nat(IDS)),
      async (rows, list, bounds) => {
        await inSegment(rows, (segment) => {
          const tombstones = withSharedSeries(list);
          const place: StoredPlace = { segment, stored: segment.measurement(0)!, tombstones };
          const left = rows.filter((row) => isLeft(list, row));
          for (let series = 0; series <= IDS; series++) {
            const own = storedRowsOf(place, series);
            const ofSeries = left.filter((row) => row.series === series);
            expect(own.flatMap((stored) => plain(read(stored)))).toEqual(ofSeries);
            expect(own.some((stored) => stored.hasRows())).toBe(ofSeries.length > 0);
            for (const stored of own) {
              const times = stored.times();
              expect(stored.span()).toMatchObject({ minTime: times[0], maxTime: times.at(-1) });
              if (!stored.isWholeChunk) continue;
              expect(read(stored).times).toHaveLength(stored.chunk.rows);
            }
          }
          const [from, to] = bounds.toSorted((a, b) => a - b) as [number, number];
          for (const range of [ALL_SERIES, { from, to }]) {
            const found = [...storedRowsWithin(place, range)].flatMap((one) => plain(read(one)));
            expect(found).toEqual(
              left.filter(({ series }) => series >= range.from && series <= range.to),
            );
          }
        });
      },
    ),
    { numRuns: 60 },
  );
});
