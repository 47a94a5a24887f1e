// SLIMIT and SOFFSET: which series of each measurement are answered, counted over its groups in ascending order.
import { compareBytes } from '@tidemark/core';

import type { GroupKey, RowStream } from '../batch/row-batch.ts';
import { lookUp } from '../look-up.ts';
import type { MeasurementPlan, SelectPlan, SourcePlan } from '../plan/select-plan.ts';
import { tagsOfSeriesKey } from '../series-key.ts';
import type { Predicate } from '../series-source.ts';
import type { RunContext } from './run-context.ts';

/**
 * Drops the rows of series outside the limit. What is counted are series of measurements, with rows or without; those
 * that a subquery reads too (recorded).
 */
export async function* limitSeries(
  rows: RowStream,
  { source, plan }: { readonly source: SourcePlan; readonly plan: SelectPlan },
  run: RunContext,
): RowStream {
  if (plan.seriesLimit === 0 && plan.seriesOffset === 0) {
    yield* rows;
    return;
  }
  const allowed = new Set<string>();
  for (const read of measurementsOf(source, plan)) {
    for (const id of await chosenSeries(read, plan, run)) allowed.add(id);
  }
  let group: GroupKey | undefined;
  let isAllowed = false;
  for await (const batch of rows) {
    if (batch.group !== group) {
      group = batch.group;
      isAllowed = allowed.has(groupId(group.name, group.tags));
    }
    if (isAllowed) yield batch;
  }
}

/** A measurement and the innermost query that reads it. */
type MeasurementRead = { readonly source: MeasurementPlan; readonly reader: SelectPlan };

function measurementsOf(source: SourcePlan, reader: SelectPlan): readonly MeasurementRead[] {
  if (source.kind === 'measurement') return [{ source, reader }];
  const { plan } = source;
  return plan.sources.flatMap((inner) => measurementsOf(inner, plan));
}

function groupId(name: string, tags: readonly string[]): string {
  return JSON.stringify([name, ...tags]);
}

/** Groups of the measurement's series, whether they have points in the range or not. */
async function chosenSeries(
  { source, reader }: MeasurementRead,
  plan: SelectPlan,
  run: RunContext,
): Promise<readonly string[]> {
  const { query } = run;
  const { database, retentionPolicy, measurement } = source.measurement;
  const { pushed } = reader.condition;
  const where = pushed === undefined ? undefined : onlyTags(pushed);
  const filter = {
    database,
    retentionPolicy,
    measurements: [measurement],
    where,
    timeRange: reader.range,
  };
  const groups = new Map<string, readonly string[]>();
  for await (const batch of lookUp(query, 'series', { filter }, run.pace)) {
    for (const key of batch.keys) {
      const tags = tagsOfSeriesKey(key);
      const values = plan.dimensions.map((name) => tags.get(name) ?? '');
      groups.set(groupId(measurement, values), values);
    }
  }
  const { dimensions } = plan;
  const ordered = [...groups].sort(([, a], [, b]) =>
    compareBytes(countingOrder(dimensions, a), countingOrder(dimensions, b)),
  );
  const end = plan.seriesLimit === 0 ? undefined : plan.seriesOffset + plan.seriesLimit;
  return ordered.slice(plan.seriesOffset, end).map(([id]) => id);
}

/** Series are counted by the tags that they have, then by their values, as recorded. */
function countingOrder(dimensions: readonly string[], values: readonly string[]): string {
  const present = dimensions.filter((_, i) => values[i] !== '');
  return [...present, ...values.filter((value) => value !== '')].join('|');
}

/** What a predicate asks of tags when every field leaf may hold. */
export function onlyTags(predicate: Predicate): Predicate {
  switch (predicate.kind) {
    case 'field':
    case 'field-regex':
      return { kind: 'constant', value: true };
    case 'and':
    case 'or':
      return {
        kind: predicate.kind,
        left: onlyTags(predicate.left),
        right: onlyTags(predicate.right),
      };
    default:
      return predicate;
  }
}
