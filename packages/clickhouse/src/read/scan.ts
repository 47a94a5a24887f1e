// Rows of the series of a request. They are asked for in pages: some series at once, or a stretch
// of time of a long one, so that what is held here and sorted there has a bound.
import { floorDiv, LimitExceeded, NANOS_PER_HOUR } from '@tidemark/core';
import type { TimeRange } from '@tidemark/core';
import { waitFor } from '@tidemark/query';
import type { Operator, RequestOptions, ScanRequest, SeriesBatch, Steps } from '@tidemark/query';

import type { Cluster } from '../cluster/cluster.ts';
import type { ReadOptions } from '../cluster/node.ts';
import { LIMITS } from '../limits.ts';
import type { Registry } from '../registry/registry.ts';
import { sqlInt64 } from '../sql/literals.ts';
import { RowReader } from '../sql/row-binary.ts';
import { pointsTable } from '../sql/tables.ts';
import { columnsOf } from './columns.ts';
import type { StoredColumn } from './columns.ts';
import { findSeries, sortSeries } from './find-series.ts';
import type { FoundSeries } from './find-series.ts';
import { inGroups, partsOf } from './parts.ts';
import type { PolicyPart } from './parts.ts';
import { residualOf } from './row-condition.ts';
import { readValues, seriesBatch, valueColumns } from './value-rows.ts';

export type ReadParts = { readonly cluster: Cluster; readonly registry: Registry };

/** The settings and the signal with which the statements of a request run. */
export function readOptions({ signal, memoryLimitBytes }: RequestOptions): ReadOptions {
  const isLimited = memoryLimitBytes !== undefined && Number.isFinite(memoryLimitBytes);
  return {
    signal,
    settings: isLimited ? { max_memory_usage: Math.ceil(memoryLimitBytes) } : {},
  };
}

export function* scan(
  { cluster, registry }: ReadParts,
  request: ScanRequest,
  options: RequestOptions,
): Operator<SeriesBatch> {
  const { measurement } = request.source;
  const { fields, where } = request;
  for (const part of partsOf(registry, { ...request.source, timeRange: request.timeRange })) {
    const columns = columnsOf(registry, part, { measurement, fields, where });
    if (!columns.some(({ places }) => places.length > 0)) continue;
    const found = findSeries(cluster, part, { measurement, where }, readOptions(options));
    const series = yield* waitFor(found);
    sortSeries(series, request);
    const run: Scan = { cluster, part, columns, request, options };
    for (const page of yield* pagesOf(run, series)) {
      if (page.length === 1) yield* longSeries(run, page[0]!);
      else yield* manySeries(run, page);
    }
  }
}

type Scan = {
  readonly cluster: Cluster;
  readonly part: PolicyPart;
  readonly columns: readonly StoredColumn[];
  readonly request: ScanRequest;
  readonly options: RequestOptions;
};

/** Cuts the series into pages with so many rows as one answer may have, or one series. */
function* pagesOf(run: Scan, series: readonly FoundSeries[]): Steps<readonly FoundSeries[][]> {
  if (series.length < 2) return series.map((one) => [one]);
  const { columns, request, options } = run;
  const counts = yield* waitFor(countRows(run));
  const most = (request.limitPerSeries ?? Number.POSITIVE_INFINITY) * columns.length;
  const pages: FoundSeries[][] = [];
  let page: FoundSeries[] = [];
  let rows = 0;
  for (const one of series) {
    const own = Math.min(counts.get(one.id) ?? 0, most);
    if (own === 0) continue;
    if (options.counters !== undefined) options.counters.seriesVisited++;
    const isFull = rows + own > LIMITS.pageRows.value || page.length === LIMITS.pageSeries.value;
    if (isFull && page.length > 0) {
      pages.push(page);
      page = [];
      rows = 0;
    }
    page.push(one);
    rows += own;
  }
  if (page.length > 0) pages.push(page);
  return pages;
}

async function countRows(run: Scan): Promise<ReadonlyMap<bigint, number>> {
  const { cluster, part, options, request } = run;
  const counts = new Map<bigint, number>();
  const answers = await cluster.rowsOfAll(
    `SELECT series, count() FROM ${cluster.table(pointsTable(part.policyId))}
     WHERE ${rowCondition(run, request.timeRange)} GROUP BY series`,
    readOptions(options),
  );
  for (const answer of answers) {
    const reader = new RowReader(answer);
    while (reader.hasMore) counts.set(reader.uint64(), Number(reader.uint64()));
  }
  return counts;
}

/** Several series, all rows of each at once. */
function* manySeries(run: Scan, page: readonly FoundSeries[]): Operator<SeriesBatch> {
  const { request } = run;
  const { timeRange } = request;
  const shards = [...new Set(page.map(({ shard }) => shard))];
  const answers = yield* waitFor(
    Promise.all(
      shards.map((shard) => {
        const series = page.filter((one) => one.shard === shard);
        return readRows(run, { shard, series, timeRange });
      }),
    ),
  );
  const rows = answers.map((answer) => readValues(answer, run.columns));
  for (const series of page) {
    yield;
    const own = rows.map((each) => each.get(series.id)).find((each) => each !== undefined);
    const batch = seriesBatch(series, own ?? [], wantedOf(run, series));
    if (batch !== undefined) yield batch;
  }
}

/** One series, a stretch of time after the other. */
function* longSeries(run: Scan, series: FoundSeries): Operator<SeriesBatch> {
  const { request, columns } = run;
  const { residual, limit, fields } = wantedOf(run, series);
  let left = limit;
  let { timeRange } = request;
  const most = limit === undefined || residual !== undefined ? Infinity : limit;
  const limitRows = Math.min(most * columns.length, LIMITS.pageRows.value - 1) + 1;
  for (;;) {
    const { shard } = series;
    const answer = yield* waitFor(readRows(run, { shard, series: [series], timeRange, limitRows }));
    const { rows, valueCount } = countValues(readValues(answer, columns).get(series.id) ?? []);
    const isFull = valueCount === limitRows;
    // Of the last time of a full page some values may be missing.
    const last = isFull ? rows.at(-1) : undefined;
    const whole = last === undefined ? rows : rows.slice(0, -1);
    const batch = seriesBatch(series, whole, { fields, residual, limit: left });
    if (batch !== undefined) {
      if (left !== undefined) left -= batch.times.length;
      yield batch;
    }
    if (last === undefined || left === 0) return;
    timeRange = request.descending
      ? { start: timeRange.start, end: last.time }
      : { start: last.time, end: timeRange.end };
  }
}

function countValues<R extends { readonly values: readonly unknown[] }>(rows: readonly R[]) {
  return { rows, valueCount: rows.reduce((sum, { values }) => sum + values.length, 0) };
}

function wantedOf({ request }: Scan, { tags }: FoundSeries) {
  const { fields, where, limitPerSeries: limit } = request;
  const residual = where && residualOf(where, tags);
  return { fields, limit, residual };
}

async function readRows(
  run: Scan,
  page: {
    readonly shard: number;
    readonly series: readonly FoundSeries[];
    readonly timeRange: TimeRange;
    readonly limitRows?: number | undefined;
  },
): Promise<Buffer> {
  const { cluster, options } = run;
  const ids = page.series.map(({ id }) => id).join(', ');
  const statement = pointsStatement(run, { ...page, ids });
  const answer = await cluster.rows(page.shard, statement, readOptions(options));
  const { memoryLimitBytes, counters } = options;
  if (memoryLimitBytes !== undefined && answer.length > memoryLimitBytes)
    throw new LimitExceeded(
      `a page of the query's rows takes ${answer.length} bytes`,
      'coordinator.query-memory-limit',
    );
  if (counters !== undefined) counters.bytesRead += answer.length;
  return answer;
}

/** Values of some series, by series and time. */
export function pointsStatement(
  run: Scan,
  page: {
    readonly ids: string;
    readonly timeRange: TimeRange;
    readonly limitRows?: number | undefined;
  },
): string {
  const { cluster, part, columns, request } = run;
  const direction = request.descending ? ' DESC' : '';
  return `SELECT ${['column', 'series', 'time', ...valueColumns(columns)].join(', ')}
     FROM ${cluster.table(pointsTable(part.policyId))} FINAL
     WHERE ${rowCondition(run, page.timeRange)} AND series IN (${page.ids})
     ORDER BY series, time${direction}${limitText(run, page.limitRows)}`;
}

/** Only where no row is left out here may rows be left out there. */
function limitText({ request, columns }: Scan, limitRows: number | undefined): string {
  if (limitRows !== undefined) return ` LIMIT ${limitRows}`;
  if (request.limitPerSeries === undefined || columns.some(({ places }) => places.length === 0))
    return '';
  if (request.where !== undefined) return '';
  return ` LIMIT ${request.limitPerSeries * columns.length} BY series`;
}

/** Columns and time of a request, over the sorting key of the table. */
export function rowCondition(
  { columns, part }: Pick<Scan, 'columns' | 'part'>,
  { start, end }: TimeRange,
): string {
  return `column IN (${columns.map(({ id }) => id).join(', ')}) AND ${inGroups(part)}
     AND hour >= ${floorDiv(start, NANOS_PER_HOUR)} AND hour <= ${floorDiv(end, NANOS_PER_HOUR)}
     AND time >= ${sqlInt64(start)} AND time <= ${sqlInt64(end)}`;
}
