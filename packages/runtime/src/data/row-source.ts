// A point batch opened in a thread: series interned, columns ready to read. It is opened once and
// read by all tasks of the thread.
import type { Column } from '@tidemark/core';
import { assert } from '@tidemark/core';
import type { PointBatch, SeriesList, SeriesRef } from '../point-batch.ts';
import type { Origin, Point } from './point.ts';
import { MeasurementSplit } from './row-selection.ts';
import type { RowSelection, SeriesPositions } from './row-selection.ts';
import type { Rows, Schema, ValueType } from './schema.ts';
import { columnSchema } from './schema.ts';
import type { Series, SeriesTable } from './series.ts';
import { DictionarySeries } from './series-dictionary.ts';

export type OpenBlock = { readonly schema: Schema; readonly rows: Rows };

let lastSequence = 0;

/** A number for a write, a timer or an answer that is unique in the thread. */
export function nextSequence(): number {
  return ++lastSequence;
}

export class RowSource {
  readonly batch: PointBatch;
  readonly sequence = nextSequence();
  readonly rowCount: number;
  readonly origin: Origin;
  readonly series: readonly Series[];
  /** The measurement of all rows; `undefined` when there are several. */
  readonly measurement: string | undefined;
  readonly seriesOfRow: Uint32Array;
  readonly blocks: readonly OpenBlock[];
  readonly blockOfRow: Uint32Array | undefined;
  readonly rowInBlock: Uint32Array | undefined;
  /** The current row. */
  row = 0;
  /** Points that nodes keep beyond this write, see `settle`. */
  readonly held: Point[] = [];
  readonly #times: BigInt64Array;
  /** Low and high half of each row's time, for comparing without a bigint. */
  readonly timeHalves: Int32Array;
  #split: MeasurementSplit | undefined;
  #lastTime = 0n;
  #lastLow = 0;
  #lastHigh = 0;

  /** `series` are those of the batch, if they are interned already. */
  constructor(batch: PointBatch, table: SeriesTable, series?: readonly Series[]) {
    this.batch = batch;
    this.rowCount = batch.rowCount;
    this.origin = { database: batch.database, retentionPolicy: batch.retentionPolicy };
    this.series = series ?? interned(batch.series, table);
    this.measurement = commonName(this.series);
    this.seriesOfRow = batch.seriesOfRow;
    this.blocks = batch.blocks.map((block) => ({
      schema: columnSchema(
        block.columns.map((column, i) => ({
          name: block.fieldNames[i] ?? '',
          type: valueType(column),
        })),
      ),
      rows: { columns: block.columns.map(columnValues) },
    }));
    this.blockOfRow = batch.blockOfRow;
    this.rowInBlock = batch.rowInBlock;
    this.#times = batch.times;
    this.timeHalves = new Int32Array(
      batch.times.buffer,
      batch.times.byteOffset,
      batch.times.length * 2,
    );
  }

  /** The rows of these measurements; without any, all rows. */
  select(measurements: ReadonlySet<string>): RowSelection {
    const { measurement } = this;
    const isAll =
      measurements.size === 0 || (measurement !== undefined && measurements.has(measurement));
    if (isAll) return { source: this, count: this.rowCount, numbers: undefined };
    const parts = Array.from(measurements, (name) => this.#parts().rowsOf(name)).filter(
      ({ length }) => length > 0,
    );
    const [first = new Uint32Array(0)] = parts;
    const numbers = parts.length < 2 ? first : joined(parts);
    return { source: this, count: numbers.length, numbers };
  }

  /** The series of a measurement; an empty name means all. `undefined` when there are none. */
  seriesOf(measurement: string): SeriesPositions | undefined {
    if (measurement === '' || measurement === this.measurement) {
      return { count: this.series.length, placeOf: undefined };
    }
    return this.measurement === undefined ? this.#parts().seriesOf(measurement) : undefined;
  }

  #parts(): MeasurementSplit {
    return (this.#split ??= new MeasurementSplit(this));
  }

  /** Rows of one write often share a time: the bigint is created once for a run of equal ones. */
  timeAt(row: number): bigint {
    const low = this.timeHalves[row * 2] as number;
    const high = this.timeHalves[row * 2 + 1] as number;
    if (low !== this.#lastLow || high !== this.#lastHigh) {
      this.#lastLow = low;
      this.#lastHigh = high;
      this.#lastTime = this.#times[row] as bigint;
    }
    return this.#lastTime;
  }

  /**
   * Called after all tasks of the thread have seen the batch: points that are still kept get values
   * of their own, so that a window of rare points does not keep whole writes in memory. Most are
   * gone by now (a write spans many windows).
   */
  settle(): void {
    for (const point of this.held) if (point.holdCount > 0) point.detach();
    this.held.length = 0;
  }
}

/** Rows of several measurements, in the order of the write. */
function joined(parts: readonly Uint32Array[]): Uint32Array {
  const rows = new Uint32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    rows.set(part, at);
    at += part.length;
  }
  return rows.sort();
}

function interned(list: SeriesList, table: SeriesTable): readonly Series[] {
  const series: Series[] = [];
  for (let i = 0; i < list.length; i++) {
    const known = list instanceof DictionarySeries ? table.known(list.stableIdAt(i)) : undefined;
    series.push(known ?? table.intern(list.at(i) as SeriesRef));
  }
  return series;
}

function commonName(series: readonly Series[]): string | undefined {
  const name = series[0]?.name;
  for (let i = 1; i < series.length; i++) if (series[i]?.name !== name) return undefined;
  return name;
}

function valueType(column: Column): ValueType {
  switch (column.type) {
    case 'float':
      return 'float';
    case 'integer':
    case 'unsigned':
      return 'int';
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
  }
}

function columnValues(column: Column): Rows['columns'][number] {
  assert(column.valid === undefined, 'columns of a row block have a value in every row');
  switch (column.type) {
    case 'string':
      return { codes: column.codes, texts: column.texts, strings: [] };
    case 'unsigned':
      // Fields of the runtime are signed; the bits wrap, as integers of Kapacitor do.
      return new BigInt64Array(
        column.values.buffer as ArrayBuffer,
        column.values.byteOffset,
        column.values.length,
      );
    default:
      return column.values as Float64Array | BigInt64Array | Uint8Array;
  }
}

/** The last write of each thread, opened once for all its tasks. */
const opened = new WeakMap<SeriesTable, RowSource>();

/** The rows of a write for the tasks of one thread, which share a table of series. */
export function openRows(batch: PointBatch, table: SeriesTable): RowSource {
  let source = opened.get(table);
  if (source?.batch !== batch) opened.set(table, (source = new RowSource(batch, table)));
  return source;
}
