// The dashboard of the database, from its self-monitoring (`monitor.store-enabled`).
import { madeOf, mean, rate } from './make.ts';

export const TIDEMARK = madeOf(
  { title: 'Tidemark', database: '_internal', refresh: '10s', from: 'now-1h' },
  [
    {
      title: 'Points written',
      kind: 'single',
      w: 3,
      h: 4,
      unit: 'per-second',
      queries: [rate('pointReq', 'write')],
    },
    {
      title: 'Queries',
      kind: 'single',
      w: 3,
      h: 4,
      unit: 'per-second',
      queries: [rate('queryReq', 'httpd')],
    },
    {
      title: 'Series',
      kind: 'single',
      w: 3,
      h: 4,
      queries: [
        'SELECT sum("series") FROM (SELECT max("numSeries") AS "series" FROM "database" WHERE $timeFilter GROUP BY time($interval), "database") WHERE $timeFilter GROUP BY time($interval) fill(none)',
      ],
    },
    {
      title: 'On disk',
      kind: 'single',
      w: 3,
      h: 4,
      unit: 'bytes',
      queries: [
        'SELECT sum("bytes") FROM (SELECT max("diskBytes") AS "bytes" FROM "shard" WHERE $timeFilter GROUP BY time($interval), "id") WHERE $timeFilter GROUP BY time($interval) fill(none)',
      ],
    },
    {
      title: 'Writes and what became of them',
      unit: 'per-second',
      queries: [
        ['points', rate('pointReq', 'write')],
        ['refused lines', rate('linesRejected', 'httpd')],
        ['timeouts', rate('writeTimeout', 'write')],
      ],
    },
    {
      title: 'Requests',
      kind: 'area',
      unit: 'per-second',
      queries: [
        ['all', rate('req', 'httpd')],
        ['refused', rate('clientError', 'httpd')],
        ['failed', rate('serverError', 'httpd')],
      ],
    },
    {
      title: 'Running queries',
      kind: 'line',
      queries: [['running', mean('queriesActive', 'queryExecutor')]],
    },
    {
      title: 'Memory',
      kind: 'area',
      unit: 'bytes',
      queries: [
        ['process', mean('Sys', 'runtime')],
        ['not yet in files', mean('memtableBytes', 'storage')],
        ['indexes', mean('indexBytes', 'storage')],
      ],
    },
    {
      title: 'Segments',
      queries: [
        ['segments', mean('segments', 'storage')],
        ['shards', mean('shards', 'storage')],
      ],
    },
    {
      title: 'Flushes and compactions',
      kind: 'bar',
      unit: 'per-second',
      queries: [
        ['flushes', rate('flushes', 'storage')],
        ['compactions', rate('compactions', 'storage')],
      ],
    },
    {
      title: 'How long the main thread was held up',
      kind: 'heatmap',
      unit: 'ns',
      queries: ['SELECT "EventLoopDelayMaxNs" FROM "runtime" WHERE $timeFilter'],
    },
    {
      title: 'Databases',
      kind: 'table',
      queries: [
        'SELECT last("numSeries") AS "series", last("numMeasurements") AS "measurements" FROM "database" WHERE $timeFilter GROUP BY "database"',
      ],
    },
  ],
);
