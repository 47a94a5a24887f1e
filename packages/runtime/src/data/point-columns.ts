// The points of a group that a window keeps, first in, first out. Their values are in typed arrays:
// a window of 50,000 groups has millions of points, and as objects all of them would be copied and
// marked by the collector.
import type { NodeContext } from '../node.ts';
import type { Group } from './group.ts';
import type { Origin } from './point.ts';
import { Point } from './point.ts';
import { PointCells } from './point-cells.ts';
import type { LayoutCache, PointLayout } from './point-layout.ts';
import type { Field, Schema, Value } from './schema.ts';

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
  readonly #layouts: LayoutCache;
  /** Mostly one; the oldest first. An array that was pushed to has room for many more. */
  #runs: Run[] = [];
  #count = 0;

  constructor(holder: Holder, layouts: LayoutCache) {
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
      if (this.#runs.length === 0) this.#runs = [run];
      else this.#runs.push(run);
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
type Range = Readonly<Omit<Run, 'layout'>>;

/** The points of a window at one moment. */
export class PointRows {
  readonly count: number;
  readonly #group: Group;
  readonly #ranges: readonly Range[];

  constructor(group: Group, runs: readonly Run[], count: number) {
    this.count = count;
    this.#group = group;
    this.#ranges = runs.map(({ cells, start, end, origin }) => ({ cells, start, end, origin }));
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
    for (const { cells, start, end, origin } of this.#ranges) {
      const { schema, stride } = cells.layout;
      const rows = cells.rows();
      for (let row = start; row < end; row++) {
        const series = cells.seriesOf(row);
        const at = row * stride;
        points.push(
          new Point(cells.timeOf(row), series, this.#group, schema, rows, at, NO_OWN, origin),
        );
      }
    }
    return points;
  }

  /** A point with values of its own. All points have one schema. */
  pointAt(index: number): Point {
    const { cells, start, origin } = this.#ranges[0] as Range;
    const row = start + index;
    const { schema } = cells.layout;
    return Point.of({
      time: cells.timeOf(row),
      series: cells.seriesOf(row),
      group: this.#group,
      schema: schema.detached,
      own: schema.fields.map((_, field) => cells.valueOf(row, field)),
      origin,
    });
  }

  /** All points have one schema. */
  timeAt(index: number): bigint {
    const { cells, start } = this.#ranges[0] as Range;
    return cells.timeOf(start + index);
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
  valuesOf({ slot }: Field): Value[] {
    const { cells, start, end } = this.#ranges[0] as Range;
    const values: Value[] = [];
    for (let row = start; row < end; row++) values.push(cells.valueOf(row, slot.index));
    return values;
  }
}
