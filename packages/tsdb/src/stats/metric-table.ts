// The counters of the service as metrics: conventional names, units and descriptions.
import { budgetRows, metricRows } from '@tidemark/core';
import type { MetricRow, MetricTable } from '@tidemark/core';
import { LISTENER_METRICS } from '@tidemark/listeners';

export const METRIC_PREFIX = 'tidemark_tsdb';

/** Counters of one name that differ in a label. */
const byOutcome = (
  module: string,
  name: string,
  { help, values }: { readonly help: string; readonly values: Readonly<Record<string, string>> },
): readonly MetricRow[] =>
  Object.entries(values).map(([value, outcome]) => ({
    module,
    value,
    name,
    help,
    type: 'counter',
    labels: { outcome },
  }));

const HTTP: readonly MetricRow[] = [
  ...metricRows('counter', 'httpd', [
    ['writeReqBytes', 'http_write_bytes_total', 'Bytes of the bodies of writes, decompressed.'],
    ['queryRespBytes', 'http_query_response_bytes_total', 'Bytes of the answers to queries.'],
    ['valuesWrittenOK', 'http_values_written_total', 'Field values of writes that were stored.'],
    ['linesRejected', 'http_rejected_lines_total', 'Lines of writes that could not be read.'],
    ['authFail', 'http_auth_failures_total', 'Requests with missing or wrong credentials.'],
    [
      'recoveredPanics',
      'http_unexpected_failures_total',
      'Requests that failed for an unexpected reason.',
    ],
    ['reqDurationNs', 'http_request_seconds_total', 'Time that all requests took together.', 1e9],
  ]),
  ...byOutcome('httpd', 'http_points_written_total', {
    help: 'Points of HTTP writes, by outcome.',
    values: {
      pointsWrittenOK: 'stored',
      pointsWrittenDropped: 'dropped',
      pointsWrittenFail: 'failed',
    },
  }),
  ...metricRows('gauge', 'httpd', [
    ['reqActive', 'http_requests_active', 'Requests that are being answered.'],
    ['writeReqActive', 'http_writes_active', 'Writes that are being answered.'],
  ]),
];

const WRITES: readonly MetricRow[] = [
  ...metricRows('counter', 'write', [
    ['req', 'writes_total', 'Writes by any protocol.'],
    ['pointReq', 'write_points_total', 'Points written by any protocol.'],
  ]),
  ...byOutcome('write', 'write_results_total', {
    help: 'Writes by how they ended.',
    values: { writeOk: 'ok', writeDrop: 'partial', writeTimeout: 'timeout', writeError: 'error' },
  }),
  ...byOutcome('write', 'subscriber_batches_total', {
    help: 'Writes handed to subscriptions, or dropped because too many waited.',
    values: { subWriteOk: 'ok', subWriteDrop: 'dropped' },
  }),
];

const QUERIES: readonly MetricRow[] = [
  ...metricRows('gauge', 'queryExecutor', [
    ['queriesActive', 'queries_active', 'Statements that run.'],
  ]),
  ...metricRows('gauge', 'plans', [
    ['plans', 'plan_cache_entries', 'Cached plans of repeated queries.'],
    ['bytes', 'plan_cache_bytes', 'Weight of cached plans.'],
    ['limitBytes', 'plan_cache_limit_bytes', 'Maximum weight of cached plans.'],
  ]),
  ...metricRows('counter', 'plans', [
    ['tooHeavy', 'plan_cache_too_heavy_total', 'Plans too heavy for the cache.'],
    ['hits', 'plan_cache_hits_total', 'Statements that had a plan already.'],
    ['misses', 'plan_cache_misses_total', 'Statements that had to be planned.'],
  ]),
  ...metricRows('counter', 'queryExecutor', [
    ['queriesExecuted', 'queries_started_total', 'Statements started.'],
    ['queriesFinished', 'queries_finished_total', 'Statements that have ended.'],
    [
      'recoveredPanics',
      'query_unexpected_failures_total',
      'Statements that failed for an unexpected reason.',
    ],
    ['queryDurationNs', 'query_seconds_total', 'Time that all statements took together.', 1e9],
  ]),
  ...byOutcome('cq', 'continuous_query_runs_total', {
    help: 'Runs of continuous queries by how they ended.',
    values: { queryOk: 'ok', queryFail: 'error' },
  }),
];

const STORAGE: readonly MetricRow[] = [
  ...metricRows('gauge', 'database', [
    ['numSeries', 'database_series', 'Series of a database.'],
    ['numMeasurements', 'database_measurements', 'Measurements of a database.'],
    [
      'lastWriteMs',
      'database_last_write_timestamp_seconds',
      'When a database last accepted points, since the start of the service.',
      1e3,
    ],
  ]),
  ...metricRows('gauge', 'shard', [['diskBytes', 'shard_disk_bytes', 'Bytes of a shard on disk.']]),
  ...metricRows('gauge', 'disk', [
    ['freeBytes', 'disk_free_bytes', 'Free bytes on the disk of the data.'],
    ['totalBytes', 'disk_total_bytes', 'Total bytes of the disk of the data.'],
  ]),
  ...metricRows('counter', 'storage', [
    ['writeRequests', 'storage_writes_total', 'Writes that came to the storage thread.'],
    ['pointsWritten', 'storage_points_written_total', 'Points that were stored.'],
    ['valuesWritten', 'storage_values_written_total', 'Field values that were stored.'],
    [
      'pointsDropped',
      'storage_points_dropped_total',
      'Points that were refused, such as those of another type.',
    ],
    ['parseErrors', 'storage_parse_errors_total', 'Lines that could not be read.'],
    ['writeErrors', 'storage_write_errors_total', 'Writes that failed as a whole.'],
    ['flushes', 'storage_flushes_total', 'Times that points in memory were written to segments.'],
    ['flushedRows', 'storage_flushed_rows_total', 'Rows that were written to segments.'],
    ['flushFailures', 'storage_flush_failures_total', 'Flushes that failed and are tried again.'],
    ['compactions', 'storage_compactions_total', 'Times that segments were merged.'],
    [
      'tombstonesRemoved',
      'storage_tombstones_removed_total',
      'Tombstones whose rows are no longer in any segment.',
    ],
    [
      'indexRenewals',
      'storage_index_renewals_total',
      'Times that a series index was written anew.',
    ],
    ['walRecords', 'storage_wal_records_total', 'Records of the log.'],
    [
      'walSyncs',
      'storage_wal_syncs_total',
      'Syncs of the log to disk; writes of a moment share one.',
    ],
    ['walFailures', 'storage_wal_failures_total', 'Failures to write or sync the log.'],
  ]),
  ...metricRows('gauge', 'storage', [
    ['shards', 'storage_shards', 'Shards.'],
    ['segments', 'storage_segments', 'Segments.'],
    [
      'tombstones',
      'storage_tombstones',
      'Deletes whose rows are still in segments, by shard and measurement.',
    ],
    ['damagedFiles', 'storage_damaged_files', 'Damaged files; /health names them.'],
    ['segmentBytes', 'storage_segment_bytes', 'Bytes of all segments.'],
    ['memtableBytes', 'storage_memtable_bytes', 'Memory of points that are not in a segment yet.'],
    ['indexBytes', 'storage_index_bytes', 'Memory of the series indexes.'],
    ['postingsBytes', 'storage_postings_bytes', 'Memory of remembered lists of series.'],
    [
      'ranksBytes',
      'storage_ranks_bytes',
      'Memory of the remembered order of tag values and of series.',
    ],
    ['openSnapshots', 'storage_open_snapshots', 'Open snapshots of queries and backups.'],
    [
      'filesWaitingForSnapshots',
      'storage_files_waiting',
      'Files that are deleted once nothing reads them any more.',
    ],
    [
      'requestMemoryBytes',
      'storage_request_memory_bytes',
      'Memory that queries hold in the storage thread.',
    ],
    ['walBytes', 'storage_wal_bytes', 'Bytes of the present file of the log.'],
  ]),
];

const SUBSCRIBER: readonly MetricRow[] = [
  ...metricRows('counter', 'subscriber', [
    [
      'createFailures',
      'subscriber_create_failures_total',
      'Subscriptions that could not be opened.',
    ],
  ]),
  ...[
    ...metricRows('counter', 'subscriber', [
      ['pointsWritten', 'subscriber_points_written_total', 'Points that a destination took.'],
      [
        'writeFailures',
        'subscriber_write_failures_total',
        'Deliveries that a destination did not take.',
      ],
      [
        'batchesDropped',
        'subscriber_batches_dropped_total',
        'Writes dropped because too many waited for a destination.',
      ],
    ]),
    ...metricRows('gauge', 'subscriber', [
      ['queuedBatches', 'subscriber_queued_batches', 'Writes that wait for a destination.'],
    ]),
    // The total over all destinations has no such label.
  ].map((row) => ({ ...row, needs: 'destination' })),
];

const PROCESS: readonly MetricRow[] = [
  ...metricRows('gauge', 'runtime', [
    [
      'EventLoopDelayMaxNs',
      'event_loop_delay_max_seconds',
      'Longest time that the main thread was busy with one thing.',
      1e9,
    ],
  ]),
];

const MEMORY: readonly MetricRow[] = ['body', 'queryBeginning', 'queryGrowth'].flatMap((budget) =>
  budgetRows(budget, 'camel'),
);

const omitted = (module: string, values: string): readonly string[] =>
  values.split(' ').map((value) => `${module}.${value}`);

export const METRIC_TABLE: MetricTable = {
  prefix: METRIC_PREFIX,
  rows: [
    ...HTTP,
    ...WRITES,
    ...QUERIES,
    ...STORAGE,
    ...SUBSCRIBER,
    ...PROCESS,
    ...MEMORY,
    ...LISTENER_METRICS,
  ],
  omitted: new Set([
    // Counted by endpoint and status, with histograms of their time.
    ...omitted('httpd', 'req queryReq writeReq pingReq statusReq promWriteReq promReadReq'),
    ...omitted('httpd', 'queryReqDurationNs writeReqDurationNs clientError serverError'),
    // All points are local.
    ...omitted('write', 'pointReqLocal'),
    // Included in the metrics of the process.
    ...omitted('runtime', 'Alloc HeapAlloc HeapSys Sys External CpuUserMicros CpuSystemMicros'),
  ]),
};
