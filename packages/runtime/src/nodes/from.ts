// from: selects points of the stream, groups them and truncates or rounds their times. Reads rows
// of a write directly: a point object exists only for rows that pass.
import { fromNode } from '@tidemark/pipeline';
import { NO_DIMENSIONS } from '../data/group.ts';
import type { Group } from '../data/group.ts';
import type { Barrier, Batch } from '../data/point.ts';
import { Point } from '../data/point.ts';
import { rowPoint } from '../data/row-point.ts';
import { rowNumber } from '../data/row-selection.ts';
import type { RowSelection, SeriesPositions } from '../data/row-selection.ts';
import type { RowSource } from '../data/row-source.ts';
import type { Series } from '../data/series.ts';
import { EvaluationError } from '../lambda/errors.ts';
import { explainLambda } from '../lambda/explain.ts';
import type { Lambda } from '../lambda/lambda.ts';
import type { Frame } from '../lambda/typed.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';
import { roundTime, truncateTime } from '../time-math.ts';
import { compileFor } from '../node-parts/compile.ts';
import { DimensionChooser, GroupCache } from '../node-parts/dimensions.ts';

/** State of a series of the write before its first row. */
const UNKNOWN = 0;
const REJECTED = 1;
const ACCEPTED = 2;
/** The predicate has to be evaluated for every row. */
const ASK = 3;

/** How the rows of one write are treated, by place of their series. */
type OpenWrite = {
  readonly source: RowSource;
  readonly placeOf: SeriesPositions['placeOf'];
  readonly decisions: Uint8Array;
  readonly groups: (Group | undefined)[];
};

export class FromNode implements RunningNode {
  readonly capabilities: NodeCapabilities = { state: this, rows: this };
  readonly #ctx: ContextOf<typeof fromNode>;
  readonly #lambda: Lambda | undefined;
  readonly #frame: Frame | undefined;
  readonly #chooser: DimensionChooser;
  readonly #groupCache = new GroupCache<Group>();
  readonly #changesTime: boolean;
  #open: OpenWrite | undefined;

  constructor(ctx: ContextOf<typeof fromNode>) {
    this.#ctx = ctx;
    const { options } = ctx;
    if (options.where !== undefined) {
      this.#lambda = compileFor(options.where, 'Failed to compile expression in where clause');
      this.#frame = this.#lambda.frame(ctx.task.callContext);
    }
    this.#chooser = new DimensionChooser(options.dimensions);
    this.#changesTime = options.truncateNanos > 0n || options.roundNanos > 0n;
  }

  get groupCount(): number {
    return 0;
  }

  #wantsOrigin({ origin }: RowSource): boolean {
    const { database, retentionPolicy } = this.#ctx.options;
    if (database !== '' && database !== origin.database) return false;
    return retentionPolicy === '' || retentionPolicy === origin.retentionPolicy;
  }

  /** Prepares for the rows of a write; false when none of them can pass. */
  openWrite(source: RowSource): boolean {
    if (!this.#wantsOrigin(source)) return false;
    const series = source.seriesOf(this.#ctx.options.measurement);
    if (series === undefined) return false;
    this.#open = {
      source,
      placeOf: series.placeOf,
      decisions: new Uint8Array(series.count),
      // All places at once: slices of a write begin anywhere in it, and an array that is filled
      // from there is a table.
      // oxlint-disable-next-line unicorn/no-new-array -- Array.from fills the places one by one
      groups: new Array<Group | undefined>(series.count),
    };
    return true;
  }

  closeWrite(): void {
    this.#open = undefined;
  }

  rows(selection: RowSelection, start: number, end: number): void {
    const open = this.#open;
    if (open === undefined) return;
    const { source, placeOf, decisions } = open;
    const { seriesOfRow } = source;
    for (let at = start; at < end; at++) {
      const row = rowNumber(selection, at);
      const index = seriesOfRow[row] as number;
      if (placeOf === undefined && decisions[index] === REJECTED) continue;
      this.row(row);
    }
  }

  /** One row of the open write. */
  row(row: number): void {
    const open = this.#open;
    if (open === undefined) return;
    const { source, placeOf } = open;
    const index = source.seriesOfRow[row] as number;
    const place = placeOf === undefined ? index : placeOf(index);
    let decision = open.decisions[place];
    if (place < 0 || decision === REJECTED) return;
    source.row = row;
    const series = source.series[index] as Series;
    if (decision === UNKNOWN) {
      decision = this.#decide(open, series);
      open.decisions[place] = decision;
      open.groups[place] = decision === REJECTED ? undefined : this.#group(series);
      if (decision === REJECTED) return;
    }
    const group = open.groups[place];
    if (group === undefined) {
      // Too many groups: every point counts as an error.
      this.#ctx.groupOf(series, this.#dimensions(series));
      return;
    }
    const point = rowPoint(source, row, { series, group });
    if (decision === ASK && !this.#passes(point)) return;
    if (this.#changesTime) point.time = this.#adjust(point.time);
    this.#ctx.out.point(point);
  }

  /** Points of another `from`. */
  point(point: Point): void {
    const { database, retentionPolicy, measurement } = this.#ctx.options;
    if (measurement !== '' && measurement !== point.series.name) return;
    if (database !== '' && database !== point.origin.database) return;
    if (retentionPolicy !== '' && retentionPolicy !== point.origin.retentionPolicy) return;
    if (this.#lambda !== undefined && !this.#passes(point)) return;
    const group = this.#group(point.series);
    if (group === undefined) return;
    const result = point.withSeries(point.series, group);
    if (this.#changesTime) result.time = this.#adjust(point.time);
    this.#ctx.out.point(result);
  }

  batch(batch: Batch): void {
    this.#ctx.out.batch(batch);
  }

  barrier(barrier: Barrier): void {
    this.#ctx.out.barrier(barrier);
  }

  deleteGroup(group: Group): void {
    this.#groupCache.noteGone();
    this.#ctx.out.deleteGroup(group);
  }

  snapshot(): unknown {
    return this.#lambda?.isStateful === true ? this.#frame?.states : undefined;
  }

  restore(state: unknown): void {
    (state as Frame['states']).forEach((s, i) => Object.assign(this.#frame?.states[i] ?? {}, s));
  }

  #decide(open: OpenWrite, series: Series): number {
    if (this.#ctx.task.part?.has(series) === false) return REJECTED;
    const lambda = this.#lambda;
    if (lambda === undefined) return ACCEPTED;
    const [block] = open.source.blocks;
    if (open.source.blocks.length !== 1 || block === undefined) return ASK;
    const specialised = lambda.for(block.schema, series.keys);
    // A predicate over tags has one result for all rows of the series; one that fails must count
    // each row.
    if (!specialised.isTagOnly || specialised.scopeFailure !== undefined) return ASK;
    const group = this.#ctx.task.groups.named('', NO_DIMENSIONS, []);
    if (group === undefined) return ASK;
    const probe = Point.of({ time: 0n, series, group, schema: block.schema });
    try {
      return specialised.test(probe, this.#frame as Frame) ? ACCEPTED : REJECTED;
    } catch (cause) {
      if (cause instanceof EvaluationError) return ASK;
      throw cause;
    }
  }

  #passes(point: Point): boolean {
    try {
      const passes = (this.#lambda as Lambda).test(point, this.#frame as Frame);
      if (this.#ctx.explain !== undefined) this.#explain(point, passes);
      return passes;
    } catch (cause) {
      if (!(cause instanceof EvaluationError)) throw cause;
      this.#ctx.fail('failed to evaluate WHERE expression', cause.message, point);
      return false;
    }
  }

  #explain(point: Point, passes: boolean): void {
    const lambda = this.#lambda as Lambda;
    this.#ctx.explain?.({
      group: point.group,
      time: point.time,
      outcome: passes ? 'passed' : 'dropped',
      conditions: explainLambda(lambda, 'where', {
        point,
        outcome: { result: passes },
        context: this.#ctx.task.callContext,
      }),
    });
  }

  #dimensions(series: Series): Group['dimensions'] {
    return this.#chooser.of(series, this.#ctx.options.isGroupedByMeasurement);
  }

  #group(series: Series): Group | undefined {
    const { firstId } = this.#ctx.task.series;
    let group = this.#groupCache.get(firstId, series.id);
    if (group === undefined) {
      group = this.#ctx.task.groups.of(series, this.#dimensions(series));
      if (group !== undefined) this.#groupCache.set(firstId, series.id, group);
    }
    if (group !== undefined) group.sweep = this.#ctx.task.sweep;
    return group;
  }

  #adjust(time: bigint): bigint {
    const { truncateNanos, roundNanos } = this.#ctx.options;
    return roundTime(truncateTime(time, truncateNanos), roundNanos);
  }
}

export const runningFrom = implement(fromNode, (ctx) => new FromNode(ctx));
