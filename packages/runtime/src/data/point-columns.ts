// The points of a group that a window keeps, first in, first out. Their values are in typed arrays:
// a window of 50,000 groups has millions of points, and as objects all of them would be copied and
// marked by the collector.
import type { NodeContext } from '../node.ts';
import type { Group } from './group.ts';
import type { Origin } from './point.ts';
import { Point } from './point.ts';
import { PointCells } from './point-cells.ts';
import type { LayoutOfSchema, PointLayout } from './point-layout.ts';
import type { Field, Schema, SchemaCache, Value } from './schema.ts';
import type { Series } from './series.ts';

const FIRST_CAPACITY = 4;

const NO_OWN: readonly never[] = [];

/** Counts the points as memory of the task. */
type Holder = Pick<NodeContext, 'holdRow' | 'releaseRows'>;

/** Consecutive points of one layout and origin: rows `[start, end)` of the cells. */
type Run = {
  readonly layout: PointLayout;
  readonly origin: Origin;
  cells: PointCells;
  start: number;
  end: number;
};

export class PointColumns {
  readonly #holder: Holder;
  /** Of all groups of the node. */
  readonly #layouts: SchemaCache<LayoutOfSchema>;
  /** Mostly one; the oldest first. */
  readonly #runs: Run[] = [];
  #count = 0;

  constructor(holder: Holder, layouts: SchemaCache<LayoutOfSchema>) {
    this.#holder = holder;
    this.#layouts = layouts;
  }

  get count(): number {
    return this.#count;
  }

  /** Adds a point; false when the task holds too many. */
  append(point: Point): boolean {
    const copying = this.#layouts.get(point.schema);
    const { layout } = copying;
    if (!this.#holder.holdRow(layout.kinds.length)) return false;
    let run = this.#runs.at(-1);
    if (run === undefined || run.layout !== layout || !isSame(run.origin, point.origin)) {
      if (run?.start === run?.end) this.#runs.pop();
      const cells = new PointCells(layout, FIRST_CAPACITY);
      run = { layout, origin: point.origin, cells, start: 0, end: 0 };
      this.#runs.push(run);
    }
    if (run.end === run.cells.capacity) makeRoom(run);
    run.cells.set(run.end++, point, copying);
    this.#count++;
    return true;
  }

  /** Removes the oldest points as long as they are before a time. */
  dropBefore(time: bigint): void {
    this.#drop((run) => {
      const { stride } = run.layout;
      const { integers } = run.cells;
      let row = run.start;
      while (row < run.end && (integers[row * stride] as bigint) < time) row++;
      return row;
    });
  }

  /** Removes the oldest points. */
  dropFirst(count: number): void {
    let left = count;
    this.#drop((run) => {
      const row = Math.min(run.end, run.start + left);
      left -= row - run.start;
      return row;
    });
  }

  clear(): void {
    this.dropFirst(this.#count);
  }

  /** The present points, which are all of the group. They are valid until the next change. */
  rows(group: Group): PointRows {
    return new PointRows(group, this.#runs, this.#count);
  }

  /** `keptFrom` returns the first row of a run that stays. */
  #drop(keptFrom: (run: Run) => number): void {
    for (let run = this.#runs[0]; run !== undefined; run = this.#runs[0]) {
      const row = keptFrom(run);
      const count = row - run.start;
      if (count > 0) this.#holder.releaseRows(count, run.layout.kinds.length);
      this.#count -= count;
      run.start = row;
      if (row < run.end) return;
      if (this.#runs.length === 1 && !run.cells.isShared) {
        // The next point most likely has the same layout.
        run.start = run.end = 0;
        return;
      }
      this.#runs.shift();
    }
  }
}

function isSame(a: Origin, b: Origin): boolean {
  if (a === b) return true;
  return a.database === b.database && a.retentionPolicy === b.retentionPolicy;
}

/** Makes room for a row: within the cells when half of them are free, else in larger ones. */
function makeRoom(run: Run): void {
  const { start, end, cells } = run;
  const count = end - start;
  const isRoomy = count * 2 <= cells.capacity && !cells.isShared;
  if (!isRoomy) run.cells = new PointCells(run.layout, Math.max(FIRST_CAPACITY, count * 2));
  run.cells.copy(cells, start, end);
  run.start = 0;
  run.end = count;
}

/** Rows of cells. */
type Range = { readonly cells: PointCells; readonly start: number; readonly end: number };

/** The points of a window at one moment. */
export class PointRows {
  readonly count: number;
  readonly #group: Group;
  readonly #ranges: readonly Range[];
  readonly #origins: readonly Origin[];

  constructor(group: Group, runs: readonly Run[], count: number) {
    this.count = count;
    this.#group = group;
    this.#ranges = runs.map(({ cells, start, end }) => ({ cells, start, end }));
    this.#origins = runs.map(({ origin }) => origin);
  }

  /** The schema, if all points have the same. */
  get schema(): Schema | undefined {
    return this.#ranges.length === 1 ? this.#ranges[0]?.cells.layout.schema : undefined;
  }

  /** Keeps the rows as they are when the window changes. */
  keep(): void {
    for (const { cells } of this.#ranges) cells.isShared = true;
  }

  /** The points, which refer to the rows: those who use them after a change call `keep` before. */
  points(): Point[] {
    const points: Point[] = [];
    this.#ranges.forEach(({ cells, start, end }, i) => {
      for (let row = start; row < end; row++) points.push(this.#point(cells, row, i));
    });
    return points;
  }

  /** A point with values of its own. All points have one schema. */
  pointAt(index: number): Point {
    const { cells, start } = this.#ranges[0] as Range;
    const point = this.#point(cells, start + index, 0);
    point.detach();
    return point;
  }

  /** All points have one schema. */
  timeAt(index: number): bigint {
    const { cells, start } = this.#ranges[0] as Range;
    return cells.integers[(start + index) * cells.layout.stride] as bigint;
  }

  /** Copies a float field of all points. They have one schema. */
  copyFloats({ slot }: Field, values: Float64Array): void {
    const { cells, start, end } = this.#ranges[0] as Range;
    const { stride } = cells.layout;
    const { floats } = cells;
    let cell = start * stride + 1 + slot.index;
    for (let i = 0; i < end - start; i++, cell += stride) values[i] = floats[cell] as number;
  }

  /** The values of a field of all points. They have one schema. */
  valuesOf({ read }: Field): Value[] {
    const { cells, start, end } = this.#ranges[0] as Range;
    const values: Value[] = [];
    if (start === end) return values;
    const point = this.#point(cells, start, 0);
    for (let row = start; row < end; row++) {
      point.row = row * cells.layout.stride;
      values.push(read(point));
    }
    return values;
  }

  #point(cells: PointCells, row: number, range: number): Point {
    const { stride, schema } = cells.layout;
    return new Point(
      cells.integers[row * stride] as bigint,
      cells.series[row] as Series,
      this.#group,
      schema,
      cells.rows,
      row * stride,
      NO_OWN,
      this.#origins[range] as Origin,
    );
  }
}
