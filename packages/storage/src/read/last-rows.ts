// A cache of the last row of series: dashboards with a table of hosts ask for `ORDER BY time DESC
// LIMIT 1` every few seconds. It only has rows from segments; a series with rows in the memtable is
// read without it. The lists of segments and tombstones of a shard are replaced, never changed, so
// a row is valid as long as both lists are the same. When the rows take more than the limit, all
// are dropped.
import { compactTexts, copyTexts, rowsBytes } from '@tidemark/core';
import type { Column, TimeRange } from '@tidemark/core';

import type { ShardView } from '../state/snapshot.ts';
import type { Segment } from '../segment/segment.ts';
import type { Shard } from '../shard/shard.ts';
import type { Tombstone } from '../shard/tombstone.ts';
import { columnOf, valuesOf } from '../columns/run.ts';
import type { Run } from '../columns/run.ts';

/** Four thousand series of eight fields; a value with its column takes about 250 bytes. */
const ROWS_BYTES_MAX = 8 << 20;
/** Memory of a value besides the value itself. */
const VALUE_BYTES = 180;

type Kept = {
  readonly segments: readonly Segment[];
  readonly tombstones: readonly Tombstone[];
  /** By the wanted fields, then by series. */
  readonly rows: Map<string, Map<number, Run>>;
};

/** A series in a shard. `fields` has the wanted fields and their types as text. */
export type LastRowPlace = {
  readonly view: ShardView;
  readonly measurementId: number;
  readonly series: number;
  readonly ordinal: number;
  readonly fields: string;
  readonly timeRange: TimeRange;
};

export class LastRows {
  readonly #bytesMax: number;
  #shards = new WeakMap<Shard, Kept>();
  /** Includes rows of shards that are dropped by now, which only causes an earlier eviction. */
  #bytes = 0;

  constructor(bytesMax = ROWS_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** A copy of the last row, if it is cached and lies within the time range. */
  get(place: LastRowPlace): Run | undefined {
    const { view, series, fields, timeRange } = place;
    const kept = this.#shards.get(view.shard);
    if (kept === undefined || !isOf(kept, view)) return undefined;
    const row = kept.rows.get(fields)?.get(series);
    const time = row?.times[0];
    if (row === undefined || time === undefined) return undefined;
    if (time < timeRange.start || time > timeRange.end) return undefined;
    return isInSegmentsOnly(place) ? copyOf(row) : undefined;
  }

  /** Keeps the last row of the time range, if the series has no later ones. */
  set(place: LastRowPlace, row: Run): void {
    const { view, series, fields, timeRange } = place;
    const isNewest = view.segments.every(({ footer }) => footer.maxTime <= timeRange.end);
    // A row of an older snapshot would replace rows of the present state.
    const isPresent = view.segments === view.shard.segments;
    if (!isNewest || !isPresent || !isInSegmentsOnly(place)) return;
    let kept = this.#shards.get(view.shard);
    if (kept === undefined || !isOf(kept, view)) {
      kept = { segments: view.segments, tombstones: view.tombstones, rows: new Map() };
      this.#shards.set(view.shard, kept);
    }
    const copy = copyOf(row);
    this.#bytes += rowsBytes(copy.times, copy.columns) + (row.columns.length + 1) * VALUE_BYTES;
    if (this.#bytes > this.#bytesMax) {
      this.#shards = new WeakMap();
      this.#bytes = 0;
      return;
    }
    let rows = kept.rows.get(fields);
    if (rows === undefined) {
      rows = new Map();
      kept.rows.set(fields, rows);
    }
    rows.set(series, copy);
  }
}

function isOf({ segments, tombstones }: Kept, view: ShardView): boolean {
  return segments === view.segments && tombstones === view.tombstones;
}

/** Whether a series has no rows in memory. */
export function isInSegmentsOnly({
  view,
  measurementId,
  ordinal,
}: Pick<LastRowPlace, 'view' | 'measurementId' | 'ordinal'>): boolean {
  for (const { table, rows } of view.tables.get(measurementId) ?? []) {
    if (table.hasRows(ordinal, rows)) return false;
  }
  return true;
}

/** Copies the arrays, because those of an answer are transferred to another thread. */
function copyOf({ times, columns }: Run): Run {
  return { times: times.slice(), columns: columns.map((column) => column && copyColumn(column)) };
}

function copyColumn(column: Column): Column {
  const valid = column.valid?.slice();
  if (column.type !== 'string') {
    return columnOf(column.type, { values: valuesOf(column).slice(), valid });
  }
  // Keeps one text instead of all of the chunk.
  const { codes, texts } = compactTexts({ ...column, valid });
  return columnOf('string', { values: codes.slice(), valid, texts: copyTexts(texts) });
}
