// SeriesSource.scan. Rows are requested in pages, of several series or of a time range of a long
// series, so that the memory of the service and the sort on the server are bounded.
import type { TimeRange } from '@tidemark/core';
import { memoryLimitExceeded, waitFor } from '@tidemark/query';
import type { Operator, RequestOptions, ScanRequest, SeriesBatch, Steps } from '@tidemark/query';

import type { Cluster } from '../cluster/cluster.ts';
import { errorCode } from '../cluster/failure.ts';
import type { NodeSettings, ReadOptions } from '../cluster/node.ts';
import { LIMITS } from '../limits.ts';
import type { Registry } from '../shared/registry.ts';
import { sqlIn } from '../sql/literals.ts';
import { RowReader } from '../sql/row-binary.ts';
import { byTypes, columnsOf, VALUE_COLUMN, valueSql } from './columns.ts';
import type { StoredColumn, TypedColumns } from './columns.ts';
import { findSeries, seriesQuestion, sortSeries } from './find-series.ts';
import type { FoundSeries } from './find-series.ts';
import { partsOf } from './parts.ts';
import { pointCondition, tableOf } from './point-condition.ts';
import type { PointScope } from './point-condition.ts';
import { areSame } from './series-cache.ts';
import type { SeriesCache } from './series-cache.ts';
import { lastTime, readRuns, seriesBatch, withoutTime } from './value-runs.ts';

export type ReadParts = {
  readonly cluster: Cluster;
  readonly registry: Registry;
  /** Rows of one page. */
  readonly pageRows: number;
  readonly seriesCache: SeriesCache;
};

/** Options of the statements of a request. */
export function readOptions(
  { settings }: Cluster,
  { signal, memoryLimitBytes, onPartial }: RequestOptions,
): ReadOptions {
  const isLimited = memoryLimitBytes !== undefined && Number.isFinite(memoryLimitBytes);
  return {
    signal,
    settings: isLimited ? { max_memory_usage: Math.ceil(memoryLimitBytes) } : {},
    onUnreachable: settings.givesPartialAnswers ? onPartial : undefined,
  };
}

export function* scan(
  { cluster, registry, pageRows, seriesCache }: ReadParts,
  request: ScanRequest,
  options: RequestOptions,
): Operator<SeriesBatch> {
  const { measurement } = request.source;
  const { fields, where } = request;
  for (const part of partsOf(registry, { ...request.source, timeRange: request.timeRange })) {
    const columns = columnsOf(registry, part, { measurement, fields });
    if (columns.length === 0) continue;
    const scope = { cluster, registry, part, measurement, where };
    const run: Scan = { scope, columns, request, options, pageRows };
    const question = seriesQuestion(scope);
    const guess = seriesCache.get(question.statement);
    const [series, guessed] = yield* waitFor(
      Promise.all([
        findSeries(cluster, question, readOptions(cluster, options)),
        guess === undefined ? undefined : readFew(run, guess),
      ]),
    );
    sortSeries(series, request);
    let few: readonly Buffer[] | undefined;
    if (guess !== undefined && areSame(guess, series)) few = guessed;
    // A single series is read in pages and need not be counted.
    else if (series.length !== 1) few = yield* waitFor(readFew(run, series));
    if (guess !== undefined && few === undefined) seriesCache.delete(question.statement);
    else seriesCache.set(question.statement, series);
    if (few !== undefined) {
      if (options.counters !== undefined) options.counters.seriesVisited += series.length;
      yield* seriesOf(run, series, few);
      continue;
    }
    for (const page of yield* pagesOf(run, series)) {
      if (page.length === 1) yield* longSeries(run, page[0]!);
      else yield* manySeries(run, page);
    }
  }
}

type Scan = {
  readonly scope: PointScope;
  readonly columns: readonly StoredColumn[];
  readonly request: ScanRequest;
  readonly options: RequestOptions;
  readonly pageRows: number;
};

/** Splits the series into pages of at most `pageRows` rows, or of one series. */
function* pagesOf(run: Scan, series: readonly FoundSeries[]): Steps<readonly FoundSeries[][]> {
  if (series.length < 2) return series.map((one) => [one]);
  const { columns, request, options, pageRows } = run;
  const counts = yield* waitFor(countRows(run));
  const most = (request.limitPerSeries ?? Number.POSITIVE_INFINITY) * columns.length;
  const pages: FoundSeries[][] = [];
  let page: FoundSeries[] = [];
  let rows = 0;
  for (const one of series) {
    const own = Math.min(counts.get(one.id) ?? 0, most);
    if (own === 0) continue;
    if (options.counters !== undefined) options.counters.seriesVisited++;
    const isFull = rows + own > pageRows || page.length === LIMITS.pageSeries.value;
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

/** The number of rows of each series, before conditions on values. */
async function countRows({ scope, columns, options, request }: Scan) {
  const { cluster } = scope;
  const counts = new Map<bigint, number>();
  const { timeRange } = request;
  const condition = pointCondition({ ...scope, where: undefined }, { columns, timeRange });
  const answers = await cluster.rowsOfAll(
    `SELECT series, count() FROM ${tableOf(scope)} WHERE ${condition} GROUP BY series`,
    readOptions(cluster, options),
  );
  for (const answer of answers) {
    const reader = new RowReader(answer);
    while (reader.hasMore) counts.set(reader.uint64(), Number(reader.uint64()));
  }
  return counts;
}

/** Reads a page of several series. */
function* manySeries(run: Scan, page: readonly FoundSeries[]): Operator<SeriesBatch> {
  const { timeRange } = run.request;
  const answers = yield* waitFor(readShards(run, { series: page, timeRange }));
  yield* seriesOf(run, page, answers);
}

/** The rows of the series in an answer, in the order of the series. */
function* seriesOf(
  run: Scan,
  all: readonly FoundSeries[],
  answers: readonly Buffer[],
): Operator<SeriesBatch> {
  const { request } = run;
  const runs = answers.map((answer) => readRuns(answer, typesOf(run)));
  for (const series of all) {
    yield;
    const own = runs.map((each) => each.get(series.id)).find((each) => each !== undefined);
    if (own === undefined) continue;
    const batch = seriesBatch(series, own, { ...request, limit: request.limitPerSeries });
    if (batch !== undefined) yield batch;
  }
}

/** Reads one series in pages of consecutive time ranges. */
function* longSeries(run: Scan, series: FoundSeries): Operator<SeriesBatch> {
  const { request, columns, pageRows } = run;
  const { limitPerSeries, descending } = request;
  let left = limitPerSeries ?? Infinity;
  let { timeRange } = request;
  const limitRows = Math.min(left * columns.length, pageRows - 1) + 1;
  for (;;) {
    const { shard } = series;
    const answer = yield* waitFor(readRows(run, { shard, series: [series], timeRange, limitRows }));
    const runs = readRuns(answer, typesOf(run)).get(series.id) ?? [];
    const isFull = runs.reduce((sum, { times }) => sum + times.length, 0) >= limitRows;
    // The last time of a full page may be incomplete.
    const last = isFull ? lastTime(runs, descending) : undefined;
    const whole = last === undefined ? runs : withoutTime(runs, last);
    const batch = seriesBatch(series, whole, { ...request, limit: left });
    if (batch !== undefined) {
      left -= batch.times.length;
      yield batch;
    }
    if (last === undefined || left === 0) return;
    timeRange = descending
      ? { start: timeRange.start, end: last }
      : { start: last, end: timeRange.end };
  }
}

function typesOf({ columns, request }: Scan): readonly TypedColumns[] {
  return byTypes(columns, request.fields);
}

/**
 * Reads all series in one page; `undefined` if there are too many rows for a page, or a shard would
 * have to read too many to find them. Counting first would take as long as reading.
 */
async function readFew(
  run: Scan,
  series: readonly FoundSeries[],
): Promise<readonly Buffer[] | undefined> {
  if (series.length > LIMITS.pageSeries.value) return undefined;
  const { timeRange } = run.request;
  const settings = { max_rows_to_read: run.pageRows, read_overflow_mode: 'throw' };
  try {
    return await readShards(run, { series, timeRange, settings });
  } catch (error) {
    if (errorCode(error) === TOO_MANY_ROWS) return undefined;
    throw error;
  }
}

/** ClickHouse's error code TOO_MANY_ROWS. */
const TOO_MANY_ROWS = '158';

/** Reads, from each shard, the rows of its series. */
function readShards(run: Scan, page: Omit<Page, 'shard'>): Promise<readonly Buffer[]> {
  const shards = new Set(page.series.map(({ shard }) => shard));
  return Promise.all(
    Array.from(shards, (shard) => {
      const series = page.series.filter((one) => one.shard === shard);
      return readRows(run, { ...page, shard, series });
    }),
  );
}

type Page = {
  readonly shard: number;
  readonly series: readonly FoundSeries[];
  readonly timeRange: TimeRange;
  readonly limitRows?: number | undefined;
  /** LIMIT of the statement. */
  readonly settings?: NodeSettings | undefined;
};

async function readRows(run: Scan, page: Page): Promise<Buffer> {
  const { scope, options } = run;
  const { cluster } = scope;
  const { memoryLimitBytes, counters } = options;
  const ids = page.series.map(({ id }) => String(id));
  const statement = pointsStatement(run, { ...page, series: sqlIn('series', ids) });
  const read = readOptions(cluster, options);
  const settings = { ...read.settings, ...page.settings };
  const answer = await cluster.rows(page.shard, statement, { ...read, settings });
  if (memoryLimitBytes !== undefined && answer.length > memoryLimitBytes)
    throw memoryLimitExceeded(memoryLimitBytes);
  if (counters !== undefined) counters.bytesRead += answer.length;
  return answer;
}

/**
 * The statement that reads values as arrays by series and column, which are much cheaper to decode
 * here than a row per value.
 */
export function pointsStatement(
  run: Scan,
  page: {
    /** A condition on `series`. */
    readonly series: string;
    readonly timeRange: TimeRange;
    readonly limitRows?: number | undefined;
  },
): string {
  const { scope, columns, request } = run;
  const types = typesOf(run);
  const held = [...new Set(types.map(({ stored }) => VALUE_COLUMN[stored]))];
  const { timeRange, series } = page;
  const condition = pointCondition(scope, { columns, timeRange, series });
  const arrays = types.map((typed) => {
    if (types.length === 1) return `groupArray(${valueSql(typed)})`;
    const own = typed.columns.map(({ column }) => column.id).join(', ');
    return `groupArrayIf(${valueSql(typed)}, column IN (${own}))`;
  });
  // groupArray keeps the order of the subquery.
  return `SELECT ${['column', 'series', 'groupArray(time)', ...arrays].join(', ')}
     FROM (SELECT ${['column', 'series', 'time', ...held].join(', ')}
       FROM ${tableOf(scope)} FINAL WHERE ${condition}
       ORDER BY series, time${request.descending ? ' DESC' : ''}${limitText(run, page.limitRows)})
     GROUP BY column, series`;
}

/** A row has at most one value per column, so n × columns values include n rows. */
function limitText({ request, columns }: Scan, limitRows: number | undefined): string {
  if (limitRows !== undefined) return ` LIMIT ${limitRows}`;
  if (request.limitPerSeries === undefined) return '';
  return ` LIMIT ${request.limitPerSeries * columns.length} BY series`;
}
