// What answers are made of: pieces, each the rows that neighbouring series have in one place of a
// shard, be it a chunk of a segment or a table in memory.
import type { TimeRange } from '@tidemark/core';

import { overlaps } from '../columns/overlaps.ts';
import type { TimeSpan } from '../columns/overlaps.ts';
import { clipRun } from '../columns/run.ts';
import type { Run } from '../columns/run.ts';
import type { SeriesId } from '../columns/series-id.ts';
import type { SeriesRows } from '../columns/series-rows.ts';
import { tableRowsOf, tableRowsWithin } from '../memtable/table-rows.ts';
import type { TableRows, TableView } from '../memtable/table-rows.ts';
import { columnsAt, placesOfFields } from '../segment/field-places.ts';
import type { SegmentMeasurement } from '../segment/format.ts';
import type { SeriesRange } from '../segment/series-ranges.ts';
import { storedRowsOf, storedRowsWithin } from '../shard/stored-rows.ts';
import type { StoredPlace, StoredRows } from '../shard/stored-rows.ts';
import type { ShardView } from '../state/snapshot.ts';
import { ChunkReader } from './chunk-reader.ts';
import type { ChunkRequest } from './chunk-reader.ts';
import type { WantedField } from './convert.ts';
import type { Selection } from './groups.ts';
import type { PieceCosts } from './piece-costs.ts';
import { readColumns } from './wanted-columns.ts';

export type PieceRequest = ChunkRequest & {
  readonly selection: Pick<Selection, 'database' | 'measurement'>;
  /** Rows in memory are left out. */
  readonly onlyChunks?: boolean | undefined;
};

/** Rows of neighbouring series in one place. Columns have the stored type. */
export interface Piece {
  /** The first and the last time of all the rows. */
  readonly span: TimeSpan;
  /** Number of the rows, wanted or not, deleted ones included. */
  readonly count: number;
  /** Their times. */
  readonly allTimes: BigInt64Array;
  /** The chunk, if no row of it is deleted. */
  readonly chunk: ChunkReader | undefined;
  /**
   * The wanted columns of the rows of one series, by strictly ascending times, without deleted
   * ones. There may be rows outside the time range.
   */
  load(): Run;
  /** As `load`, of any number of series. */
  loadOfSeries(): SeriesRows;
  /** As `load`, of the rows within a range, wanted or not; arrays of their own. */
  within(range: TimeRange): Run;
  /** Adds what it costs to read the columns, by their indexes. */
  addCost(costs: PieceCosts, isRead: (index: number) => boolean): void;
}

/** Where a shard has rows of a measurement: a segment, or a table in memory. */
export interface PieceSource {
  /** Adds the pieces of one series that may have rows in the time range. */
  addTo(pieces: Piece[], series: SeriesId): void;
  /**
   * Those of all wanted series in a range, in the order of the series; `undefined` is a pause.
   */
  within(range: SeriesRange, isWanted: (series: SeriesId) => boolean): Generator<Piece | undefined>;
}

/** The sources of a shard that may have rows in the time range, oldest writes first. */
export function pieceSources(view: ShardView, request: PieceRequest): readonly PieceSource[] {
  const { timeRange, onlyChunks } = request;
  const { measurement } = request.selection;
  const { tombstones } = view;
  const sources: PieceSource[] = [];
  for (const segment of view.segments) {
    const stored = segment.measurement(measurement.id);
    if (stored === undefined || !overlaps(segment.footer, timeRange)) continue;
    sources.push(new SegmentPieces({ segment, stored, tombstones }, request));
  }
  if (onlyChunks === true) return sources;
  for (const table of view.tables.get(measurement.id) ?? []) {
    const { min: minTime, max: maxTime } = table.table.timeBounds;
    if (overlaps({ minTime, maxTime }, timeRange)) sources.push(new TablePieces(table, request));
  }
  return sources;
}

class SegmentPieces implements PieceSource {
  readonly #place: StoredPlace;
  readonly #request: PieceRequest;

  constructor(place: StoredPlace, request: PieceRequest) {
    this.#place = place;
    this.#request = request;
  }

  addTo(pieces: Piece[], series: SeriesId): void {
    for (const rows of storedRowsOf(this.#place, series)) {
      const piece = this.#piece(rows);
      if (piece === undefined) continue;
      if (!rows.isPart || overlaps(piece.span, this.#request.timeRange)) pieces.push(piece);
    }
  }

  *within(
    range: SeriesRange,
    isWanted: (series: SeriesId) => boolean,
  ): Generator<Piece | undefined> {
    for (const rows of storedRowsWithin(this.#place, range)) {
      yield rows.ids.some(isWanted) ? this.#piece(rows) : undefined;
    }
  }

  #piece(rows: StoredRows): ChunkReader | undefined {
    const { timeRange, counters } = this.#request;
    if (!overlaps(rows.chunk, timeRange)) {
      counters.chunksSkipped++;
      return undefined;
    }
    const places = fieldPlaces(rows.stored, this.#request.fields);
    return new ChunkReader(this.#request, rows, columnsAt(rows.chunk, places));
  }
}

const placesOf = new WeakMap<readonly WantedField[], Map<SegmentMeasurement, Int32Array>>();

/**
 * Index in the segment of each wanted field, -1 if missing. Computed once per request and segment.
 */
function fieldPlaces(stored: SegmentMeasurement, wanted: readonly WantedField[]): Int32Array {
  let bySegment = placesOf.get(wanted);
  if (bySegment === undefined) {
    bySegment = new Map();
    placesOf.set(wanted, bySegment);
  }
  let places = bySegment.get(stored);
  if (places === undefined) bySegment.set(stored, (places = placesOfFields(stored, wanted)));
  return places;
}

class TablePieces implements PieceSource {
  readonly #table: TableView;
  readonly #request: PieceRequest;

  constructor(table: TableView, request: PieceRequest) {
    this.#table = table;
    this.#request = request;
  }

  addTo(pieces: Piece[], series: SeriesId): void {
    const { selection, timeRange } = this.#request;
    const ordinal = selection.database.index.ordinalOf(series);
    const rows = tableRowsOf(this.#table, { id: series, ordinal }, timeRange);
    const piece = rows && new TablePiece(rows, this.#request);
    if (piece !== undefined && overlaps(piece.span, timeRange)) pieces.push(piece);
  }

  *within(
    { from, to }: SeriesRange,
    isWanted: (series: SeriesId) => boolean,
  ): Generator<Piece | undefined> {
    const { measurement } = this.#request.selection;
    const wantedId = (ordinal: number): SeriesId | undefined => {
      const id = measurement.seriesId(ordinal);
      return id >= from && id <= to && isWanted(id) ? id : undefined;
    };
    for (const rows of tableRowsWithin(this.#table, wantedId)) {
      yield rows && new TablePiece(rows, this.#request);
    }
  }
}

class TablePiece implements Piece {
  readonly #rows: TableRows;
  readonly #request: PieceRequest;
  readonly span: TimeSpan;
  readonly chunk = undefined;

  constructor(rows: TableRows, request: PieceRequest) {
    this.#rows = rows;
    this.#request = request;
    this.span = rows.span();
  }

  get count(): number {
    return this.#rows.count;
  }

  get allTimes(): BigInt64Array {
    return this.#rows.times;
  }

  load(): Run {
    return this.#rows.left(this.#columnsOf(this.#rows));
  }

  loadOfSeries(): SeriesRows {
    return this.#rows.leftOfSeries(this.#columnsOf(this.#rows));
  }

  within(range: TimeRange): Run {
    const rows = this.#rows.within(range);
    return clipRun(rows.left(this.#columnsOf(rows)), range.start, range.end);
  }

  addCost(costs: PieceCosts, isRead: (index: number) => boolean): void {
    const { fields, timeRange } = this.#request;
    const { times } = this.#rows;
    for (const name of new Set(fields.filter((_, i) => isRead(i)).map((field) => field.name))) {
      const column = this.#rows.presence(name);
      if (column === undefined) continue;
      for (let row = 0; row < times.length; row++) {
        const isWithin = times[row]! >= timeRange.start && times[row]! <= timeRange.end;
        if (isWithin && column.valid?.[row] !== 0) costs.values++;
      }
    }
  }

  #columnsOf(rows: TableRows): Run {
    const { fields } = this.#request;
    const columns = readColumns(this.#request, {
      type: (index) => rows.typeOf(fields[index]!.name),
      values: (index, type) => rows.column({ name: fields[index]!.name, type }),
      presence: (index) => rows.presence(fields[index]!.name),
    });
    return { times: rows.times, columns };
  }
}
