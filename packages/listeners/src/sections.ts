// Settings of listeners, the same in the database and in the task engine.
import {
  bool,
  BORDER_OPTIONS,
  configSections,
  duration,
  integer,
  list,
  oneOf,
  socketBuffer,
  str,
} from '@tidemark/settings';
import type { ConfigOf } from '@tidemark/settings';

const listenerBatches = {
  'batch-size': integer('Points that make a batch.', 5000),
  'batch-pending': integer(
    'Full batches that may wait for storage; beyond it points are dropped.',
    10,
  ),
  'batch-timeout': duration('A batch that is not full is written after this time.', '1s'),
};

/** One section per protocol; each may occur several times. */
export const LISTENER_SECTIONS = {
  udp: configSections('Listeners for line protocol in UDP datagrams.', {
    enabled: bool('Listen.'),
    'bind-address': str('Address and port.', ':8089'),
    database: str('Where points go; created when it does not exist.', 'udp'),
    'retention-policy': str('Empty is the default one.'),
    precision: oneOf(
      'Unit of timestamps; empty is nanoseconds.',
      ['', 'n', 'ns', 'u', 'ms', 's', 'm', 'h'],
      '',
    ),
    ...listenerBatches,
    'read-buffer': socketBuffer(
      'Receive buffer of the socket in bytes; 0 is the default of the system.',
    ),
  }),
  graphite: configSections('Listeners for Graphite plaintext.', {
    enabled: bool('Listen.'),
    'bind-address': str('Address and port.', ':2003'),
    database: str('Where points go; created when it does not exist.', 'graphite'),
    'retention-policy': str('Empty is the default one.'),
    protocol: oneOf('Transport.', ['tcp', 'udp'], 'tcp'),
    ...listenerBatches,
    'consistency-level': str('Accepted for old files; without meaning on a single node.', 'one'),
    separator: str('Joins parts that a template names more than once.', '.'),
    'udp-read-buffer': socketBuffer(
      'Receive buffer of the socket in bytes; 0 is the default of the system.',
    ),
    tags: list('Tags of all points, written key=value.'),
    templates: list('Templates, written [filter] template [key=value,...].'),
  }),
  collectd: configSections('Listeners for the binary protocol of collectd.', {
    enabled: bool('Listen.'),
    'bind-address': str('Address and port.', ':25826'),
    database: str('Where points go; created when it does not exist.', 'collectd'),
    'retention-policy': str('Empty is the default one.'),
    ...listenerBatches,
    'batch-timeout': duration('A batch that is not full is written after this time.', '10s'),
    'read-buffer': socketBuffer(
      'Receive buffer of the socket in bytes; 0 is the default of the system.',
    ),
    typesdb: str('File of value types, or a folder of such files.', '/usr/share/collectd/types.db'),
    'security-level': oneOf('Required protection of packets.', ['none', 'sign', 'encrypt'], 'none'),
    'auth-file': str('File of users and passwords, user: password.', '/etc/collectd/auth_file'),
    'parse-multivalue-plugin': oneOf(
      'One point per value, or one with several fields.',
      ['split', 'join'],
      'split',
    ),
  }),
  opentsdb: configSections('Listeners for OpenTSDB, telnet and HTTP.', {
    enabled: bool('Listen.'),
    'bind-address': str('Address and port.', ':4242'),
    database: str('Where points go; created when it does not exist.', 'opentsdb'),
    'retention-policy': str('Empty is the default one.'),
    'allowed-hosts': BORDER_OPTIONS['allowed-hosts'],
    'allowed-origins': BORDER_OPTIONS['allowed-origins'],
    'tls-enabled': bool('Speak TLS.'),
    certificate: str('File of certificate and key, PEM.'),
    'log-point-errors': bool('Log points that cannot be read.', true),
    'batch-size': integer('Points that make a batch.', 1000),
    'batch-pending': integer(
      'Full batches that may wait for storage; beyond it points are dropped.',
      5,
    ),
    'batch-timeout': duration('A batch that is not full is written after this time.', '1s'),
  }),
} as const;

export type ListenerConfig = ConfigOf<typeof LISTENER_SECTIONS>;
