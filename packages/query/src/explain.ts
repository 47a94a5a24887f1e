// EXPLAIN: what a SELECT would read. EXPLAIN ANALYZE: what it has read, and how long that took.
import { unreachable } from '@tidemark/core';
import type { ExplainStatement } from '@tidemark/influxql';

import type { QueryContext } from './context.ts';
import { lookUp, requestOptions } from './look-up.ts';
import type { OperatorCost } from './execution/profile.ts';
import { COUNTER_NAMES, ownMs, Profile, zeroCounters } from './execution/profile.ts';
import { execute } from './execute/execute.ts';
import { ExecutionContext } from './execution/execution-context.ts';
import type { RowsPlan, SourcesPlan } from './plan/physical-plan.ts';
import { onlyTags } from './predicate.ts';
import { describePlan } from './plan/describe-plan.ts';
import { requestOf } from './scan/aggregate-measurement.ts';
import { planBlocks } from './plan/plan-blocks.ts';
import { draw } from './plan/tree.ts';
import type { TreeNode } from './plan/tree.ts';
import { physicalStatement } from './plan/plan-statement.ts';
import type { MeasurementPlan, SelectPlan } from './plan/select-plan.ts';
import type { ResultBatch } from './result.ts';
import { rowsBatch } from './result.ts';
import type { MeasurementAggregates, SourceCost, SourceCounters } from './series-source.ts';
import { forEachBatch } from './operator.ts';
import type { Operator, Steps } from './operator.ts';

/** Runs EXPLAIN or EXPLAIN ANALYZE. */
export function* executeExplain(
  statement: ExplainStatement,
  context: QueryContext,
): Operator<ResultBatch> {
  if (statement.isAnalyze) {
    yield yield* explainAnalyze(statement, context);
    return;
  }
  const physical = yield* physicalStatement(statement.statement, context);
  const plan = physical.select;
  const lines: string[] = [];
  for (const block of planBlocks(plan)) {
    if (lines.length > 0) lines.push('');
    lines.push(`EXPRESSION: ${block.expression}`);
    if (block.auxiliaryFields !== undefined) {
      lines.push(`AUXILIARY FIELDS: ${block.auxiliaryFields}`);
    }
    lines.push(...costLines(yield* costOf(physical.rows, block.fields, context)));
  }
  lines.push('', ...draw({ label: 'PLAN', children: [describePlan(physical)] }));
  yield rowsBatch({ columns: ['QUERY PLAN'], rows: lines.map((line) => [line]) });
}

function costLines(cost: SourceCost): readonly string[] {
  return [
    `NUMBER OF SHARDS: ${cost.shards}`,
    `NUMBER OF SERIES: ${cost.series}`,
    `CACHED VALUES: ${cost.cachedValues}`,
    `NUMBER OF FILES: ${cost.files}`,
    `NUMBER OF BLOCKS: ${cost.blocks}`,
    `SIZE OF BLOCKS: ${cost.blockBytes}`,
    ...(cost.statements ?? []).map((text) => `STATEMENT: ${text.replace(/\s+/g, ' ')}`),
  ];
}

const NO_COST: SourceCost = {
  shards: 0,
  series: 0,
  cachedValues: 0,
  files: 0,
  blocks: 0,
  blockBytes: 0,
};

/** Sum over the measurements that a plan reads, those of its subqueries included. */
function* costOf(
  rows: RowsPlan,
  fields: readonly string[],
  context: QueryContext,
): Steps<SourceCost> {
  let total = NO_COST;
  for (const read of readsOf(rows, fields)) {
    const cost = yield* measurementCost(read, context);
    total = {
      shards: Math.max(total.shards, cost.shards),
      series: total.series + cost.series,
      cachedValues: total.cachedValues + cost.cachedValues,
      files: total.files + cost.files,
      blocks: total.blocks + cost.blocks,
      blockBytes: total.blockBytes + cost.blockBytes,
      statements: [...(total.statements ?? []), ...(cost.statements ?? [])],
    };
  }
  return total;
}

/** The reads of a measurement, and the aggregates that the source calculates. */
type MeasurementRead = {
  readonly source: MeasurementPlan;
  readonly select: SelectPlan;
  readonly fields: readonly string[];
  readonly aggregate?: MeasurementAggregates;
};

function* readsOf(rows: RowsPlan, fields: readonly string[]): Iterable<MeasurementRead> {
  switch (rows.kind) {
    case 'fault':
      return;
    case 'limit-series':
      yield* readsOf(rows.rows, fields);
      return;
    case 'concat':
      for (const part of rows.parts) yield* readsOf(part, fields);
      return;
    case 'series':
      for (const source of rows.sources) yield { source, select: rows.select, fields };
      return;
    case 'raw':
      yield* readsOfSources(rows.sources, rows.select, fields);
      return;
    case 'reduced':
      for (const folded of rows.folded) {
        for (const source of folded.sources) {
          const request = requestOf(source, folded, rows.select);
          const aggregates = request.aggregates.filter(({ field }) => fields.includes(field));
          yield { source, select: rows.select, fields, aggregate: { ...request, aggregates } };
        }
      }
      if (rows.rows !== undefined) {
        yield* readsOfSources(rows.rows.sources, rows.rows.select, fields);
      }
      return;
    default:
      unreachable(rows);
  }
}

function* readsOfSources(
  { sources }: SourcesPlan,
  select: SelectPlan,
  fields: readonly string[],
): Iterable<MeasurementRead> {
  for (const opened of sources) {
    if (opened.kind === 'scan') {
      yield { source: opened.source, select, fields };
      continue;
    }
    const inner = opened.inner;
    const read = planBlocks(inner.select).flatMap((block) => block.fields);
    yield* readsOf(inner.rows, [...new Set(read)]);
  }
}

function* measurementCost(
  { source: measured, select, fields, aggregate }: MeasurementRead,
  context: QueryContext,
): Steps<SourceCost> {
  const { measurement: source } = measured;
  const { pushed } = select.condition;
  const where = onlyTags(pushed);
  const cost = context.snapshot.cost?.(
    { source, timeRange: select.range, where, fields, aggregate },
    requestOptions(context),
  );
  const estimated = cost === undefined ? undefined : yield* cost;
  // If a source has no costs, its series are counted.
  let series = 0;
  const filter = {
    database: source.database,
    measurements: [source.measurement],
    where,
  };
  yield* forEachBatch(lookUp(context, 'series-cardinality', { filter }), ({ count }) => {
    series += count;
  });
  return { ...NO_COST, ...estimated, series };
}

/** Runs the statement, throws its rows away and reports counters and times. */
function* explainAnalyze(statement: ExplainStatement, context: QueryContext): Steps<ResultBatch> {
  const counters = context.counters ?? zeroCounters();
  const profile = new Profile(context.monotonicMs, counters);
  const counted: QueryContext = { ...context, counters };
  const started = context.monotonicMs();
  const plan = yield* physicalStatement(statement.statement, counted);
  const planned = context.monotonicMs();
  let rowCount = 0;
  let seriesCount = 0;
  let group: unknown;
  yield* forEachBatch(execute(plan, new ExecutionContext(counted, profile)), (batch) => {
    rowCount += batch.times.length;
    if (batch.group !== group) seriesCount++;
    group = batch.group;
  });
  const ended = context.monotonicMs();
  const tree: TreeNode = {
    label: '.',
    children: [
      {
        label: 'select',
        children: [
          leafNode(`planning_time: ${milliseconds(planned - started)}`),
          leafNode(`execution_time: ${milliseconds(ended - planned)}`),
          leafNode(`total_time: ${milliseconds(ended - started)}`),
          leafNode(`rows_answered: ${rowCount}`),
          leafNode(`series_answered: ${seriesCount}`),
          ...counterNodes(counters),
          { label: 'plan', children: [describePlan(plan)] },
          { label: 'operators', children: profile.root.children.map(operatorNode) },
        ],
      },
    ],
  };
  const rows = draw(tree).map((line) => [line]);
  return rowsBatch({ columns: ['EXPLAIN ANALYZE'], rows });
}

/** `total` is the time of the operator and of those below it, `own` that of the operator alone. */
function operatorNode(cost: OperatorCost): TreeNode {
  const { label, totalMs, batches, rows, children, counters } = cost;
  const times = `total ${milliseconds(totalMs)}, own ${milliseconds(ownMs(cost))}`;
  const sizes = rows > 0 ? `${batches} batches, ${rows} rows` : `${batches} batches`;
  return {
    label: `${label}: ${times}, ${sizes}`,
    children: [
      ...(counters === undefined ? [] : counterNodes(counters)),
      ...children.map(operatorNode),
    ],
  };
}

function counterNodes(counters: SourceCounters): readonly TreeNode[] {
  return COUNTER_NAMES.flatMap((name) => {
    const value = counters[name];
    if (name !== 'readerMs') return leafNode(`${snakeCase(name)}: ${value}`);
    return value === 0 ? [] : leafNode(`reader_time: ${milliseconds(value)}`);
  });
}

function leafNode(label: string): TreeNode {
  return { label, children: [] };
}

function milliseconds(value: number): string {
  return `${value.toFixed(3)}ms`;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
