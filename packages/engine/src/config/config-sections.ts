// Sections of the engine's configuration as one table: names, types, defaults, documents. What
// handlers and other overridable services need is added from their own tables
// (overridable-sections.ts).
import { configKey as key, configSection, configSections, LOGGING_KEYS } from '@tidemark/core';
import { BORDER_KEYS } from '@tidemark/process';
import { DEFAULT_TASK_LIMITS } from '@tidemark/runtime';
import { QUERY_RESPONSE_BYTES, RUNNING_JOBS, TASK_QUEUE } from '../limits.ts';
import { LISTENER_SECTIONS } from '@tidemark/listeners';

/** Sections that take effect at start and can not be overridden through the API. */
export const FIXED_SECTIONS = {
  '': configSection('Settings of the whole engine.', {
    hostname: key.text(
      'localhost',
      'Name under which the database reaches this engine; also shown by templates.',
    ),
    data_dir: key.text('./data', 'Directory of everything that the engine keeps.'),
    'secrets-key': key.text(
      '',
      'Key that definitions, which may hold secrets, are stored with: path of a file, or env:NAME. Empty is engine.key in the data directory, made at the first start.',
    ),
    'skip-config-overrides': key.boolean(
      false,
      'Start without applying overrides that were stored through the API.',
    ),
    'default-retention-policy': key.text('', 'Retention policy of writes that name none.'),
  }),
  http: configSection('HTTP API.', {
    'bind-address': key.text(
      '127.0.0.1:9092',
      'Where the API listens, host:port. Port 0 takes a free one.',
    ),
    'auth-enabled': key.boolean(false, 'Ask every request for a user and a password or a token.'),
    ...BORDER_KEYS,
    realm: key.text(
      'InfluxDB',
      'Name that a browser shows when it asks for a password; it asks once for services with the same one.',
    ),
    'insecure-no-auth': key.boolean(
      false,
      'Allow other addresses than loopback without authentication.',
    ),
    'log-enabled': key.boolean(false, 'Log every request.'),
    'write-tracing': key.boolean(false, 'Log the bodies of writes.'),
    'pprof-enabled': key.boolean(true, 'Serve the profiling endpoints.'),
    'https-enabled': key.boolean(false, 'Speak TLS.'),
    'https-certificate': key.text(
      '',
      'File of the certificate, and of the key when they share one file.',
    ),
    'https-private-key': key.text('', 'File of the private key.'),
    'shutdown-timeout': key.duration('10s', 'How long a graceful stop may take.'),
    'shared-secret': key.text('', 'Secret with which tokens are signed.', { isSecret: true }),
    'token-admins': key.textList(
      'Users whom a token signed with the shared secret makes admins without the database being asked: for an engine without one, and for when it is down.',
    ),
    'max-body-size': key.size(25 * 1024 * 1024, 'Largest body of a request, after decompression.'),
    'body-memory-limit': key.size(
      64 * 1024 * 1024,
      'Memory for bodies of requests, all together. A request that finds no room waits in order; clients that hold some and send nothing are cut off then. 0 is no limit.',
    ),
    'body-memory-timeout': key.duration(
      '10s',
      'A request that waits longer for room is refused with 503.',
    ),
    'request-timeout': key.duration(
      '5m',
      'A request must have arrived completely after this time; 0 is no limit.',
    ),
    'compat-paths': key.boolean(
      true,
      'Serve the API under the compatible base path, `/kapacitor/v1`, too.',
    ),
  }),
  tls: configSection('TLS of listeners.', {
    ciphers: key.textList('Allowed cipher suites; none means the defaults.'),
    'min-version': key.text('tls1.2', 'Lowest version.', { allowed: ['tls1.2', 'tls1.3'] }),
    'max-version': key.text('tls1.3', 'Highest version.', { allowed: ['tls1.2', 'tls1.3'] }),
  }),
  'config-override': configSection('Overriding parts of the configuration through the API.', {
    enabled: key.boolean(true, 'Whether that is possible.'),
  }),
  logging: configSection('The log.', LOGGING_KEYS),
  load: configSection('Definitions of tasks, templates and handlers from files.', {
    enabled: key.boolean(false, 'Whether the directory is read.'),
    dir: key.text('./load', 'Directory with the folders tasks, templates and handlers.'),
    'watch-interval': key.duration(
      '2s',
      'How often to look for changed files; 0s reads them at start and on SIGHUP only.',
    ),
  }),
  replay: configSection('Recordings and replays.', {
    dir: key.text('', 'Directory of recordings; empty is `replay` inside the data directory.'),
    'max-running': key.integer(
      RUNNING_JOBS.value,
      'Recordings that may run at the same time, and replays; further ones are refused with 429.',
    ),
  }),
  task: configSection('Tasks.', {
    'snapshot-interval': key.duration('1m', 'How often the state of tasks is saved.'),
    'catch-up': key.duration(
      '0s',
      'After a restart stream tasks read from the default cluster what they have missed, at most so much of it; 0s reads nothing.',
    ),
    'catch-up-lateness': key.duration(
      '1m',
      'How long after its time a point may arrive and still be told from those that a task has missed.',
    ),
    'catch-up-timeout': key.duration(
      '5m',
      'How long tasks that catch up wait for a database that does not answer; then they go on without.',
    ),
    'missed-runs': key.text(
      'skip',
      'Queries of batch tasks that were due while the engine was down: skip, ask the last, or all.',
      { allowed: ['skip', 'last', 'all'] },
    ),
    'missed-runs-limit': key.integer(
      100,
      'Missed runs of one query that are made up for at most, the newest ones.',
    ),
    'max-groups': key.integer(
      DEFAULT_TASK_LIMITS.groupCountMax,
      'Groups of one task; points that would open another are dropped.',
    ),
    'group-idle-timeout': key.duration(
      '0s',
      'Groups of a task without points for so long are forgotten by all of its nodes, a deadman too. 0s keeps them.',
    ),
    'max-held-points': key.integer(
      DEFAULT_TASK_LIMITS.heldPointCountMax,
      'Points that the nodes of one task may hold.',
    ),
    'max-memory': key.size(
      DEFAULT_TASK_LIMITS.heldBytesMax,
      'Memory of the points that the nodes of one task hold, about; beyond it they refuse further ones.',
    ),
    'max-queries': key.integer(16, 'Queries of batch tasks that may run at the same time.'),
    hosts: key.text(
      'auto',
      'Threads that run tasks: a number, or auto for one less than the machine has processors, at least one. 0 runs tasks in the thread of the API.',
    ),
    'host-memory': key.integer(
      0,
      'MiB of heap of each thread that runs tasks; one that needs more is ended and its tasks start again. 0 is the platform’s limit.',
    ),
    'host-timeout': key.duration(
      '10s',
      'A thread that is stuck in one task for this long is ended; the task is started again alone, and stopped when it happens again.',
    ),
    'max-waiting-points': key.integer(
      TASK_QUEUE.value,
      'Points that were acknowledged and wait for a slow task; writes wait for room beyond it.',
    ),
    'stop-timeout': key.duration(
      '10s',
      'A task that makes no progress for this long when it is stopped is given up.',
    ),
    'query-timeout': key.duration('5m', 'Longest time of a query of a batch task.'),
    'max-query-response': key.size(
      QUERY_RESPONSE_BYTES.value,
      'Largest answer of a database to a query of a task; it is held in memory as a whole.',
    ),
  }),
  alert: configSection('Alerting.', {
    'persist-topics': key.boolean(true, 'Keep the state of events over a restart.'),
    'topic-buffer-length': key.integer(5000, 'Events that may wait for one handler.'),
    'allowed-programs': key.textList(
      'Globs of programs that exec handlers may run, such as `/usr/local/bin/*`. What is not listed is refused.',
    ),
    'allowed-files': key.textList(
      'Globs of files that log handlers may write and of folders that sideload nodes may read, such as `/var/log/alerts/**`. What is not listed is refused.',
    ),
    'allowed-secrets': key.textList(
      'Globs of references to secrets, `env:ALERT_*` or `file:/run/secrets/*`, that handlers and changes of the configuration may use. What is not listed is refused.',
    ),
    'disabled-handlers': key.textList('Kinds of handlers that are accepted but do nothing.'),
  }),
  deadman: configSection('Defaults of deadman.', {
    interval: key.duration('10s', 'How often the throughput is looked at.'),
    threshold: key.number(0, 'Points per interval at or below which it alerts.'),
    id: key.text("{{ .Group }}:NODE_NAME for task '{{ .TaskName }}'", 'Template of the event id.'),
    message: key.text(
      '{{ .ID }} is {{ if eq .Level "OK" }}alive{{ else }}dead{{ end }}: {{ index .Fields "emitted" | printf "%0.3f" }} points/INTERVAL.',
      'Template of the message.',
    ),
    global: key.boolean(false, 'Give every task a deadman.'),
  }),
  stats: configSection('The engine’s own statistics as points.', {
    enabled: key.boolean(true, 'Whether they are sent into the stream.'),
    'stats-interval': key.duration('10s', 'How often.'),
    database: key.text('_engine', 'Database that tasks name to read them.'),
    'retention-policy': key.text('autogen', 'Retention policy that tasks name.'),
    'store-database': key.text(
      '_internal',
      'Database of the default cluster they are written to; empty writes none.',
    ),
    'timing-sample-rate': key.number(0.1, 'Accepted for old files: one row in 4,096 is timed.'),
    'timing-movavg-size': key.integer(
      1000,
      'Accepted for old files: the average is taken over what was timed lately.',
    ),
  }),
  reporting: configSection('Nothing is ever reported to anybody; accepted for old files.', {
    enabled: key.boolean(false, 'Has no effect.'),
    url: key.text('', 'Has no effect.'),
  }),
  ...LISTENER_SECTIONS,
  udp: configSections(LISTENER_SECTIONS.udp.doc, {
    ...LISTENER_SECTIONS.udp.keys,
    'bind-address': key.text('127.0.0.1:9100', 'Address and port.'),
    buffer: key.integer(1000, 'Accepted for old files; batches wait, not packets.'),
  }),
  'udf-functions': configSections(
    'User-defined functions; a file may write `[udf.functions.name]` instead. Either a program or a socket.',
    {
      name: key.text('', 'Name under which scripts call it.'),
      prog: key.text('', 'Program that speaks the protocol on its standard input and output.'),
      args: key.textList('Its arguments.'),
      env: key.textMap('Its environment.'),
      socket: key.text(
        '',
        'Unix socket of a server that speaks the protocol, instead of a program.',
      ),
      timeout: key.duration('0s', 'How long it may be silent; 0 never asks.'),
    },
  ),
} as const;
