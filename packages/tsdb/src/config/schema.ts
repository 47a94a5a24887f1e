// Every setting of the database service: section, key, type, default and meaning in one table. The
// commented default file, validation, environment variables, flags and the type TsdbConfig all
// follow from it.
import { configKey, configSection, LOGGING_KEYS } from '@tidemark/core';
import type { ConfigOf } from '@tidemark/core';
import { LISTENER_SECTIONS } from '@tidemark/listeners';
import { BORDER_KEYS } from '@tidemark/process';

const { boolean, duration, integer, size, text, textList, textMap } = configKey;

/** Sections and keys, named as operators of InfluxDB 1.x know them. */
export const TSDB_CONFIG = {
  '': configSection('The database service.', {
    hostname: text('', 'Name of this host in self-monitoring; empty asks the system.'),
  }),
  meta: configSection('The catalog: databases, retention policies, users.', {
    dir: text('', 'Folder of the catalog; empty is <data-dir>/tsdb/meta.'),
    'retention-autocreate': boolean(true, 'New databases get a retention policy "autogen".'),
  }),
  data: configSection('Storage of points.', {
    dir: text('./data', 'Data directory.'),
    'wal-fsync-delay': duration(
      '0s',
      'How long an acknowledged write may wait for its sync to disk; 0s acknowledges synced writes only.',
    ),
    'field-types': text('shard', 'Where a field keeps the type of its first value.', {
      allowed: ['shard', 'measurement'],
    }),
    'max-series-per-database': integer(
      1_000_000,
      'New series beyond are refused; 0 is no limit. A series takes 110 bytes of memory, more with long tags; deleted ones do not count.',
    ),
    'max-values-per-tag': integer(0, 'New values of a tag beyond are refused; 0 is no limit.'),
    'max-shards-per-write': integer(
      1000,
      'Points of one write in further shards are refused; 0 is no limit. Each shard becomes a file.',
    ),
    'max-bad-lines': integer(
      10_000,
      'Lines of one write that can not be parsed; what follows them is not read. 0 is no limit.',
    ),
    'memtable-max-size': size(
      32 * 1024 * 1024,
      'Points in memory before they are written to a segment; two of these may exist at once.',
    ),
    'quiet-flush-after': duration(
      '2s',
      'More than 1 MiB of points in memory is written to a segment when no point came for this long; 0s waits until they are ten minutes old.',
    ),
    'wal-max-size': size(
      48 * 1024 * 1024,
      'Size of the log; beyond it the points in memory are written to a segment.',
    ),
    'write-queue-max-size': size(
      64 * 1024 * 1024,
      'Bodies that may wait for the log; beyond it writes are refused with 503.',
    ),
    'reserve-size': size(
      8 * 1024 * 1024,
      'Kept free on the disk, in files named RESERVE, so that deletes and drops work when it is full; other writes are refused then until twice as much is free. 0 keeps nothing.',
    ),
    'index-cache-size': size(
      32 * 1024 * 1024,
      'Postings of tags kept for the next condition; keys whose postings do not fit are searched series by series.',
    ),
    'column-cache-size': size(
      32 * 1024 * 1024,
      'Decoded columns of segments kept for the next query.',
    ),
    'query-log-enabled': boolean(true, 'Log every query before it runs, at level debug.'),
    'rehearsal-enabled': boolean(
      true,
      'After the start, while there are no requests, run statements on sample points in memory, so that the first real ones find compiled code. Takes about four seconds of processor time.',
    ),
  }),
  storage: configSection('Where points are, and what is done about damaged files.', {
    engine: text(
      'embedded',
      'embedded: files below data.dir. clickhouse: tables of a ClickHouse cluster; the catalog stays in meta.dir.',
      { allowed: ['embedded', 'clickhouse'] },
    ),
    'clickhouse-urls': textList(
      'HTTP addresses of the replicas of all shards of the cluster; with a user and a password where it wants them.',
    ),
    'clickhouse-database': text('tidemark', 'The database of the cluster that holds the tables.'),
    'clickhouse-cluster': text(
      'tidemark',
      'What the configuration of the servers calls the cluster (remote_servers).',
    ),
    'serve-damaged': boolean(
      false,
      'Answer queries without what can not be read; the answer has a message and `partial`. Without it they fail.',
    ),
  }),
  coordinator: configSection('Limits of queries and writes.', {
    'write-timeout': duration('10s', 'A write that storage has not taken by then ends with 500.'),
    'max-concurrent-queries': integer(0, 'Queries that run at once; 0 is no limit.'),
    'query-timeout': duration('0s', 'A query that runs longer is ended; 0s is no limit.'),
    'log-queries-after': duration('0s', 'Queries that run longer are logged; 0s logs none.'),
    'max-select-point': integer(0, 'Points one SELECT may read; 0 is no limit.'),
    'max-select-series': integer(0, 'Series one SELECT may read; 0 is no limit.'),
    'max-select-buckets': integer(0, 'GROUP BY time windows of one SELECT; 0 is no limit.'),
    'max-filled-windows': integer(
      50_000_000,
      'Windows that fill() makes in one SELECT, counted before anything is read where the range has bounds; 0 is no limit.',
    ),
    'query-memory-limit': size(256 * 1024 * 1024, 'Memory one query may hold; 0 is no limit.'),
    'total-query-memory-limit': size(
      512 * 1024 * 1024,
      'Memory all queries may hold together: a quarter for what every query may begin with, the rest for the few that need more. Queries wait in order for theirs; clients that hold some and do not read are cut off then. 0 is no limit.',
    ),
    'query-memory-timeout': duration(
      '30s',
      'A query that waits longer for memory is refused: with 503, or in its answer when that has begun.',
    ),
    'max-subquery-depth': integer(100, 'Nesting of subqueries; 0 is no limit.'),
    'max-select-sources': integer(
      1000,
      'Measurements and subqueries that one FROM may name; 0 is no limit.',
    ),
    'max-condition-fields': integer(
      2000,
      'Fields that one WHERE may name; every row is compared with each. 0 is no limit.',
    ),
    'max-select-columns': integer(
      50_000,
      'Columns of one answer, wildcards expanded; 0 is no limit.',
    ),
    'max-select-dimensions': integer(
      1000,
      'Tags in one GROUP BY, wildcards expanded; 0 is no limit.',
    ),
    'max-statements-per-request': integer(
      10_000,
      'Statements that one request may hold; 0 is no limit.',
    ),
    'max-query-tokens': integer(
      100_000,
      'Words and symbols of one request; 0 is no limit. A text is parsed in one go.',
    ),
    'max-query-depth': integer(
      200,
      'Nesting of parentheses, calls and subqueries; 500 is the highest there can be.',
    ),
    'max-query-operators': integer(
      1000,
      'Arithmetic operators in a row; 1000 is the highest there can be.',
    ),
    'max-regex-length': integer(
      65_536,
      'Characters of one regular expression in a query; 0 is no limit.',
    ),
  }),
  retention: configSection('Removal of data that is older than its retention policy.', {
    enabled: boolean(true, 'Remove expired shard groups.'),
    'check-interval': duration('30m', 'How often to look for them.'),
  }),
  monitor: configSection('Self-monitoring.', {
    'store-enabled': boolean(true, 'Write own counters to a database.'),
    'store-database': text('_internal', 'Which one.'),
    'store-interval': duration('10s', 'How often.'),
  }),
  http: configSection('The HTTP API.', {
    enabled: boolean(true, 'Serve it.'),
    'bind-address': text(
      '127.0.0.1:8086',
      'Address and port; several are separated by commas; port 0 takes a free one.',
    ),
    'auth-enabled': boolean(false, 'Ask for credentials.'),
    'insecure-no-auth': boolean(
      false,
      'Listen on other addresses than loopback although no credentials are asked for.',
    ),
    ...BORDER_KEYS,
    realm: text('InfluxDB', 'Realm of basic authentication.'),
    'log-enabled': boolean(true, 'Log every request, at level debug.'),
    'suppress-write-log': boolean(false, 'Do not log writes.'),
    'access-log-path': text(
      '',
      'File to which a line per request is appended; empty is the service log.',
    ),
    'audit-log-path': text(
      '',
      'File to which changes and refusals are appended, one JSON object a line; empty is the service log alone.',
    ),
    'pprof-enabled': boolean(true, 'Serve /debug/pprof.'),
    'pprof-auth-enabled': boolean(
      false,
      'Require an admin user for /debug/vars too; the rest of /debug asks for one whenever authentication is on.',
    ),
    'ping-auth-enabled': boolean(
      false,
      'Require credentials for /ping, /status, /health, /metrics.',
    ),
    'https-enabled': boolean(false, 'Serve HTTPS.'),
    'https-certificate': text('', 'File of the certificate chain, PEM.'),
    'https-private-key': text(
      '',
      'File of the private key, PEM; empty reads the certificate file.',
    ),
    'shared-secret': text('', 'Secret of HS256, HS384 and HS512 tokens.', { isSecret: true }),
    'jwks-file': text('', 'File of a JSON web key set for RS256 and ES256 tokens.'),
    'max-row-limit': integer(0, 'Rows of an answer that is not chunked; 0 is no limit.'),
    'max-connection-limit': integer(
      0,
      'Open connections of each address; further ones are closed. 0 is no limit.',
    ),
    'unix-socket-enabled': boolean(false, 'Listen on a unix socket too.'),
    'bind-socket': text('/run/tidemark/tsdb.sock', 'Path of that socket.'),
    'max-body-size': size(25_000_000, 'Largest request body, after decompression; 0 is no limit.'),
    'max-parameters': integer(
      1000,
      'Parameters of one form, and values of `params`; 0 is no limit.',
    ),
    'body-memory-limit': size(
      64 * 1024 * 1024,
      'Memory for bodies of requests, all together. A request that finds no room waits in order; clients that hold some and send nothing are cut off then. 0 is no limit.',
    ),
    'body-memory-timeout': duration(
      '10s',
      'A request that waits longer for room is refused with 503.',
    ),
    'max-concurrent-write-limit': integer(0, 'Writes handled at once; 0 is no limit.'),
    'max-enqueued-write-limit': integer(0, 'Writes that may wait for one of those; 0 is no limit.'),
    'enqueued-write-timeout': duration('30s', 'A write that waits longer is refused.'),
    'request-timeout': duration('5m', 'A request must have arrived completely after this time.'),
    'strict-verbs': boolean(
      false,
      'Refuse statements that change something when they come by GET; from browsers they are refused in any case.',
    ),
    'strict-precision': boolean(
      true,
      'Refuse unknown values of `precision` in writes; otherwise they mean nanoseconds, as in old versions.',
    ),
    'compat-routes': boolean(
      true,
      'Serve the aliases of older clients and send X-Influxdb-* headers.',
    ),
    headers: textMap('Headers added to every answer.'),
  }),
  logging: configSection('The log.', LOGGING_KEYS),
  subscriber: configSection('Forwarding of accepted writes to subscriptions.', {
    enabled: boolean(true, 'Forward.'),
    'http-timeout': duration('30s', 'A delivery that takes longer has failed.'),
    'insecure-skip-verify': boolean(false, 'Do not verify certificates of https destinations.'),
    'ca-certs': text('', 'File of certificates to trust besides the well-known ones, PEM.'),
    'write-concurrency': integer(
      40,
      'Accepted for old files: a destination gets one delivery at a time, in order.',
    ),
    'write-buffer-size': integer(
      1000,
      'Batches of one subscription that may wait; beyond it they are dropped.',
    ),
  }),
  continuous_queries: configSection('Continuous queries.', {
    enabled: boolean(true, 'Run them.'),
    'log-enabled': boolean(true, 'Log their runs.'),
    'query-stats-enabled': boolean(
      false,
      'Write the figures of their runs to the monitor database.',
    ),
    'run-interval': duration('1s', 'How often to look which are due.'),
  }),
  tls: configSection('TLS of listeners.', {
    'min-version': text('tls1.2', 'Lowest version.', { allowed: ['tls1.2', 'tls1.3'] }),
    'max-version': text('tls1.3', 'Highest version.', { allowed: ['tls1.2', 'tls1.3'] }),
    ciphers: textList('OpenSSL names of allowed ciphers; empty is the default of the runtime.'),
  }),
  ...LISTENER_SECTIONS,
} as const;

/** The configuration of the database service, resolved: durations in `…Ms`, sizes in `…Bytes`. */
export type TsdbConfig = ConfigOf<typeof TSDB_CONFIG>;
