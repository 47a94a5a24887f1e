// A physical plan as a tree, for EXPLAIN.
import { formatDuration } from '@tidemark/core';

import type { AggregateCall } from '../analyse/columns.ts';
import { print } from '../print.ts';
import { calculatedText } from './calculated-condition.ts';
import type { Predicate } from '../series-source.ts';
import type {
  CallRows,
  FoldedCalls,
  OpenPlan,
  PhysicalPlan,
  RowsPlan,
  SourcesPlan,
} from './physical-plan.ts';
import type { MeasurementPlan, SelectPlan } from './select-plan.ts';
import type { TreeNode } from './tree.ts';

/** The operators of a plan, the outermost at the top, with their names in EXPLAIN ANALYZE. */
export function describePlan({ select, rows }: PhysicalPlan): TreeNode {
  const columns = select.outputs.map(({ name }) => name);
  const parts = [`select: ${columns.join(', ')}`];
  if (select.dimensions.length > 0) parts.push(`by ${select.dimensions.join(', ')}`);
  if (select.limit > 0) parts.push(`limit ${select.limit}`);
  if (select.offset > 0) parts.push(`offset ${select.offset}`);
  if (select.descending) parts.push('newest first');
  return { label: parts.join('; '), children: rowsNodes(rows) };
}

function rowsNodes(rows: RowsPlan): readonly TreeNode[] {
  switch (rows.kind) {
    case 'fault':
      return [{ label: `error: ${rows.fault.text}`, children: [] }];
    case 'limit-series': {
      const { seriesLimit, seriesOffset } = rows.select;
      const label = `limit series: ${seriesLimit === 0 ? 'all' : seriesLimit} from ${seriesOffset}`;
      return [{ label, children: rowsNodes(rows.rows) }];
    }
    case 'concat':
      return rows.parts.flatMap(rowsNodes);
    case 'series':
      return rows.sources.map((source) => scanNode(rows.select, source));
    case 'raw':
      return [{ label: 'evaluate columns', children: sourcesNodes(rows.select, rows.sources) }];
    case 'reduced': {
      const { select, folded } = rows;
      const reads = folded.flatMap((each) => foldedNodes(select, each));
      if (rows.rows !== undefined) reads.push(reduceNode(rows.rows));
      // Whole groups skip the operators in between.
      const children = rows.takesWholeGroups
        ? [{ label: 'evaluate whole groups', children: reads }]
        : reads;
      return [{ label: 'evaluate columns', children: [{ label: filling(select), children }] }];
    }
  }
}

function foldedNodes(
  select: SelectPlan,
  { calls, sources, limitWindows, ifTied }: FoldedCalls,
): TreeNode[] {
  const functions = printCalls(calls.map((number) => select.calls[number]!));
  return sources.map((source) => ({
    label: `aggregate ${nameOf(source)}: ${functions}${limited(limitWindows)}${orRows(ifTied)}`,
    children: condition(select),
  }));
}

function orRows(ifTied: CallRows | undefined): string {
  return ifTied === undefined ? '' : '; rows of groups with ties are read';
}

function reduceNode({ select, why, sources, anyOrder }: CallRows): TreeNode {
  return {
    label: `reduce: ${printCalls(select.calls)}; rows are read because ${why}`,
    children: sourcesNodes(select, sources, anyOrder),
  };
}

function sourcesNodes(
  select: SelectPlan,
  { kind, sources }: SourcesPlan,
  anyOrder = false,
): readonly TreeNode[] {
  const nodes = sources.map((source) => openNode(select, source, anyOrder));
  return kind === 'merge' ? [{ label: 'merge sources', children: nodes }] : nodes;
}

function openNode(select: SelectPlan, opened: OpenPlan, anyOrder: boolean): TreeNode {
  if (opened.kind === 'subquery') {
    const label = anyOrder ? 'read subquery: group by group' : 'read subquery';
    return { label, children: [describePlan(opened.inner)] };
  }
  const scan = scanNode(select, opened.source);
  return opened.hasSeriesPerGroup ? scan : { label: 'merge series', children: [scan] };
}

function scanNode(select: SelectPlan, source: MeasurementPlan): TreeNode {
  const fields = select.inputs.flatMap((input) => (input.kind === 'field' ? input.name : []));
  return {
    label: `scan ${nameOf(source)}: ${fields.join(', ')}`,
    children: condition(select),
  };
}

/** The conditions that the source applies, and those that are evaluated for each row. */
function condition({ condition: { pushed, residual } }: SelectPlan): readonly TreeNode[] {
  const labels: string[] = [];
  if (pushed !== undefined) labels.push(`where ${printPredicate(pushed)}`);
  if (residual !== undefined) labels.push('the rest of the condition is checked for each row');
  return labels.map((label) => ({ label, children: [] }));
}

function printCalls(calls: readonly AggregateCall[]): string {
  return calls.map((call) => print(call.expression)).join(', ');
}

function filling({ interval, fill }: SelectPlan): string {
  if (interval === undefined) return 'fill and transform: one window';
  const { everyNanos, offsetNanos } = interval;
  const offset = offsetNanos === 0n ? '' : ` from ${formatDuration(offsetNanos)}`;
  const value = fill.kind === 'number' ? String(fill.value) : fill.kind;
  return `fill and transform: windows of ${formatDuration(everyNanos)}${offset}, fill(${value})`;
}

function limited(windows: number | undefined): string {
  return windows === undefined ? '' : `; ${windows} windows of each group`;
}

function nameOf({ measurement: source }: MeasurementPlan): string {
  return `${source.database}.${source.retentionPolicy}.${source.measurement}`;
}

function printPredicate(predicate: Predicate): string {
  switch (predicate.kind) {
    case 'and':
    case 'or': {
      const word = predicate.kind.toUpperCase();
      return `(${printPredicate(predicate.left)} ${word} ${printPredicate(predicate.right)})`;
    }
    case 'constant':
      return String(predicate.value);
    case 'tag':
      return `${predicate.key} ${predicate.operator} '${predicate.value}'`;
    case 'tag-regex':
      return `${predicate.key} ${predicate.operator} /${predicate.pattern}/`;
    case 'field': {
      const { field, operator, value } = predicate;
      return `${field} ${operator} ${typeof value === 'string' ? `'${value}'` : value}`;
    }
    case 'field-regex':
      return `${predicate.field} ${predicate.operator} /${predicate.pattern}/`;
    case 'calculated':
      return calculatedText(predicate);
  }
}
