// Sections of the engine's configuration as one table: names, types, defaults, documentation.
// Options of handlers and other overridable services come from their own tables
// (overridable-sections.ts).
import { QUEUE_LENGTH } from '@tidemark/alerting';
import { LISTENER_SECTIONS } from '@tidemark/listeners';
import { DEFAULT_TASK_LIMITS } from '@tidemark/runtime';
import {
  bool,
  BORDER_OPTIONS,
  configSection,
  configSections,
  duration,
  float,
  integer,
  list,
  LOGGING_OPTIONS,
  oneOf,
  secret,
  size,
  str,
  texts,
} from '@tidemark/settings';

import { QUERY_RESPONSE_BYTES, RUNNING_JOBS, TASK_QUEUE } from '../limits.ts';

/** Sections that take effect at start and cannot be overridden through the API. */
export const FIXED_SECTIONS = {
  '': configSection('Settings of the whole engine.', {
    hostname: str(
      'Name under which the database reaches this engine; also shown by templates.',
      'localhost',
    ),
    data_dir: str('Directory for all data of the engine.', './data'),
    'secrets-key': str(
      'Key that definitions, which may hold secrets, are stored with: path of a file, or env:NAME. Empty is engine.key in the data directory, made at the first start.',
    ),
    'skip-config-overrides': bool(
      'Start without applying overrides that were stored through the API.',
    ),
    'start-empty': bool(
      'Start empty when engine.mdb is missing, truncated or unreadable, and keep the rest of it as engine.mdb.damaged-1. For one start.',
    ),
    'default-retention-policy': str('Retention policy of writes that name none.'),
  }),
  http: configSection('HTTP API.', {
    'bind-address': str(
      'Where the API listens, host:port. Port 0 takes a free one.',
      '127.0.0.1:9092',
    ),
    'auth-enabled': bool('Ask every request for a user and a password or a token.'),
    ...BORDER_OPTIONS,
    realm: str(
      'Name that a browser shows when it asks for a password; it asks once for services with the same one.',
      'InfluxDB',
    ),
    'insecure-no-auth': bool('Allow other addresses than loopback without authentication.'),
    'log-enabled': bool('Log every request.'),
    'audit-keep-size': size(
      'Changes and refusals to keep in the data directory for /audit; the oldest are deleted first. 0 keeps none.',
      10 * 1024 * 1024,
    ),
    'write-tracing': bool('Log the bodies of writes.'),
    'pprof-enabled': bool('Serve the profiling endpoints.', true),
    'pprof-auth-enabled': bool(
      'Require credentials for /debug/vars and /metrics too when authentication is on; turn it off for scrapers that have none.',
      true,
    ),
    'https-enabled': bool('Speak TLS.'),
    'https-certificate': str('File of the certificate, and of the key when they share one file.'),
    'https-private-key': str('File of the private key.'),
    'shutdown-timeout': duration(
      'How long a graceful stop may take: eight seconds at most.',
      '10s',
    ),
    'shared-secret': secret('Secret with which tokens are signed.'),
    'token-admins': list(
      'Users whom a token signed with the shared secret makes admins without the database being asked: for an engine without one, and for when it is down.',
    ),
    'max-body-size': size('Largest body of a request, after decompression.', 25 * 1024 * 1024),
    'body-memory-limit': size(
      'Memory for all bodies of requests together. Requests wait in order for free memory; meanwhile clients that hold some and send nothing are disconnected. 0 is no limit.',
      64 * 1024 * 1024,
    ),
    'body-memory-timeout': duration(
      'A request that waits longer for room is refused with 503.',
      '10s',
    ),
    'request-timeout': duration(
      'A request must have arrived completely after this time; 0 is no limit.',
      '5m',
    ),
    'compat-paths': bool(
      'Serve the API under the compatible base path, `/kapacitor/v1`, too.',
      true,
    ),
  }),
  tls: configSection('TLS of listeners.', {
    ciphers: list('Allowed cipher suites; none means the defaults.'),
    'min-version': oneOf('Lowest version.', ['tls1.2', 'tls1.3'], 'tls1.2'),
    'max-version': oneOf('Highest version.', ['tls1.2', 'tls1.3'], 'tls1.3'),
  }),
  cluster: configSection('Several engines that share their work.', {
    enabled: bool(
      'Join the cluster: definitions, states and alerts are those of all its instances, and any of them answers.',
    ),
    name: str('Instances with the same name share their work.', 'tidemark'),
    coordinator: list(
      'Servers of the coordinator, NATS with JetStream: nats://host:port, or tls://host:port.',
    ),
    login: secret('User of the coordinator and password, with a colon between them.'),
    url: str(
      'Where other instances reach the API of this one, for example http://10.0.0.7:9092. Empty is the bind address, which has to be one that they reach.',
    ),
    lease: duration(
      'An instance that has been silent for this long counts as dead; one that cannot reach the coordinator for this long stops its work for the others.',
      '3s',
    ),
    'snapshot-interval': duration(
      'How often the state of tasks is saved in a cluster; later points are given to the tasks again after a change of leaders.',
      '5s',
    ),
    'sync-interval': duration(
      'How long the coordinator may take to sync its files after it has acknowledged something: points are kept this much longer than saved states need them. 0s if all its servers have `sync_interval: always`.',
      '2m',
    ),
    'split-tasks': integer(
      'Number of parts of tasks that do not set their own, if all their state belongs to groups; 1 splits none. Takes effect when a task is enabled or changed.',
      1,
    ),
    replicas: integer(
      'Servers of the coordinator that keep each value; 3 for one of three servers or more.',
      1,
    ),
  }),
  'config-override': configSection('Overriding parts of the configuration through the API.', {
    enabled: bool('Whether that is possible.', true),
  }),
  logging: configSection('The log.', LOGGING_OPTIONS),
  load: configSection('Definitions of tasks, templates and handlers from files.', {
    enabled: bool('Whether the directory is read.'),
    dir: str('Directory with the folders tasks, templates and handlers.', './load'),
    'watch-interval': duration(
      'How often to look for changed files; 0s reads them at start and on SIGHUP only.',
      '2s',
    ),
  }),
  replay: configSection('Recordings and replays.', {
    dir: str('Directory of recordings; empty is `replay` inside the data directory.'),
    'max-running': integer(
      'Recordings that may run at the same time, and replays; further ones are refused with 429.',
      RUNNING_JOBS.value,
    ),
  }),
  task: configSection('Tasks.', {
    'snapshot-interval': duration('How often the state of tasks is saved.', '1m'),
    'catch-up': duration(
      'After a restart stream tasks read the points that they have missed from the default cluster, at most this much; 0s reads nothing.',
    ),
    'catch-up-lateness': duration(
      'How long after its time a point may arrive and still be told from those that a task has missed.',
      '1m',
    ),
    'catch-up-timeout': duration(
      'How long tasks that catch up wait for a database that does not answer; then they go on without.',
      '5m',
    ),
    'missed-runs': oneOf(
      'Queries of batch tasks that were due while the engine was down: skip, ask the last, or all.',
      ['skip', 'last', 'all'],
      'skip',
    ),
    'missed-runs-limit': integer(
      'Missed runs of one query that are made up for at most, the newest ones.',
      100,
    ),
    'keep-versions': integer(
      'Definitions of each task that are kept, the present one among them, to be compared and returned to; 0 keeps none.',
      20,
    ),
    'max-groups': integer(
      'Groups of one task; points that would open another are dropped.',
      DEFAULT_TASK_LIMITS.groupCountMax,
    ),
    'group-idle-timeout': duration(
      'Groups of a task without points for so long are forgotten by all of its nodes, a deadman too. 0s keeps them.',
    ),
    'max-held-points': integer(
      'Points that the nodes of one task may hold.',
      DEFAULT_TASK_LIMITS.heldPointCountMax,
    ),
    'max-memory': size(
      'Memory of the points that the nodes of one task hold, about; beyond it they refuse further ones.',
      DEFAULT_TASK_LIMITS.heldBytesMax,
    ),
    'max-queries': integer('Queries of batch tasks that may run at the same time.', 16),
    hosts: str(
      'Threads that run tasks: a number, or auto for one less than the machine has processors, at least one. 0 runs tasks in the thread of the API.',
      'auto',
    ),
    'host-memory': integer(
      'MiB of heap of each thread that runs tasks; one that needs more is ended and its tasks start again. 0 is the platform’s limit.',
    ),
    'host-timeout': duration(
      'A thread that is stuck in one task for this long is ended; the task is started again alone, and stopped when it happens again.',
      '10s',
    ),
    'max-waiting-points': integer(
      'Points that were acknowledged and wait for a slow task; beyond it writes wait, and in a cluster the task reads the rest from the log.',
      TASK_QUEUE.value,
    ),
    'stop-timeout': duration(
      'A task that makes no progress for this long when it is stopped is given up.',
      '10s',
    ),
    'query-timeout': duration('Longest time of a query of a batch task.', '5m'),
    'max-query-response': size(
      'Largest answer of a database to a query of a task; it is held in memory as a whole.',
      QUERY_RESPONSE_BYTES.value,
    ),
  }),
  alert: configSection('Alerting.', {
    'persist-topics': bool('Keep the state of events over a restart.', true),
    'topic-buffer-length': integer('Events that may wait for one handler.', QUEUE_LENGTH.value),
    'allowed-programs': list(
      'Globs of programs that exec handlers may run, such as `/usr/local/bin/*`. What is not listed is refused.',
    ),
    'allowed-files': list(
      'Globs of files that log handlers may write and of folders that sideload nodes may read, such as `/var/log/alerts/**`. What is not listed is refused.',
    ),
    'allowed-secrets': list(
      'Globs of references to secrets, `env:ALERT_*` or `file:/run/secrets/*`, that handlers and changes of the configuration may use. What is not listed is refused.',
    ),
    'disabled-handlers': list('Kinds of handlers that are accepted but do nothing.'),
  }),
  deadman: configSection('Defaults of deadman.', {
    interval: duration('How often the throughput is looked at.', '10s'),
    threshold: float('Points per interval at or below which it alerts.'),
    id: str('Template of the event id.', "{{ .Group }}:NODE_NAME for task '{{ .TaskName }}'"),
    message: str(
      'Template of the message.',
      '{{ .ID }} is {{ if eq .Level "OK" }}alive{{ else }}dead{{ end }}: {{ index .Fields "emitted" | printf "%0.3f" }} points/INTERVAL.',
    ),
    global: bool('Give every task a deadman.'),
  }),
  stats: configSection('The engine’s own statistics as points.', {
    enabled: bool('Whether they are sent into the stream.', true),
    'stats-interval': duration('How often.', '10s'),
    database: str('Database that tasks name to read them.', '_engine'),
    'retention-policy': str('Retention policy that tasks name.', 'autogen'),
    'store-database': str(
      'Database of the default cluster they are written to; empty writes none.',
      '_internal',
    ),
    'timing-sample-rate': float('Accepted for old files: one row in 4,096 is timed.', 0.1),
    'timing-movavg-size': integer(
      'Accepted for old files: the average is taken over what was timed lately.',
      1000,
    ),
  }),
  reporting: configSection('Nothing is ever reported to anybody; accepted for old files.', {
    enabled: bool('Has no effect.'),
    url: str('Has no effect.'),
  }),
  ...LISTENER_SECTIONS,
  udp: configSections(LISTENER_SECTIONS.udp.doc, {
    ...LISTENER_SECTIONS.udp.options,
    'bind-address': str('Address and port.', '127.0.0.1:9100'),
    buffer: integer('Accepted for old files; batches wait, not packets.', 1000),
  }),
  'udf-functions': configSections(
    'User-defined functions; a file may write `[udf.functions.name]` instead. Either a program or a socket.',
    {
      name: str('Name under which scripts call it.'),
      prog: str('Program that speaks the protocol on its standard input and output.'),
      args: list('Its arguments.'),
      env: texts('Its environment.'),
      socket: str('Unix socket of a server that speaks the protocol, instead of a program.'),
      timeout: duration('How long it may be silent; 0 never asks.'),
    },
  ),
} as const;
