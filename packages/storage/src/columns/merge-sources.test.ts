import { columnFrom, columnValue } from '@tidemark/core';
import type { FieldValue } from '@tidemark/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { mergeOverlapping, mergeSources } from './merge-sources.ts';
import type { SeriesBlocks } from './merge-sources.ts';
import type { SeriesRows } from './series-rows.ts';

const SERIES_MAX = 20;

type Row = readonly [series: number, time: bigint, value: FieldValue | null];

function rowsFrom(rows: readonly Row[]): SeriesRows {
  const values = rows.map(([, , value]) => value);
  return {
    series: Uint32Array.from(rows, ([series]) => series),
    times: BigInt64Array.from(rows, ([, time]) => time),
    columns: [columnFrom('float', values)],
  };
}

function rowsOf({ series, times, columns }: SeriesRows): Row[] {
  const [column] = columns;
  return Array.from(series, (id, i) => [id, times[i]!, column ? columnValue(column, i) : null]);
}

/** Blocks of some series each, with pauses. */
function* blocksOf(rows: readonly Row[], seriesPerBlock: number): SeriesBlocks {
  for (let first = 0; first <= SERIES_MAX; first += seriesPerBlock) {
    yield undefined;
    yield rowsFrom(rows.filter(([id]) => id >= first && id < first + seriesPerBlock));
  }
}

function byKey([a, timeA]: Row, [b, timeB]: Row): number {
  return a === b ? Number(timeA > timeB) - Number(timeA < timeB) : a - b;
}

const source = fc.record({
  rows: fc
    .uniqueArray(
      fc.tuple(fc.nat(SERIES_MAX), fc.bigInt(0n, 4n), fc.option(fc.nat(9), { nil: null, freq: 4 })),
      { selector: ([series, time]) => `${series} ${time}`, maxLength: 60 },
    )
    .map((rows) => rows.toSorted(byKey)),
  seriesPerBlock: fc.integer({ min: 1, max: 9 }),
});

test('rows that are merged only where times overlap are those that are merged in any case', () => {
  fc.assert(
    fc.property(fc.array(source, { maxLength: 5 }), (sources) => {
      const open = (): SeriesBlocks[] =>
        sources.map(({ rows, seriesPerBlock }) => blocksOf(rows, seriesPerBlock));
      const rows = (blocks: Iterable<SeriesRows | undefined>): Row[] =>
        [...blocks].flatMap((block) => (block === undefined ? [] : rowsOf(block)));

      const merged = rows(mergeSources(open()));
      expect(merged.toSorted(byKey)).toEqual(merged);
      expect(rows(mergeOverlapping(open())).toSorted(byKey)).toEqual(merged);
    }),
  );
});

test('rows of sources without common times stay apart', () => {
  const at = (time: bigint): SeriesBlocks =>
    blocksOf(
      [1, 2, 3].map((id) => [id, time, 1] as const),
      10,
    );

  const blocks = [...mergeOverlapping([at(20n), at(10n), at(20n)])].filter(Boolean);

  expect(blocks.map((block) => block?.times[0])).toEqual([10n, 20n]);
});
