// Every setting of the database service: section, key, type, default and meaning in one table. The
// commented default file, validation, environment variables, flags and the type TsdbConfig all
// follow from it.
import { MAX_DEPTH, MAX_OPERATORS, MAX_REGEX_LENGTH, MAX_TOKENS } from '@tidemark/influxql';
import { LISTENER_SECTIONS } from '@tidemark/listeners';
import { DEFAULT_QUERY_LIMITS } from '@tidemark/query';
import {
  bool,
  BORDER_OPTIONS,
  configSection,
  duration,
  integer,
  list,
  LOGGING_OPTIONS,
  oneOf,
  secret,
  size,
  str,
  texts,
} from '@tidemark/settings';
import type { ConfigOf } from '@tidemark/settings';
import { LIMITS } from '@tidemark/storage';
import { INGEST_DEFAULTS } from '@tidemark/storage-api';

/** Sections and keys have the names that operators of InfluxDB 1.x know. */
export const TSDB_CONFIG = {
  '': configSection('The database service.', {
    hostname: str('Name of this host in self-monitoring; empty asks the system.'),
  }),
  meta: configSection('The catalog: databases, retention policies, users.', {
    dir: str('Folder of the catalog; empty is <data-dir>/tsdb/meta.'),
    'retention-autocreate': bool('New databases get a retention policy "autogen".', true),
    'password-cost': {
      ...integer(
        'Cost of bcrypt, for passwords that are set from now on: 1 more doubles the time that a guess takes; less than 4 is 4.',
        10,
      ),
      max: 14,
    },
  }),
  data: configSection('Storage of points.', {
    dir: str('Data directory.', './data'),
    'wal-fsync-delay': duration(
      'How long an acknowledged write may wait for its sync to disk; 0s acknowledges synced writes only.',
    ),
    'field-types': oneOf(
      'Where a field keeps the type of its first value.',
      ['shard', 'measurement'],
      'shard',
    ),
    'max-series-per-database': integer(
      'New series beyond are refused; 0 is no limit. A series takes 110 bytes of memory, more with long tags; deleted ones do not count.',
      1_000_000,
    ),
    'max-values-per-tag': integer('New values of a tag beyond are refused; 0 is no limit.'),
    'max-shards-per-write': integer(
      'Points of one write in further shards are refused; 0 is no limit. Each shard becomes a file.',
      INGEST_DEFAULTS.maxShards,
    ),
    'max-bad-lines': integer(
      'Lines of one write that cannot be parsed; lines after them are not read. 0 is no limit.',
      INGEST_DEFAULTS.maxBadLines,
    ),
    'max-text-size': size(
      'Points with a text longer than this are refused, each with its line; 0 is no limit.',
      INGEST_DEFAULTS.maxTextBytes,
    ),
    'memtable-max-size': size(
      'Points in memory before they are written to a segment; two of these may exist at once.',
      LIMITS.memtableBytes.value,
    ),
    'quiet-flush-after': duration(
      'More than 1 MiB of points in memory is written to a segment when no point came for this long; 0s waits until they are ten minutes old.',
      '2s',
    ),
    'wal-max-size': size(
      'Size of the log; beyond it the points in memory are written to a segment.',
      LIMITS.walBytes.value,
    ),
    'write-queue-max-size': size(
      'Bodies that may wait for the log; beyond it writes are refused with 503.',
      LIMITS.queuedWriteBytes.value,
    ),
    'reserve-size': size(
      'Kept free on the disk, in files named RESERVE, so that deletes and drops work when it is full; other writes are refused then until twice as much is free. 0 keeps nothing.',
      LIMITS.reserveBytes.value,
    ),
    'index-cache-size': size(
      'Cache of tag postings for conditions; keys whose postings do not fit are searched series by series. A quarter as much is used in addition for the order of tag values and of series.',
      LIMITS.indexCacheBytes.value,
    ),
    'query-threads': {
      ...integer(
        'Threads that read large aggregates, beside the one that owns the data: 0, or 1, which starts with the first of them, ends when there is none for a minute, and takes half of column-cache-size for itself.',
        LIMITS.queryThreads.value,
      ),
      max: 1,
    },
    'column-cache-size': size(
      'Caches of decoded columns of segments, of all threads together.',
      LIMITS.columnCacheBytes.value,
    ),
    'query-log-enabled': bool('Log every query before it runs, at level debug.', true),
    'rehearsal-enabled': bool(
      'After the start, while there are no requests, run statements on sample points in memory, so that the first real ones find compiled code. Takes four seconds of processor time at most.',
      true,
    ),
  }),
  storage: configSection('Where points are stored, and how damaged files are treated.', {
    engine: oneOf(
      'embedded: files below data.dir. clickhouse: tables of a ClickHouse cluster, catalog and users among them.',
      ['embedded', 'clickhouse'],
      'embedded',
    ),
    'clickhouse-urls': list(
      'HTTP addresses of the replicas of all shards of the cluster; with user and password if it requires them.',
    ),
    'clickhouse-database': str('The database of the cluster with the tables.', 'tidemark'),
    'clickhouse-cluster': str(
      'Name of the cluster in the configuration of the servers (remote_servers).',
      'tidemark',
    ),
    'clickhouse-ping-timeout': duration(
      'A server of the cluster that is waited for is pinged. When it does not answer for so long (it hangs, its machine is gone, or it has lost ZooKeeper and has to take a write), other replicas are asked, until it answers again; writes that need it are refused. 0s waits for ever.',
      '4s',
    ),
    'serve-damaged': bool(
      'Answer queries without unreadable data; the answer has a message and `partial`. Otherwise they fail.',
    ),
  }),
  coordinator: configSection('Limits of queries and writes.', {
    'write-timeout': duration('A write that storage has not taken by then ends with 500.', '10s'),
    'partial-answers': bool(
      'With storage.engine = "clickhouse": answer queries without shards of which no replica answers; the answer has a message and `partial`. Without it they fail.',
    ),
    'max-concurrent-queries': integer('Queries that run at once; 0 is no limit.'),
    'query-timeout': duration('A query that runs longer is ended; 0s is no limit.'),
    'log-queries-after': duration('Queries that run longer are logged; 0s logs none.'),
    'keep-queries-after': duration(
      'Queries that took longer are kept in memory, the last 100, for /debug/slow-queries; 0s keeps none.',
      '1s',
    ),
    'max-select-point': integer('Points one SELECT may read; 0 is no limit.'),
    'max-select-series': integer('Series one SELECT may read; 0 is no limit.'),
    'max-select-buckets': integer('GROUP BY time windows of one SELECT; 0 is no limit.'),
    'max-filled-windows': integer(
      'Windows that fill() makes in one SELECT, counted before anything is read where the range has bounds; 0 is no limit.',
      DEFAULT_QUERY_LIMITS.maxFilledWindows,
    ),
    'query-memory-limit': size(
      'Memory one query may hold; 0 is no limit.',
      DEFAULT_QUERY_LIMITS.maxQueryMemoryBytes,
    ),
    'total-query-memory-limit': size(
      'Memory all queries may hold together, in all threads: a quarter for what every query may begin with, the rest for those that need more, which get it in steps as they grow. The oldest of these may grow to the limit of one query, half of this at most; younger ones share what that leaves. Queries wait in order for theirs; clients that hold some and do not read are cut off then. 0 is no limit.',
      512 * 1024 * 1024,
    ),
    'query-memory-timeout': duration(
      'A query that waits longer for memory is refused: with 503, or in its answer when that has begun.',
      '30s',
    ),
    'max-subquery-depth': integer(
      'Nesting of subqueries; 0 is no limit.',
      DEFAULT_QUERY_LIMITS.maxSubqueryDepth,
    ),
    'max-select-sources': integer(
      'Measurements and subqueries that one FROM may name; 0 is no limit.',
      DEFAULT_QUERY_LIMITS.maxSelectSources,
    ),
    'max-condition-fields': integer(
      'Fields that one WHERE may name; every row is compared with each. 0 is no limit.',
      DEFAULT_QUERY_LIMITS.maxConditionFields,
    ),
    'max-select-columns': integer(
      'Columns of one answer, wildcards expanded; 0 is no limit.',
      DEFAULT_QUERY_LIMITS.maxSelectColumns,
    ),
    'max-select-dimensions': integer(
      'Tags in one GROUP BY, wildcards expanded; 0 is no limit.',
      DEFAULT_QUERY_LIMITS.maxSelectDimensions,
    ),
    'max-statements-per-request': integer(
      'Statements that one request may hold; 0 is no limit.',
      10_000,
    ),
    'max-query-tokens': integer(
      'Words and symbols of one request; 0 is no limit. A text is parsed in one go.',
      MAX_TOKENS.value,
    ),
    'max-query-depth': integer(
      'Nesting of parentheses, calls and subqueries; 500 is the highest there can be.',
      MAX_DEPTH.value,
    ),
    'max-query-operators': integer(
      'Arithmetic operators in a row; 1000 is the highest there can be.',
      MAX_OPERATORS.value,
    ),
    'max-regex-length': integer(
      'Characters of one regular expression in a query; 0 is no limit.',
      MAX_REGEX_LENGTH.value,
    ),
  }),
  retention: configSection('Removal of data that is older than its retention policy.', {
    enabled: bool('Remove expired shard groups.', true),
    'check-interval': duration('How often to look for them.', '30m'),
  }),
  monitor: configSection('Self-monitoring.', {
    'store-enabled': bool('Write own counters to a database.', true),
    'store-database': str('Which one.', '_internal'),
    'store-interval': duration('How often.', '10s'),
  }),
  http: configSection('The HTTP API.', {
    enabled: bool('Serve it.', true),
    'bind-address': str(
      'Address and port; several are separated by commas; port 0 takes a free one.',
      '127.0.0.1:8086',
    ),
    'auth-enabled': bool('Ask for credentials.'),
    'insecure-no-auth': bool(
      'Listen on other addresses than loopback although no credentials are asked for.',
    ),
    ...BORDER_OPTIONS,
    realm: str('Realm of basic authentication.', 'InfluxDB'),
    'log-enabled': bool('Log every request, at level debug.', true),
    'suppress-write-log': bool('Do not log writes.'),
    'access-log-path': str(
      'File to which a line per request is appended; empty is the service log.',
    ),
    'audit-log-path': str(
      'File to which changes and refusals are appended, one JSON object a line; empty is the service log alone.',
    ),
    'audit-keep-size': size(
      'Changes and refusals to keep in the data directory for /api/audit; the oldest are deleted first. 0 keeps none.',
      10 * 1024 * 1024,
    ),
    'pprof-enabled': bool('Serve /debug/pprof.', true),
    'pprof-auth-enabled': bool(
      'Require an admin user for /debug/vars too when authentication is on; turn it off for scrapers that have none. The rest of /debug always asks for one.',
      true,
    ),
    'ping-auth-enabled': bool(
      'Require credentials for /ping, /status, /health, /metrics; /health/live is always open.',
    ),
    'https-enabled': bool('Serve HTTPS.'),
    'https-certificate': str('File of the certificate chain, PEM.'),
    'https-private-key': str('File of the private key, PEM; empty reads the certificate file.'),
    'shared-secret': secret('Secret of HS256, HS384 and HS512 tokens.'),
    'jwks-file': str('File of a JSON web key set for RS256 and ES256 tokens.'),
    'max-row-limit': integer('Rows of an answer that is not chunked; 0 is no limit.'),
    'max-connection-limit': integer(
      'Open connections of each address; further ones are closed. 0 is no limit.',
    ),
    'unix-socket-enabled': bool('Listen on a unix socket too.'),
    'bind-socket': str('Path of that socket.', '/run/tidemark/tsdb.sock'),
    'max-body-size': size('Largest request body, after decompression; 0 is no limit.', 25_000_000),
    'max-parameters': integer(
      'Parameters of one form, and values of `params`; 0 is no limit.',
      1000,
    ),
    'body-memory-limit': size(
      'Memory for all bodies of requests together. Requests wait in order for free memory; meanwhile clients that hold some and send nothing are disconnected. 0 is no limit.',
      64 * 1024 * 1024,
    ),
    'body-memory-timeout': duration(
      'A request that waits longer for room is refused with 503.',
      '10s',
    ),
    'max-concurrent-write-limit': integer('Writes handled at once; 0 is no limit.'),
    'max-enqueued-write-limit': integer('Writes that may wait for one of those; 0 is no limit.'),
    'enqueued-write-timeout': duration('A write that waits longer is refused.', '30s'),
    'request-timeout': duration('A request must have arrived completely after this time.', '5m'),
    'strict-verbs': bool(
      'Refuse statements that change something when they come by GET; from browsers they are refused in any case.',
    ),
    'strict-precision': bool(
      'Refuse unknown values of `precision` in writes; otherwise they mean nanoseconds, as in old versions.',
      true,
    ),
    'compat-routes': bool(
      'Serve the aliases of older clients and send X-Influxdb-* headers.',
      true,
    ),
    headers: texts('Headers added to every answer.'),
  }),
  logging: configSection('The log.', LOGGING_OPTIONS),
  subscriber: configSection('Forwarding of accepted writes to subscriptions.', {
    enabled: bool('Forward.', true),
    'http-timeout': duration('A delivery that takes longer has failed.', '30s'),
    'insecure-skip-verify': bool('Do not verify certificates of https destinations.'),
    'ca-certs': str('File of certificates to trust besides the well-known ones, PEM.'),
    'write-concurrency': integer(
      'Accepted for old files: a destination gets one delivery at a time, in order.',
      40,
    ),
    'write-buffer-size': integer(
      'Batches of one subscription that may wait; beyond it they are dropped.',
      1000,
    ),
  }),
  continuous_queries: configSection('Continuous queries.', {
    enabled: bool('Run them.', true),
    'log-enabled': bool('Log their runs.', true),
    'query-stats-enabled': bool('Write the figures of their runs to the monitor database.'),
    'run-interval': duration('How often to look which are due.', '1s'),
  }),
  tls: configSection('TLS of listeners.', {
    'min-version': oneOf('Lowest version.', ['tls1.2', 'tls1.3'], 'tls1.2'),
    'max-version': oneOf('Highest version.', ['tls1.2', 'tls1.3'], 'tls1.3'),
    ciphers: list('OpenSSL names of allowed ciphers; empty is the default of the runtime.'),
  }),
  ...LISTENER_SECTIONS,
} as const;

/** The configuration of the database service, resolved: durations in `…Ms`, sizes in `…Bytes`. */
export type TsdbConfig = ConfigOf<typeof TSDB_CONFIG>;
