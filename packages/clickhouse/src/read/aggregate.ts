// SeriesSource.aggregate: every shard aggregates its own values, and the service merges the
// answers.
import { compareBytes } from '@tidemark/core';
import { memoryLimitExceeded, waitFor } from '@tidemark/query';
import type {
  AggregateBatch,
  MeasurementAggregates,
  Operator,
  RequestOptions,
} from '@tidemark/query';

import type { ReadOptions } from '../cluster/node.ts';
import { RowReader } from '../sql/row-binary.ts';
import { readPartial } from './aggregate-parts.ts';
import {
  aggregateStatement,
  groupNamesStatement,
  namesColumns,
  namingOf,
  reducedOf,
} from './aggregate-statement.ts';
import type { ReducedColumns } from './aggregate-statement.ts';
import { findSeries, seriesQuestion } from './find-series.ts';
import { partsOf } from './parts.ts';
import type { PointScope } from './point-condition.ts';
import { readOptions } from './scan.ts';
import type { ReadParts } from './scan.ts';
import { WindowGroups } from './window-groups.ts';

/** The key of the only group when nothing is grouped. */
const ONE = 0n;

export function* aggregate(
  parts: ReadParts,
  request: MeasurementAggregates,
  options: RequestOptions,
): Operator<AggregateBatch> {
  const found = new WindowGroups(request);
  const scopes = aggregateScopes(parts, request);
  const read = readOptions(parts.cluster, options);
  const asked = scopes.flatMap(({ scope, reduced }) =>
    reduced.map(async (columns) => {
      const statement = aggregateStatement(scope, request, columns);
      return { columns, ofShards: await parts.cluster.rowsOfAll(statement, read) };
    }),
  );
  const [answers, groups] = yield* waitFor(
    Promise.all([Promise.all(asked), groupsOf(scopes, request, read)]),
  );
  let sizeBytes = 0;
  for (const { ofShards } of answers) for (const answer of ofShards) sizeBytes += answer.length;
  checkMemory(sizeBytes, options);
  for (const { columns, ofShards } of answers) {
    for (const answer of ofShards) {
      yield;
      readWindows(answer, { request, reduced: columns, options, found });
    }
  }
  for (const { id, tags } of groups) {
    for (const batch of found.batches(id, tags)) {
      yield;
      yield batch;
    }
  }
}

type AggregateScope = {
  readonly scope: PointScope;
  readonly reduced: readonly ReducedColumns[];
};

function aggregateScopes(
  { cluster, registry }: ReadParts,
  request: MeasurementAggregates,
): readonly AggregateScope[] {
  const { where, timeRange, source } = request;
  const { measurement } = source;
  return partsOf(registry, { ...source, timeRange }).flatMap((part) => {
    const scope = { cluster, registry, part, measurement, where };
    const reduced = reducedOf(scope, request);
    return reduced.length === 0 ? [] : [{ scope, reduced }];
  });
}

function checkMemory(sizeBytes: number, { memoryLimitBytes, counters }: RequestOptions): void {
  if (memoryLimitBytes !== undefined && sizeBytes > memoryLimitBytes)
    throw memoryLimitExceeded(memoryLimitBytes);
  if (counters !== undefined) counters.bytesRead += sizeBytes;
}

function readWindows(
  answer: Buffer,
  how: {
    readonly request: MeasurementAggregates;
    readonly reduced: ReducedColumns;
    readonly options: RequestOptions;
    readonly found: WindowGroups;
  },
): void {
  const { request, reduced, found, options } = how;
  const { type, parts } = reduced;
  const fieldIndexes = new Map(
    reduced.columns.map(({ column, fieldIndex }) => [column.id, fieldIndex]),
  );
  const hasGroups = namingOf(request) !== 'one';
  const hasColumns = namesColumns(reduced);
  const partOptions = { type, withTimes: request.omitsPointTimes !== true };
  const reader = new RowReader(answer);
  while (reader.hasMore) {
    const group = hasGroups ? reader.uint64() : ONE;
    const start = request.window === undefined ? request.timeRange.start : reader.int64();
    const fieldIndex = hasColumns
      ? fieldIndexes.get(reader.uint64())
      : reduced.columns[0]?.fieldIndex;
    const partial = readPartial(reader, parts, partOptions);
    if (fieldIndex !== undefined) found.add({ group, start }, fieldIndex, partial);
    if (options.counters !== undefined) options.counters.rowsRead += Number(partial.count);
  }
}

type NamedGroup = { readonly id: bigint; readonly tags: ReadonlyMap<string, string> };

/**
 * Groups in the order of the answer. They are requested together with their values: a group that is
 * missing here has no points that were acknowledged before.
 */
async function groupsOf(
  scopes: readonly AggregateScope[],
  request: MeasurementAggregates,
  read: ReadOptions,
): Promise<readonly NamedGroup[]> {
  const { groupBy, descending } = request;
  if (groupBy !== 'all' && groupBy.length === 0) return [{ id: ONE, tags: new Map() }];
  const groups = new Map<bigint, NamedGroup & { readonly key?: string }>();
  await Promise.all(
    scopes.map(async ({ scope }) => {
      if (groupBy === 'all') {
        const series = await findSeries(scope.cluster, seriesQuestion(scope), read);
        for (const one of series) groups.set(one.id, one);
        return;
      }
      const statement = groupNamesStatement(scope, request);
      for (const answer of await scope.cluster.rowsOfAll(statement, read)) {
        const reader = new RowReader(answer);
        while (reader.hasMore) {
          const id = reader.uint64();
          groups.set(id, { id, tags: new Map(groupBy.map((name) => [name, reader.text()])) });
        }
      }
    }),
  );
  const direction = descending ? -1 : 1;
  return [...groups.values()].sort((a, b) => {
    for (const name of groupBy === 'all' ? [] : groupBy) {
      const order = compareBytes(a.tags.get(name) ?? '', b.tags.get(name) ?? '');
      if (order !== 0) return order * direction;
    }
    return compareBytes(a.key ?? '', b.key ?? '') * direction;
  });
}
