// Rows of one measurement: scanned per series, merged by time within each group.
import type { Column, FieldType, TimeRange } from '@tidemark/core';
import { withEmptyTexts } from '@tidemark/core';

import { requestOptions } from '../look-up.ts';
import { maskToRows, nullColumn, sliceColumn, takeInt64, takeRows } from '../batch/column-ops.ts';
import { CONDITION_CELLS, EARLY_END_ROWS, ROWS_BEHIND } from '../limits.ts';
import type { GroupKey, RowBatch } from '../batch/row-batch.ts';
import { nodeCount } from '../analyse/columns.ts';
import type { RowInput, ValueExpression } from '../analyse/columns.ts';
import type { OpenPlan } from '../plan/physical-plan.ts';
import { readsFields } from '../predicate.ts';
import type { MeasurementPlan, SelectPlan } from '../plan/select-plan.ts';
import type {
  EndedGroup,
  FieldRef,
  Predicate,
  ScanRequest,
  SeriesBatch,
} from '../series-source.ts';
import { seriesLabel } from '../series-label.ts';
import { evaluate, truth } from '../project/evaluate.ts';
import { byShard } from '../merge/by-shard.ts';
import {
  haveOwnOrder,
  mergeSeries,
  seriesCount,
  tieTagsOf,
  withTagColumns,
} from '../merge/merge-series.ts';
import type { SortedRows } from '../merge/merge-sorted-rows.ts';
import type { SeriesRows } from '../merge/merge-series.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import { groupOf } from './group-ends.ts';
import type { GroupEnds } from './group-ends.ts';
import { HeldRows } from './held-rows.ts';
import type { MergeMost } from './held-rows.ts';
import { TimeSlices } from './time-slices.ts';
import { flatMapBatches, mapBatches } from '../operator.ts';
import type { Operator, Steps } from '../operator.ts';

/** Types of the columns that a plan's inputs become. */
export function inputTypes(inputs: readonly RowInput[]): readonly FieldType[] {
  return inputs.map((input) => (input.kind === 'field' ? input.type : 'string'));
}

export type ScanOptions = {
  readonly range: TimeRange;
  /** Rows of each group, and so of each series, that can be needed; `undefined` means all. */
  readonly limitPerSeries: number | undefined;
  /** Whether the source has to send the rows of all series, needed or not. */
  readonly sendsAll?: boolean | undefined;
  /** Present if reading a group may end before its last row. */
  readonly ends?: GroupEnds | undefined;
  /** Whether rows of a subquery may come in any order. */
  readonly anyOrder?: boolean | undefined;
};

/**
 * Scans a measurement in the order of the answer. Rows have the plan's inputs as columns. A group
 * of one series is a stream; the series of other groups are merged by time. If a group has too many
 * rows or texts to be merged at once, they are read again in slices of time, each of which is
 * merged separately.
 */
export function* scanMeasurement(
  { source, hasSeriesPerGroup }: OpenPlan & { readonly kind: 'scan' },
  plan: SelectPlan,
  options: ScanOptions,
  execution: ExecutionContext,
): Operator<RowBatch> {
  const layout = new InputLayout(plan, source);
  if (layout.fields.length === 0) return;
  const { mergeRows: rows, mergeTextBytes: textBytes } = execution;
  const readAtOnce = options.ends === undefined ? Infinity : EARLY_END_ROWS;
  const scan = { source, plan, layout, execution, hasSeriesPerGroup };
  yield* new GroupScan(scan, options, { rows, textBytes, readAtOnce }).rows();
}

const MERGE_ALL: MergeMost = { rows: Infinity, textBytes: Infinity, readAtOnce: Infinity };

type Scan = {
  readonly source: MeasurementPlan;
  readonly plan: SelectPlan;
  readonly layout: InputLayout;
  readonly execution: ExecutionContext;
  readonly hasSeriesPerGroup: boolean;
};

/**
 * Scans a range of time; groups of more than `most` are cut into slices. Groups whose first rows
 * may be enough are cut after fewer rows.
 */
class GroupScan {
  readonly #scan: Scan;
  readonly #options: ScanOptions;
  readonly #most: MergeMost;
  readonly #request: ScanRequest;
  readonly #held: HeldRows;
  readonly #ended: EndedGroup = { tags: undefined };
  #group: GroupKey | undefined;
  /** Rows of the group that may be read before it is cut into slices. */
  #left = 0;
  #isOver = false;

  constructor(scan: Scan, options: ScanOptions, most: MergeMost) {
    this.#scan = scan;
    this.#options = options;
    this.#most = most;
    this.#request = scanRequest(scan, options, most.rows);
    this.#held = new HeldRows(scan.execution, scan.plan);
  }

  *rows(): Operator<RowBatch> {
    const { source, execution } = this.#scan;
    const { query } = execution;
    const scanned = execution.read('scan', source, {
      from: query.snapshot.scan(this.#request, { ...requestOptions(query), ended: this.#ended }),
      rowsOf: (batch) => batch.times.length,
    });
    try {
      yield* flatMapBatches(
        scanned,
        (batch) => this.#add(batch),
        () => this.#isOver,
      );
      yield* this.#merged();
    } finally {
      this.#held.take();
    }
  }

  *#add(batch: SeriesBatch): Operator<RowBatch> {
    yield;
    const { source, plan, layout, execution, hasSeriesPerGroup } = this.#scan;
    const most = this.#most;
    const tags = plan.dimensions.map((name) => batch.tags.get(name) ?? '');
    const group = groupOf(this.#group, source.measurement.measurement, tags);
    if (group !== this.#group) {
      yield* this.#merged();
      this.#group = group;
      this.#left = this.#request.limitPerSeries === undefined ? most.readAtOnce : Infinity;
    }
    if (this.#ended.tags === group.tags) return;
    if (this.#options.ends?.isEnded(group) === true) return this.#end(group);
    execution.countSeries(batch.seriesKey);
    execution.countPoints(batch.times.length);
    const rows = yield* layout.rows(batch, plan);
    if (hasSeriesPerGroup) {
      if (rows !== undefined) yield { group, ...withTagColumns(rows, plan) };
      return;
    }
    const held = this.#held;
    this.#left -= batch.times.length;
    const count = rows?.times.length ?? 0;
    if (
      this.#left >= 0 &&
      held.rowCount + count <= most.rows &&
      held.sliceableTextBytes <= most.textBytes
    ) {
      if (rows !== undefined) held.add(rows);
      return;
    }
    execution.countPoints(-held.rowCount - batch.times.length);
    most.found?.(Math.max(1, held.shareOf(most)));
    const sliceRows = Math.min(execution.mergeRows, held.rowsWithin(execution.mergeTextBytes));
    held.take();
    yield* scanSlices(this.#scan, this.#options, { group, most: sliceRows });
    this.#end(group);
  }

  /** No more rows of the group are needed. */
  #end({ tags }: GroupKey): void {
    this.#isOver = tags.length === 0;
    this.#ended.tags = tags;
  }

  /**
   * The rows of the group that was read to its end. If more series are needed than the source has
   * sent, all are read.
   */
  *#merged(): Operator<RowBatch> {
    const group = this.#group;
    if (group === undefined || this.#held.rowCount === 0) return;
    const { source, plan, execution } = this.#scan;
    const { found, ...most } = this.#most;
    found?.(this.#held.shareOf(most));
    const parts = this.#held.take();
    const all: SortedRows[] = [];
    for (const ofShard of byShard(parts, source.shards, plan.descending)) {
      all.push(yield* mergeSeries(ofShard, plan));
    }
    const { limitPerGroup, rowsBehind = 0 } = this.#request;
    const needsAll =
      limitPerGroup !== undefined &&
      seriesCount(parts) >= rowsBehind &&
      needsAllSeries(all, limitPerGroup, { parts, plan });
    if (!needsAll) {
      for (const rows of all) yield { group, ...rows };
      return;
    }
    for (const { times } of all) execution.countPoints(-times.length);
    const again = { ...this.#scan, plan: withinGroup(plan, group) };
    const whole = new GroupScan(again, { ...this.#options, sendsAll: true }, most);
    yield* mapBatches(whole.rows(), (batch) => ({ ...batch, group }));
  }
}

type SlicedGroup = {
  readonly group: GroupKey;
  /** Rows that fit. */
  readonly most: number;
};

/** The rows of one group, slice by slice. A slice that has more than fits is cut again. */
function* scanSlices(
  scan: Scan,
  options: ScanOptions,
  { group, most }: SlicedGroup,
): Operator<RowBatch> {
  const { source, execution } = scan;
  const plan = withinGroup(scan.plan, group);
  let left = options.limitPerSeries ?? Infinity;
  const firstRows = options.ends === undefined ? most : Math.min(most, EARLY_END_ROWS);
  const cutting = { source, plan, firstRows, range: options.range };
  const slices = yield* TimeSlices.of(cutting, execution);
  const { mergeRows, mergeTextBytes } = execution;
  const mostOfSlice = { rows: mergeRows, textBytes: mergeTextBytes, readAtOnce: Infinity };
  for (let slice = slices.next(); slice !== undefined; slice = slices.next()) {
    const { range, isWhole } = slice;
    let share = 0;
    const ofSlice = {
      ...(isWhole ? MERGE_ALL : mostOfSlice),
      found: (part: number) => void (share = part),
    };
    const sliced = new GroupScan({ ...scan, plan }, { ...options, range }, ofSlice);
    yield* mapBatches(sliced.rows(), (batch) => {
      left -= batch.times.length;
      return { ...batch, group };
    });
    if (left <= 0 || options.ends?.isEnded(group) === true) return;
    slices.found(share);
  }
}

/** The plan for the series of one group only. A missing tag is an empty one. */
export function withinGroup(plan: SelectPlan, { tags }: GroupKey): SelectPlan {
  let { pushed } = plan.condition;
  for (const [i, key] of plan.dimensions.entries()) {
    const ofGroup: Predicate = { kind: 'tag', key, operator: '=', value: tags[i] ?? '' };
    pushed = pushed === undefined ? ofGroup : { kind: 'and', left: pushed, right: ofGroup };
  }
  return { ...plan, condition: { ...plan.condition, pushed } };
}

function scanRequest(
  { source, plan, layout, execution, hasSeriesPerGroup }: Scan,
  { range, limitPerSeries, sendsAll = false }: ScanOptions,
  maxRows: number,
): ScanRequest {
  const limit = plan.condition.residual === undefined ? limitPerSeries : undefined;
  const isMerged = !hasSeriesPerGroup && !sendsAll && limit !== undefined && limit <= maxRows;
  const { pushed } = plan.condition;
  return {
    source: source.measurement,
    timeRange: range,
    where: pushed,
    descending: plan.descending,
    groupBy: plan.dimensions,
    fields: layout.fields,
    limitPerSeries: limit,
    limitPerGroup: isMerged ? limit : undefined,
    rowsBehind: isMerged && findsRowsAtOnce(layout.fields, pushed) ? ROWS_BEHIND : undefined,
    tieTags: isMerged ? tieTagsOf(plan) : undefined,
    tags: needsKeys(plan, execution) ? undefined : tagsRead(plan),
  };
}

/**
 * Whether the next row after the needed ones costs little: it is not searched for, and has no
 * texts.
 */
function findsRowsAtOnce(fields: readonly FieldRef[], where: Predicate | undefined): boolean {
  return (
    fields.every(({ type }) => type !== 'string') && (where === undefined || !readsFields(where))
  );
}

/** Series are counted by their keys, and the keys order rows of one time. */
function needsKeys({ seriesInput }: SelectPlan, { query }: ExecutionContext): boolean {
  return seriesInput !== undefined || query.limits.maxSelectSeries > 0;
}

/** Tags that are columns or distinguish groups. */
function tagsRead({ dimensions, inputs }: SelectPlan): readonly string[] {
  const names = new Set(dimensions);
  for (const { kind, name } of inputs) if (kind === 'tag') names.add(name);
  return [...names];
}

/**
 * Whether the first rows of a group depend on series without a row among them: they do if times are
 * equal and the order is that of the heap, in which every series has a place.
 */
function needsAllSeries(
  shards: readonly SortedRows[],
  limit: number,
  { parts, plan }: { readonly parts: readonly SeriesRows[]; readonly plan: SelectPlan },
): boolean {
  let left = limit;
  for (const { times } of shards) {
    const end = Math.min(left + 1, times.length);
    for (let i = 1; i < end; i++) {
      if (times[i] === times[i - 1]) return !haveOwnOrder(parts, plan);
    }
    left -= times.length;
    if (left <= 0) return false;
  }
  return false;
}

/** Maps the columns of a scan to the columns of the plan's inputs. */
class InputLayout {
  readonly fields: FieldRef[] = [];
  readonly #fieldOf: (number | undefined)[] = [];
  readonly #selectedFieldCount: number;
  /** Number of the source, if rows contain their series. */
  readonly #source: number | undefined;

  constructor(plan: SelectPlan, source: MeasurementPlan) {
    this.#source = plan.seriesInput === undefined ? undefined : plan.sources.indexOf(source);
    let selected = 0;
    for (const [i, input] of plan.inputs.entries()) {
      if (input.kind !== 'field') {
        this.#fieldOf.push(undefined);
        continue;
      }
      this.#fieldOf.push(this.fields.push({ name: input.name, type: input.type }) - 1);
      if (i < plan.selectedInputCount) selected++;
    }
    this.#selectedFieldCount = selected;
    // Without a selected field there is no row, whatever the condition reads.
    if (selected === 0) this.fields.length = 0;
  }

  /**
   * Rows of a batch that meet the residual condition and have a selected field; `undefined` when
   * there are none.
   */
  *rows(batch: SeriesBatch, plan: SelectPlan): Steps<SeriesRows | undefined> {
    const { times, seriesKey } = batch;
    const tags = this.#tagsOf(batch);
    const columns = this.#fieldOf.map((field): Column | undefined =>
      field === undefined ? undefined : (batch.columns[field] ?? nullColumn('float', times.length)),
    );
    const all: SeriesRows = { times, columns, seriesKey, tags };
    const keep = yield* this.#rowsToKeep(all, plan);
    if (keep === undefined) return all;
    if (keep.length === 0) return undefined;
    return {
      ...all,
      times: takeInt64(times, keep),
      columns: columns.map((column) => column && takeRows(column, keep)),
    };
  }

  /** The label of the series has a name that no tag has. */
  #tagsOf({ tags, seriesKey }: SeriesBatch): SeriesBatch['tags'] {
    if (this.#source === undefined) return tags;
    return new Map([...tags, ['', seriesLabel(this.#source, seriesKey)]]);
  }

  /** Numbers of the rows to keep; `undefined` keeps all. */
  *#rowsToKeep(rows: SeriesRows, plan: SelectPlan): Steps<Uint32Array | undefined> {
    const rowCount = rows.times.length;
    const { residual } = plan.condition;
    const needsPresence = this.fields.length > this.#selectedFieldCount;
    if (residual === undefined && !needsPresence) return undefined;
    const keep =
      residual === undefined
        ? new Uint8Array(rowCount).fill(1)
        : yield* conditionMask(residual, withTagColumns(rows, plan).columns, {
            plan,
            rowCount,
          });
    if (needsPresence) {
      const present = new Uint8Array(rowCount);
      for (let i = 0; i < plan.selectedInputCount; i++) {
        if (plan.inputs[i]!.kind !== 'field') continue;
        const valid = rows.columns[i]?.valid;
        for (let row = 0; row < rowCount; row++)
          present[row]! |= valid === undefined ? 1 : valid[row]!;
      }
      for (let row = 0; row < rowCount; row++) keep[row]! &= present[row]!;
    }
    return maskToRows(keep);
  }
}

export type MaskOptions = {
  readonly plan: SelectPlan;
  readonly rowCount: number;
};

/**
 * One byte per row: 1 where the condition holds. Missing tags compare as empty strings. A long
 * condition is evaluated for a few rows at a time, with pauses in between.
 */
export function* conditionMask(
  condition: ValueExpression,
  columns: readonly Column[],
  { plan, rowCount }: MaskOptions,
): Steps<Uint8Array> {
  const operands = columns.map((column, i) =>
    plan.inputs[i]!.kind === 'tag' && column.type === 'string' ? withEmptyTexts(column) : column,
  );
  const step = Math.max(MIN_MASK_ROWS, Math.floor(CONDITION_CELLS / nodeCount(condition)));
  if (step >= rowCount) return evaluateMask(condition, operands, rowCount);
  const mask = new Uint8Array(rowCount);
  for (let from = 0; from < rowCount; from += step) {
    yield;
    const to = Math.min(rowCount, from + step);
    const part = operands.map((column) => sliceColumn(column, from, to));
    mask.set(evaluateMask(condition, part, to - from), from);
  }
  return mask;
}

function evaluateMask(
  condition: ValueExpression,
  columns: readonly Column[],
  rowCount: number,
): Uint8Array {
  const outcome = evaluate(condition, { columns, rowCount, isCondition: true });
  return truth(outcome, rowCount).slice();
}

const MIN_MASK_ROWS = 16;
