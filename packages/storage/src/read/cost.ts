// The cost of a scan: shards, series, files and blocks, and values in the memtable. Reads only
// directories of segments, never values.
import type { CostRequest, SourceCost } from '@tidemark/query';

import type { TableView } from '../memtable/table-rows.ts';
import type { ShardView, Snapshot } from '../state/snapshot.ts';
import { overlaps } from '../columns/overlaps.ts';
import { columnsAt, placesOfFields } from '../segment/field-places.ts';
import { ALL_SERIES } from '../segment/series-ranges.ts';
import { storedRowsWithin } from '../shard/stored-rows.ts';
import type { StoredPlace } from '../shard/stored-rows.ts';
import type { SeriesId } from '../columns/series-id.ts';
import { select } from './groups.ts';
import type { ReadOptions } from './damaged-data.ts';
import type { Selection } from './groups.ts';
import { STEP_ELEMENTS } from '../schedule/steps.ts';

type Tally = { -readonly [K in keyof SourceCost]: SourceCost[K] };

/** Yields the cost as the only value, and `undefined` where the slicer may pause. */
export function* cost(
  snapshot: Snapshot,
  request: CostRequest,
  { memory, onPartial }: Pick<ReadOptions, 'memory' | 'onPartial'>,
): Generator<SourceCost | undefined> {
  const tally: Tally = {
    shards: 0,
    series: 0,
    cachedValues: 0,
    files: 0,
    blocks: 0,
    blockBytes: 0,
  };
  const all = { ...request, groupBy: [], descending: false, unorderedFrom: 0 };
  const selection = yield* select(snapshot, all, { memory, onPartial });
  if (selection !== undefined) {
    const series: ReadonlySet<SeriesId> = new Set(selection.groups.series);
    tally.series = series.size;
    for (const view of selection.shards) {
      yield undefined;
      yield* addShard(tally, view, { request, selection, series });
    }
  }
  yield tally;
}

type Scope = {
  readonly request: CostRequest;
  readonly selection: Selection;
  readonly series: ReadonlySet<SeriesId>;
};

function* addShard(tally: Tally, view: ShardView, scope: Scope): Generator<undefined> {
  const { measurement } = scope.selection;
  let isTouched = false;
  for (const segment of view.segments) {
    const stored = segment.measurement(measurement.id);
    if (stored === undefined) continue;
    const before = tally.blocks;
    yield* addSegment(tally, { segment, stored, tombstones: view.tombstones }, scope);
    if (tally.blocks === before) continue;
    tally.files++;
    isTouched = true;
  }
  for (const table of view.tables.get(measurement.id) ?? []) {
    if (yield* addTable(tally, table, scope)) isTouched = true;
  }
  if (isTouched) tally.shards++;
}

function* addSegment(
  tally: Tally,
  place: StoredPlace,
  { request, series }: Scope,
): Generator<undefined> {
  const places = placesOfFields(
    place.stored,
    request.fields.map((name) => ({ name })),
  );
  let seen = 0;
  for (const { chunk, ids } of storedRowsWithin(place, ALL_SERIES)) {
    if (++seen % STEP_CHUNKS === 0) yield undefined;
    if (!overlaps(chunk, request.timeRange) || !ids.some((id) => series.has(id))) continue;
    const columns = columnsAt(chunk, places).filter((column) => column !== undefined);
    if (columns.length === 0) continue;
    tally.blocks += columns.length;
    // The columns of a chunk share one block of times, which is read with the first of them.
    tally.blockBytes += chunk.timeBytes;
    for (const { validBytes, valueBytes } of columns) tally.blockBytes += validBytes + valueBytes;
  }
}

/** Chunks between two pauses, at a microsecond each. */
const STEP_CHUNKS = 256;

/** Counts the values of a memtable. Returns whether there are any. */
function* addTable(
  tally: Tally,
  { table, rows }: TableView,
  { request, series }: Scope,
): Generator<undefined, boolean> {
  const { start, end } = request.timeRange;
  let left = rows;
  let count = 0;
  for (const block of table.blocks) {
    const columns = request.fields.flatMap((name) => block.column(name) ?? []);
    const listed = block.sparse?.countsPerRow(request.fields);
    const { min, max } = block.timeBounds;
    const isWithin = min >= start && max <= end;
    const behind = Math.min(left, block.rows);
    for (let row = 0; row < behind; row++) {
      if (row % STEP_ELEMENTS === 0) yield undefined;
      if (!series.has(block.series[row]! as SeriesId)) continue;
      const time = isWithin ? start : block.times[row]!;
      if (time < start || time > end) continue;
      for (const { valid } of columns) if (valid === undefined || valid[row] === 1) count++;
      count += listed?.[row] ?? 0;
    }
    left -= behind;
    if (left === 0) break;
  }
  tally.cachedValues += count;
  return count > 0;
}
