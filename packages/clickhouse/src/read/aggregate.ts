// SeriesSource.aggregate: every shard reduces the values that it has; what it answers is put
// together here.
import { compareBytes, LimitExceeded } from '@tidemark/core';
import { waitFor } from '@tidemark/query';
import type {
  AggregateBatch,
  AggregateRequest,
  Operator,
  RequestOptions,
  Steps,
} from '@tidemark/query';

import { RowReader } from '../sql/row-binary.ts';
import { readPartial } from './aggregate-parts.ts';
import {
  aggregateStatement,
  groupNamesStatement,
  namingOf,
  reducedOf,
} from './aggregate-statement.ts';
import type { ReducedColumns } from './aggregate-statement.ts';
import { findSeries } from './find-series.ts';
import { partsOf } from './parts.ts';
import type { PointScope } from './point-condition.ts';
import { readOptions } from './scan.ts';
import type { ReadParts } from './scan.ts';
import { WindowGroups } from './window-groups.ts';

/** The only group, where nothing is grouped by. */
const ONE = 0n;

export function* aggregate(
  parts: ReadParts,
  request: AggregateRequest,
  options: RequestOptions,
): Operator<AggregateBatch> {
  const found = new WindowGroups(request);
  const scopes = aggregateScopes(parts, request);
  for (const { scope, reduced } of scopes) {
    const asked = reduced.map((columns) =>
      parts.cluster.rowsOfAll(
        aggregateStatement(scope, request, columns),
        readOptions(parts.cluster, options),
      ),
    );
    const answers = yield* waitFor(Promise.all(asked));
    let sizeBytes = 0;
    for (const answer of answers.flat()) sizeBytes += answer.length;
    checkMemory(sizeBytes, options);
    for (const [i, ofShards] of answers.entries()) {
      for (const answer of ofShards) {
        yield;
        readWindows(answer, { request, reduced: reduced[i]!, options, found });
      }
    }
  }
  if (!found.hasAny) return;
  for (const { id, tags } of yield* groupsOf(scopes, request, options)) {
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
  request: AggregateRequest,
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
    throw new LimitExceeded(
      `the windows of the query take ${sizeBytes} bytes`,
      'coordinator.query-memory-limit',
    );
  if (counters !== undefined) counters.bytesRead += sizeBytes;
}

function readWindows(
  answer: Buffer,
  how: {
    readonly request: AggregateRequest;
    readonly reduced: ReducedColumns;
    readonly options: RequestOptions;
    readonly found: WindowGroups;
  },
): void {
  const { request, reduced, found, options } = how;
  const { type, parts } = reduced;
  const places = new Map(reduced.columns.map(({ column, place }) => [column.id, place]));
  const hasGroups = namingOf(request) !== 'one';
  const partOptions = { type, withTimes: request.omitsPointTimes !== true };
  const reader = new RowReader(answer);
  while (reader.hasMore) {
    const group = hasGroups ? reader.uint64() : ONE;
    const start = request.window === undefined ? request.timeRange.start : reader.int64();
    const place = places.get(reader.uint64());
    const partial = readPartial(reader, parts, partOptions);
    if (place !== undefined) found.add({ group, start }, place, partial);
    if (options.counters !== undefined) options.counters.rowsRead += Number(partial.count);
  }
}

type NamedGroup = { readonly id: bigint; readonly tags: ReadonlyMap<string, string> };

/**
 * Groups in the order of the answer. Asked for last: their series were announced before their
 * points were there.
 */
function* groupsOf(
  scopes: readonly AggregateScope[],
  request: AggregateRequest,
  options: RequestOptions,
): Steps<readonly NamedGroup[]> {
  const { groupBy, descending } = request;
  if (groupBy !== 'all' && groupBy.length === 0) return [{ id: ONE, tags: new Map() }];
  const groups = new Map<bigint, NamedGroup & { readonly key?: string }>();
  for (const { scope } of scopes) {
    if (groupBy === 'all') {
      const series = yield* waitFor(
        findSeries(scope.cluster, scope.part, scope, readOptions(scope.cluster, options)),
      );
      for (const one of series) groups.set(one.id, one);
      continue;
    }
    const statement = groupNamesStatement(scope, request);
    const answers = yield* waitFor(
      scope.cluster.rowsOfAll(statement, readOptions(scope.cluster, options)),
    );
    for (const answer of answers) {
      const reader = new RowReader(answer);
      while (reader.hasMore) {
        const id = reader.uint64();
        groups.set(id, { id, tags: new Map(groupBy.map((name) => [name, reader.text()])) });
      }
    }
  }
  const direction = descending ? -1 : 1;
  return [...groups.values()].sort((a, b) => {
    for (const name of groupBy === 'all' ? [] : groupBy) {
      const order = compareBytes(a.tags.get(name) ?? '', b.tags.get(name) ?? '');
      if (order !== 0) return order * direction;
    }
    return compareBytes(a.key ?? '', b.key ?? '') * direction;
  });
}
