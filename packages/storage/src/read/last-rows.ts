// The last row of series, as it was answered before: `ORDER BY time DESC LIMIT 1` is asked every
// few seconds by whoever shows a table of hosts. Rows are those of a shard's segments; a series
// with rows in the memtable is read as ever.
//
// Segments and tombstones of a shard are lists that are replaced, never changed: a row holds for as
// long as they are the same ones. Bounded by a number of values, all of them dropped at once when
// there are more.
import type { Column, TimeRange } from '@tidemark/core';

import type { ShardView } from '../state/snapshot.ts';
import type { Segment } from '../segment/segment.ts';
import type { Shard } from '../shard/shard.ts';
import type { Tombstone } from '../shard/tombstone.ts';
import { columnOf, valuesOf } from '../columns/run.ts';
import type { Run } from '../columns/run.ts';

/** A value with its column is about 250 bytes: 8 MiB, or four thousand series with eight fields. */
const VALUES_MAX = 32_768;

type Kept = {
  readonly segments: readonly Segment[];
  readonly tombstones: readonly Tombstone[];
  /** By what was asked for, then by series. */
  readonly rows: Map<string, Map<number, Run>>;
};

/** One series in one shard, and which fields in which types are wanted, as text. */
export type LastRowPlace = {
  readonly view: ShardView;
  readonly measurementId: number;
  readonly series: number;
  readonly ordinal: number;
  readonly fields: string;
  readonly timeRange: TimeRange;
};

export class LastRows {
  readonly #valuesMax: number;
  #shards = new WeakMap<Shard, Kept>();
  /** Counts values of shards that are gone too: those only make the next emptying come earlier. */
  #values = 0;

  constructor(valuesMax = VALUES_MAX) {
    this.#valuesMax = valuesMax;
  }

  /** A copy of the last row, when it is known and lies within the time range. */
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

  /** Keeps the row that was found last in the time range, if it is the last of all. */
  set(place: LastRowPlace, row: Run): void {
    const { view, series, fields, timeRange } = place;
    const isNewest = view.segments.every(({ footer }) => footer.maxTime <= timeRange.end);
    // Rows of an older state would put out those of the present one.
    const isPresent = view.segments === view.shard.segments;
    if (!isNewest || !isPresent || !isInSegmentsOnly(place)) return;
    let kept = this.#shards.get(view.shard);
    if (kept === undefined || !isOf(kept, view)) {
      kept = { segments: view.segments, tombstones: view.tombstones, rows: new Map() };
      this.#shards.set(view.shard, kept);
    }
    this.#values += row.columns.length + 1;
    if (this.#values > this.#valuesMax) {
      this.#shards = new WeakMap();
      this.#values = 0;
      return;
    }
    let rows = kept.rows.get(fields);
    if (rows === undefined) {
      rows = new Map();
      kept.rows.set(fields, rows);
    }
    rows.set(series, copyOf(row));
  }
}

function isOf({ segments, tombstones }: Kept, view: ShardView): boolean {
  return segments === view.segments && tombstones === view.tombstones;
}

function isInSegmentsOnly({ view, measurementId, ordinal }: LastRowPlace): boolean {
  for (const { table, rows } of view.tables.get(measurementId) ?? []) {
    if (table.hasRows(ordinal, rows)) return false;
  }
  return true;
}

/** Arrays of its own: those of an answer are given to another thread. */
function copyOf({ times, columns }: Run): Run {
  return { times: times.slice(), columns: columns.map((column) => column && copyColumn(column)) };
}

function copyColumn(column: Column): Column {
  const valid = column.valid?.slice();
  if (column.type !== 'string') {
    return columnOf(column.type, { values: valuesOf(column).slice(), valid });
  }
  // One text out of the dictionary of a chunk.
  const dictionary = Array.from(column.codes, (code) => column.dictionary[code] ?? '');
  const values = Uint32Array.from(dictionary, (_, i) => i);
  return columnOf('string', { values, valid, dictionary });
}
