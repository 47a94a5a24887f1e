// fill(): rows for windows without points, per call and group, before transformations and
// arithmetic.
//
// Windows are produced lazily, a batch at a time: a small interval over a long range is a stream,
// not an array.
import type { Column, FieldType, FieldValue } from '@tidemark/core';
import { columnValue, floatToInt64, MIN_TIME } from '@tidemark/core';
import type { Fill } from '@tidemark/influxql';

import { ColumnBuilder, TimeBuilder } from '../batch/column-builder.ts';
import { BATCH_ROWS } from '../limits.ts';
import type { PointBatch } from '../batch/point-batch.ts';
import type { Windows } from '../plan/windows.ts';

export type FillOptions = {
  readonly fill: Fill;
  /** count() is 0 where nothing was counted. */
  readonly isCount: boolean;
  readonly windows: Windows;
  /** Windows of the first and last instant of the range; `MIN_TIME` is unbounded. */
  readonly firstStart: bigint;
  readonly lastStart: bigint;
  readonly descending: boolean;
  readonly types: readonly FieldType[];
  /** Called with the number of filled windows; throws when there are too many. */
  readonly onFilled: (count: number) => void;
};

type Neighbour = { readonly time: bigint; readonly value: FieldValue | null };

/** Fills the windows of one call of one group. */
export class Filler {
  readonly #options: FillOptions;
  readonly #times = new TimeBuilder();
  readonly #builders: readonly ColumnBuilder[];
  /** Start of the next window; undefined before the first point. */
  #next: bigint | undefined;
  #previous: Neighbour | undefined;
  #last: (FieldValue | null)[] | undefined;

  constructor(options: FillOptions) {
    this.#options = options;
    this.#builders = options.types.map((type) => new ColumnBuilder(type));
  }

  /** The points of a batch and the empty windows before each of them. */
  *push(batch: PointBatch): Iterable<PointBatch> {
    const { times, columns } = batch;
    if (this.#hasNoGaps(times)) {
      const last = times.length - 1;
      const time = times[last]!;
      this.#last = columns.map((column) => columnValue(column, last));
      this.#previous = { time, value: this.#last[0] ?? null };
      this.#next = this.#step(time);
      yield batch;
      return;
    }
    for (let row = 0; row < times.length; row++) {
      const time = times[row]!;
      this.#next ??= this.#firstWindow(time);
      const point: Neighbour = { time, value: columnValue(columns[0]!, row) };
      while (this.#isBefore(this.#next, time)) {
        this.#appendEmpty(this.#next, point);
        this.#next = this.#step(this.#next);
        if (this.#times.length >= BATCH_ROWS) yield this.#take();
      }
      this.#appendPoint(time, columns, row);
      this.#previous = point;
      this.#next = this.#step(this.#next);
      if (this.#times.length >= BATCH_ROWS) yield this.#take();
    }
    if (this.#times.length > 0) yield this.#take();
  }

  /**
   * Whether all windows up to the last point have one: starts of windows ascend strictly, so
   * counting is enough. Not with a zone, which moves windows.
   */
  #hasNoGaps(times: BigInt64Array): boolean {
    const { windows, descending } = this.#options;
    const first = times[0];
    const last = times.at(-1);
    if (first === undefined || last === undefined || windows.hasZone) return false;
    if (first !== (this.#next ?? this.#firstWindow(first))) return false;
    const span = descending ? first - last : last - first;
    return span === BigInt(times.length - 1) * windows.everyNanos;
  }

  /** The empty windows after the last point, up to the end of the range. */
  *finish(): Iterable<PointBatch> {
    if (this.#next === undefined) return;
    const { descending, firstStart, lastStart } = this.#options;
    // The time before the first point of an unbounded range has no end.
    if (descending && firstStart === MIN_TIME) return;
    while (descending ? this.#next >= firstStart : this.#next <= lastStart) {
      this.#appendEmpty(this.#next, undefined);
      this.#next = this.#step(this.#next);
      if (this.#times.length >= BATCH_ROWS) yield this.#take();
    }
    if (this.#times.length > 0) yield this.#take();
  }

  #firstWindow(time: bigint): bigint {
    const { descending, firstStart, lastStart, windows } = this.#options;
    const start = descending ? lastStart : firstStart;
    return start === MIN_TIME ? windows.of(time).start : start;
  }

  #isBefore(window: bigint, time: bigint): boolean {
    return this.#options.descending ? window > time : window < time;
  }

  #step(window: bigint): bigint {
    const { windows, descending } = this.#options;
    return descending ? windows.before(window) : windows.after(window);
  }

  #appendPoint(time: bigint, columns: readonly Column[], row: number): void {
    this.#times.append(time);
    const values = columns.map((column) => columnValue(column, row));
    for (let i = 0; i < this.#builders.length; i++) this.#builders[i]!.append(values[i] ?? null);
    this.#last = values;
  }

  #appendEmpty(window: bigint, following: Neighbour | undefined): void {
    this.#times.append(window);
    for (let i = 0; i < this.#builders.length; i++) {
      const builder = this.#builders[i]!;
      builder.append(this.#emptyValue(i, builder.type, { window, following }));
    }
  }

  #emptyValue(
    column: number,
    type: FieldType,
    { window, following }: { readonly window: bigint; readonly following: Neighbour | undefined },
  ): FieldValue | null {
    const { fill, isCount } = this.#options;
    switch (fill.kind) {
      case 'previous':
        // Auxiliary columns are filled in rows of the answer, after OFFSET (`row-defaults.ts`).
        return column > 0 ? null : (this.#previous?.value ?? null);
      case 'number':
        // A number does not fit into an auxiliary column of texts; the last step sets it there.
        if (column > 0 && (type === 'string' || type === 'boolean')) return null;
        return castNumber(fill.value, type);
      case 'linear':
        if (column > 0) return null;
        return interpolate(this.#previous, following, {
          time: window,
          everyNanos: this.#options.windows.everyNanos,
        });
      case 'null':
        return isCount && column === 0 ? 0n : null;
      case 'none':
        return null;
    }
  }

  #take(): PointBatch {
    this.#options.onFilled(this.#times.length);
    return { times: this.#times.take(), columns: this.#builders.map((builder) => builder.take()) };
  }
}

/** A number in the type of a column: integers truncate, strings are empty, booleans are false. */
export function castNumber(value: number | bigint, type: FieldType): FieldValue {
  switch (type) {
    case 'float':
      return Number(value);
    case 'integer':
      return typeof value === 'bigint' ? BigInt.asIntN(64, value) : floatToInt64(value);
    case 'unsigned':
      return BigInt.asUintN(64, typeof value === 'bigint' ? value : floatToInt64(value));
    case 'string':
      return '';
    case 'boolean':
      return false;
  }
}

/** The recorded method: distances are whole numbers of windows, so that most slopes are exact. */
function interpolate(
  before: Neighbour | undefined,
  after: Neighbour | undefined,
  { time, everyNanos }: { readonly time: bigint; readonly everyNanos: bigint },
): FieldValue | null {
  if (before === undefined || after === undefined) return null;
  const a = before.value;
  const b = after.value;
  const start = before.time / everyNanos;
  const total = Number(after.time / everyNanos - start);
  const passed = Number(time / everyNanos - start);
  if (typeof a === 'bigint' && typeof b === 'bigint') {
    return floatToInt64((Number(b - a) / total) * passed + Number(a));
  }
  if (typeof a !== 'number' || typeof b !== 'number') return null;
  return ((b - a) / total) * passed + a;
}
