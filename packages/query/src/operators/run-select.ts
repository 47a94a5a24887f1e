// Runs the plan of a SELECT: sources → leaves → expressions → limits. Recursive for subqueries.
import type { Column } from '@tidemark/core';
import { compareBytes, MAX_TIME, MIN_TIME } from '@tidemark/core';

import { invalid } from '../compat-messages.ts';
import type { GroupKey, RowBatch, RowStream } from '../batch/row-batch.ts';
import { sliceColumn } from '../batch/column-ops.ts';
import { lookUp } from '../look-up.ts';
import { bucketLimitExceeded, filledLimitExceeded, SLICE_ROWS } from '../limits.ts';
import type { LeafFault, MeasurementPlan, SelectPlan, SourcePlan } from '../plan/select-plan.ts';
import type { AggregatedGroup } from './aggregate-measurement.ts';
import { aggregateMeasurement, canPushAggregates } from './aggregate-measurement.ts';
import { evaluate } from './evaluate.ts';
import { GroupLeaves, LeavesPlan } from './group-leaves.ts';
import { mergeSources } from './merge-sources.ts';
import { OutsideEnd } from './outside-end.ts';
import { RawFiller, RowDefaults } from './row-defaults.ts';
import type { RunContext } from './run-context.ts';
import type { ScanOptions } from './scan-measurement.ts';
import { inputTypes, scanMeasurement } from './scan-measurement.ts';
import { scanSubquery } from './scan-subquery.ts';
import { onlyTags } from './only-tags.ts';
import { limitSeries } from './series-limit.ts';
import type { ZippedRows } from './zip-leaves.ts';

/** Rows of the answer: columns are the plan's outputs, groups in the order of the answer. */
export function runSelect(plan: SelectPlan, run: RunContext): RowStream {
  return run.operator('select', plan, selectRows(plan, run));
}

async function* selectRows(plan: SelectPlan, run: RunContext): RowStream {
  await checkLimits(plan, run);
  for await (const batch of rowsOfSeries(plan, run)) {
    if (run.pace.isDue) await run.pace.turn();
    yield batch;
  }
}

/** The rows of all series, or of those that SLIMIT and SOFFSET leave. */
async function* rowsOfSeries(plan: SelectPlan, run: RunContext): RowStream {
  if (plan.seriesLimit === 0 && plan.seriesOffset === 0) {
    yield* allRows(plan, run);
    return;
  }
  // Measurements are limited one by one, so that none is read further than it is answered.
  const parts = haveDistinctNames(plan)
    ? inNameOrder(plan).map((source) => ({ ...plan, sources: [source] }))
    : [plan];
  for (const part of parts) {
    yield* run.operator('limit series', part, limitSeries(allRows(part, run), part));
  }
}

function allRows(plan: SelectPlan, run: RunContext): RowStream {
  return plan.leaves.length === 0 ? limitRows(runRaw(plan, run), plan) : runLeaves(plan, run);
}

/** Holds a plan against the limits that can be known before anything is read. */
export async function checkLimits(plan: SelectPlan, run: RunContext): Promise<void> {
  checkBuckets(plan, run);
  await checkSeries(plan, run);
}

function checkBuckets(plan: SelectPlan, run: RunContext): void {
  const { maxSelectBuckets, maxFilledWindows } = run.query.limits;
  const count = windowCount(plan);
  if (count === undefined) return;
  if (maxSelectBuckets > 0 && count > maxSelectBuckets) {
    throw bucketLimitExceeded(Number(count), maxSelectBuckets);
  }
  if (maxFilledWindows === 0 || plan.fill.kind === 'none') return;
  // Nobody fills behind the last row that is answered; what transformations leave out is counted while it is filled.
  const answered = plan.limit === 0 ? count : BigInt(plan.limit + plan.offset);
  const filled = answered < count ? answered : count;
  if (filled > maxFilledWindows) throw filledLimitExceeded(filled, maxFilledWindows);
}

/** Windows of the range, whether there are points in them or not; `undefined` where it has no bounds. */
function windowCount(plan: SelectPlan): bigint | undefined {
  if (plan.interval === undefined) return undefined;
  const { start, end } = plan.range;
  if (start === MIN_TIME || end === MAX_TIME || end < start) return undefined;
  const { windows } = new LeavesPlan(plan);
  if (windows === undefined) return undefined;
  return (windows.of(end).start - windows.of(start).start) / windows.everyNanos + 1n;
}

/** Counts the series that will be read, when there is a limit, before anything is read. */
async function checkSeries(plan: SelectPlan, run: RunContext): Promise<void> {
  const { query } = run;
  if (query.limits.maxSelectSeries === 0) return;
  for (const source of plan.sources) {
    if (source.kind !== 'measurement') continue;
    const { pushed } = plan.condition;
    const filter = {
      database: source.measurement.database,
      retentionPolicy: source.measurement.retentionPolicy,
      measurements: [source.measurement.measurement],
      where: pushed === undefined ? undefined : onlyTags(pushed),
      timeRange: plan.range,
    };
    for await (const { keys } of lookUp(query, 'series', { filter }, run.pace)) {
      for (const key of keys) run.countSeries(key);
    }
  }
}

/** Rows of all sources, filtered, in the order of the answer. */
function openRows(plan: SelectPlan, options: ScanOptions, run: RunContext): RowStream {
  const open = (source: SourcePlan): RowStream => {
    return source.kind === 'measurement'
      ? run.operator('merge series', source, scanMeasurement(source, plan, options, run))
      : run.operator(
          'read subquery',
          source,
          scanSubquery(source, plan, runSelect(source.plan, run), run),
        );
  };
  const rows = haveDistinctNames(plan)
    ? oneAfterTheOther(inNameOrder(plan), open)
    : run.operator(
        'merge sources',
        plan,
        mergeSources(plan.sources.map(open), {
          types: inputTypes(plan.inputs),
          descending: plan.descending,
          pace: run.pace,
        }),
      );
  return inSlices(rows);
}

/** What was merged as a whole goes on in parts, so that no step behind takes long. */
async function* inSlices(rows: RowStream): RowStream {
  for await (const batch of rows) {
    const rowCount = batch.times.length;
    if (rowCount <= SLICE_ROWS) {
      yield batch;
      continue;
    }
    for (let from = 0; from < rowCount; from += SLICE_ROWS) {
      yield sliceRows(batch, from, Math.min(rowCount, from + SLICE_ROWS));
    }
  }
}

/** Rows `[from, to)`. */
function sliceRows({ group, times, columns }: RowBatch, from: number, to: number): RowBatch {
  return {
    group,
    times: times.subarray(from, to),
    columns: columns.map((column) => sliceColumn(column, from, to)),
  };
}

/** Measurements with names of their own need no merge: their groups follow each other. */
async function* oneAfterTheOther(
  sources: readonly SourcePlan[],
  open: (source: SourcePlan) => RowStream,
): RowStream {
  for (const source of sources) yield* open(source);
}

function haveDistinctNames(plan: SelectPlan): boolean {
  if (plan.sources.length === 1) return true;
  const names = new Set<string>();
  for (const source of plan.sources) {
    if (source.kind !== 'measurement') return false;
    names.add(source.measurement.measurement);
  }
  return names.size === plan.sources.length;
}

function inNameOrder(plan: SelectPlan): readonly SourcePlan[] {
  const direction = plan.descending ? -1 : 1;
  const name = (source: SourcePlan): string =>
    source.kind === 'measurement' ? source.measurement.measurement : '';
  return [...plan.sources].sort((a, b) => compareBytes(name(a), name(b)) * direction);
}

async function* runRaw(plan: SelectPlan, run: RunContext): RowStream {
  if (plan.selectedInputCount === 0) return;
  const wanted = plan.limit === 0 ? undefined : plan.limit + plan.offset;
  const opened = openRows(plan, { range: plan.range, limitPerSeries: wanted }, run);
  const filler = new RawFiller(plan);
  let done: GroupKey | undefined;
  let count = 0;
  for await (const batch of opened) {
    if (batch.group !== done) {
      done = batch.group;
      count = 0;
    }
    if (wanted !== undefined && count >= wanted) continue;
    count += batch.times.length;
    const rows = { times: batch.times, columns: filler.fill(batch) };
    yield await run.step('evaluate columns', plan, () => outputs(plan, batch.group, rows, run));
  }
}

async function* runLeaves(plan: SelectPlan, run: RunContext): RowStream {
  const fault = firstFault(plan);
  if (fault !== undefined) throw invalid(fault.text, fault.place);
  const leaves = new LeavesPlan(plan);
  const isPushed = canPushAggregates(plan, run.query.capabilities);
  const feed = isPushed ? aggregateFeed(leaves, run) : rowFeed(leaves, run);
  const defaults = new RowDefaults(leaves);
  let group: GroupKey | undefined;
  let current: GroupLeaves | undefined;
  for await (const { key, push } of feed) {
    if (current === undefined || key !== group) {
      if (current !== undefined && group !== undefined) {
        yield* finishGroup(current, { plan, group, defaults, run });
      }
      group = key;
      current = new GroupLeaves(leaves, run);
      defaults.startGroup();
    }
    if (current.isSatisfied) continue;
    const leavesOfGroup = current;
    await run.step('reduce', plan, () => push(leavesOfGroup));
    yield* knownRows(current, { plan, group: key, defaults, run });
  }
  if (current !== undefined && group !== undefined) {
    yield* finishGroup(current, { plan, group, defaults, run });
  }
}

/** The fault of a call on a field of the wrong type; that of an inner query comes first. */
function firstFault(plan: SelectPlan): LeafFault | undefined {
  const own = plan.leaves.find((leaf) => leaf.fault !== undefined)?.fault;
  if (own === undefined) return undefined;
  for (const source of plan.sources) {
    const inner = source.kind === 'subquery' ? firstFault(source.plan) : undefined;
    if (inner !== undefined) return inner;
  }
  return own;
}

type Feed = AsyncIterable<{
  readonly key: GroupKey;
  readonly push: (leaves: GroupLeaves) => Promise<void> | void;
}>;

async function* rowFeed(leaves: LeavesPlan, run: RunContext): Feed {
  const options: ScanOptions = { range: leaves.range, limitPerSeries: undefined };
  const { plan } = leaves;
  const endsOutside =
    plan.interval === undefined &&
    plan.sources.some((source) => source.kind === 'subquery') &&
    plan.leaves.every((leaf) => leaf.reducer !== undefined);
  const ends = endsOutside ? new OutsideEnd(plan) : undefined;
  for await (const batch of openRows(plan, options, run)) {
    const inside = ends === undefined ? batch : ends.apply(batch);
    yield { key: inside.group, push: (group) => group.pushRows(inside) };
    if (ends?.isOver === true) return;
  }
}

async function* aggregateFeed(leaves: LeavesPlan, run: RunContext): Feed {
  const { plan } = leaves;
  // Leaves are limited each for itself: one may need windows in which the others have no point.
  const canLimit =
    plan.limit > 0 &&
    plan.interval !== undefined &&
    plan.leaves.every((leaf) => leaf.input === plan.leaves[0]?.input) &&
    plan.leaves.every((leaf) => leaf.transformations.length === 0);
  const options = {
    range: leaves.range,
    window:
      plan.interval === undefined
        ? undefined
        : { everyNanos: plan.interval.everyNanos, offsetNanos: plan.interval.offsetNanos },
    // One window more than is answered, because linear fill looks at the next one.
    limitWindows: canLimit ? plan.limit + plan.offset + 1 : undefined,
  };
  for (const source of inNameOrder(plan)) {
    if (source.kind !== 'measurement') continue;
    for await (const batch of aggregated(source, leaves, options, run)) {
      yield { key: batch.group, push: (group) => group.pushAggregates(batch) };
    }
  }
}

function aggregated(
  source: MeasurementPlan,
  leaves: LeavesPlan,
  options: Parameters<typeof aggregateMeasurement>[2],
  run: RunContext,
): AsyncIterable<AggregatedGroup> {
  return aggregateMeasurement(source, leaves.plan, options, run);
}

/** What the rows of a group are made with. */
export type GroupEnd = {
  readonly plan: SelectPlan;
  readonly group: GroupKey;
  readonly defaults: RowDefaults;
  readonly run: RunContext;
};

/** The rows of a group that are left when all of it has been pushed. */
export async function* finishGroup(leaves: GroupLeaves, end: GroupEnd): RowStream {
  const { plan, run } = end;
  await run.step('reduce', plan, () => leaves.finish());
  yield* knownRows(leaves, end);
}

/** Rows over the leaves as far as they are known: filled, transformed, put beside each other, evaluated. */
export async function* knownRows(
  leaves: GroupLeaves,
  { plan, group, defaults, run }: GroupEnd,
): RowStream {
  const next = (): ZippedRows | undefined =>
    run.time('fill and transform', plan, () => leaves.next());
  for (let rows = next(); rows !== undefined || leaves.isBusy; rows = next()) {
    if (run.pace.isDue) await run.pace.turn();
    if (rows === undefined) continue;
    const defaulted = { times: rows.times, columns: defaults.apply(rows) };
    yield await run.step('evaluate columns', plan, () => outputs(plan, group, defaulted, run));
  }
}

type Rows = { readonly times: BigInt64Array; readonly columns: readonly Column[] };

/** Evaluates the SELECT list over rows of inputs or leaves. Gives way between columns. */
async function outputs(
  plan: SelectPlan,
  group: GroupKey,
  rows: Rows,
  { pace }: RunContext,
): Promise<RowBatch> {
  const context = { columns: rows.columns, rowCount: rows.times.length, isCondition: false };
  const columns: Column[] = [];
  for (const { expression } of plan.outputs) {
    if (pace.isDue) await pace.turn();
    columns.push(evaluate(expression, context));
  }
  return { group, times: rows.times, columns };
}

/** LIMIT and OFFSET of a raw query count the rows of each series. */
async function* limitRows(rows: RowStream, plan: SelectPlan): RowStream {
  if (plan.limit === 0 && plan.offset === 0) {
    yield* rows;
    return;
  }
  let group: GroupKey | undefined;
  let seen = 0;
  const end = plan.limit === 0 ? Infinity : plan.offset + plan.limit;
  for await (const batch of rows) {
    if (batch.group !== group) {
      group = batch.group;
      seen = 0;
    }
    const count = batch.times.length;
    const from = Math.min(Math.max(plan.offset - seen, 0), count);
    const to = Math.min(Math.max(end - seen, 0), count);
    seen += count;
    if (to <= from) continue;
    yield from === 0 && to === count ? batch : sliceRows(batch, from, to);
  }
}
