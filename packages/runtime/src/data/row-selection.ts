// The rows of a write that a task reads. Most tasks read one measurement, and a write may have
// hundreds: it is split once for all tasks of the thread.
import type { RowSource } from './row-source.ts';
import type { Series } from './series.ts';

/** Rows of a write, in its order. */
export type RowSelection = {
  readonly source: RowSource;
  readonly count: number;
  /** Their numbers in the write, ascending; `undefined` means all rows. */
  readonly numbers: Uint32Array | undefined;
};

/** The number in the write of a row of a selection. */
export function rowNumber({ numbers }: RowSelection, at: number): number {
  return numbers === undefined ? at : (numbers[at] as number);
}

/** How many rows of a selection are of a part of a split task; all of them of a whole task. */
export function countOfPart(
  selection: RowSelection,
  { start, end }: { readonly start: number; readonly end: number },
  part: { has(series: Series): boolean } | undefined,
): number {
  if (part === undefined) return end - start;
  const { series, seriesOfRow } = selection.source;
  let count = 0;
  for (let at = start; at < end; at++) {
    if (part.has(series[seriesOfRow[rowNumber(selection, at)] as number] as Series)) count++;
  }
  return count;
}

/** The rows and the number of series of a measurement in a write. */
type Part = { readonly number: number; seriesCount: number; numbers: Uint32Array };

/** The series of a measurement in a write, numbered from 0 on. */
export type SeriesPositions = {
  readonly count: number;
  /**
   * The place of a series of the write, -1 when it is of another measurement; `undefined` means all
   * are where they are in the write.
   */
  readonly placeOf: ((series: number) => number) | undefined;
};

export class MeasurementSplit {
  readonly #parts = new Map<string, Part>();
  /** By series of the write: the number of its measurement, and its place among its series. */
  readonly #measurements: Uint32Array;
  readonly #places: Uint32Array;

  constructor({
    series,
    seriesOfRow,
    rowCount,
  }: {
    readonly series: readonly Series[];
    readonly seriesOfRow: Uint32Array;
    readonly rowCount: number;
  }) {
    this.#measurements = new Uint32Array(series.length);
    this.#places = new Uint32Array(series.length);
    const parts: Part[] = [];
    series.forEach(({ name }, i) => {
      let part = this.#parts.get(name);
      if (part === undefined) {
        part = { number: parts.length, seriesCount: 0, numbers: NO_ROWS };
        this.#parts.set(name, part);
        parts.push(part);
      }
      this.#measurements[i] = part.number;
      this.#places[i] = part.seriesCount++;
    });
    const counts = new Uint32Array(parts.length);
    for (let row = 0; row < rowCount; row++) counts[this.#measurementOf(seriesOfRow, row)]!++;
    const all = new Uint32Array(rowCount);
    const next = new Uint32Array(parts.length);
    let from = 0;
    for (const part of parts) {
      next[part.number] = from;
      part.numbers = all.subarray(from, (from += counts[part.number] as number));
    }
    for (let row = 0; row < rowCount; row++)
      all[next[this.#measurementOf(seriesOfRow, row)]!++] = row;
  }

  #measurementOf(seriesOfRow: Uint32Array, row: number): number {
    return this.#measurements[seriesOfRow[row] as number] as number;
  }

  rowsOf(measurement: string): Uint32Array {
    return this.#parts.get(measurement)?.numbers ?? NO_ROWS;
  }

  /** `undefined` when the write has none of the measurement. */
  seriesOf(measurement: string): SeriesPositions | undefined {
    const part = this.#parts.get(measurement);
    if (part === undefined) return undefined;
    const { number, seriesCount: count } = part;
    const placeOf = (series: number): number =>
      this.#measurements[series] === number ? (this.#places[series] as number) : -1;
    return { count, placeOf };
  }
}

const NO_ROWS = new Uint32Array(0);
