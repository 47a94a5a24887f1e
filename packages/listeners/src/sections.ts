// Settings of listeners, the same in the database and in the task engine.
import { configKey, configSections } from '@tidemark/core';
import type { ConfigOf } from '@tidemark/core';
import { BORDER_KEYS } from '@tidemark/process';

const { boolean, duration, integer, text, textList } = configKey;

const listenerBatches = {
  'batch-size': integer(5000, 'Points that make a batch.'),
  'batch-pending': integer(
    10,
    'Full batches that may wait for storage; beyond it points are dropped.',
  ),
  'batch-timeout': duration('1s', 'A batch that is not full is written after this time.'),
};

/** One section per protocol; each may occur several times. */
export const LISTENER_SECTIONS = {
  udp: configSections('Listeners for line protocol in UDP datagrams.', {
    enabled: boolean(false, 'Listen.'),
    'bind-address': text(':8089', 'Address and port.'),
    database: text('udp', 'Where points go; created when it does not exist.'),
    'retention-policy': text('', 'Empty is the default one.'),
    precision: text('', 'Unit of timestamps; empty is nanoseconds.', {
      allowed: ['', 'n', 'ns', 'u', 'ms', 's', 'm', 'h'],
    }),
    ...listenerBatches,
    'read-buffer': integer(
      0,
      'Receive buffer of the socket in bytes; 0 is the default of the system.',
    ),
  }),
  graphite: configSections('Listeners for Graphite plaintext.', {
    enabled: boolean(false, 'Listen.'),
    'bind-address': text(':2003', 'Address and port.'),
    database: text('graphite', 'Where points go; created when it does not exist.'),
    'retention-policy': text('', 'Empty is the default one.'),
    protocol: text('tcp', 'Transport.', { allowed: ['tcp', 'udp'] }),
    ...listenerBatches,
    'consistency-level': text('one', 'Accepted for old files; without meaning on a single node.'),
    separator: text('.', 'Joins parts that a template names more than once.'),
    'udp-read-buffer': integer(
      0,
      'Receive buffer of the socket in bytes; 0 is the default of the system.',
    ),
    tags: textList('Tags of all points, written key=value.'),
    templates: textList('Templates, written [filter] template [key=value,...].'),
  }),
  collectd: configSections('Listeners for the binary protocol of collectd.', {
    enabled: boolean(false, 'Listen.'),
    'bind-address': text(':25826', 'Address and port.'),
    database: text('collectd', 'Where points go; created when it does not exist.'),
    'retention-policy': text('', 'Empty is the default one.'),
    ...listenerBatches,
    'batch-timeout': duration('10s', 'A batch that is not full is written after this time.'),
    'read-buffer': integer(
      0,
      'Receive buffer of the socket in bytes; 0 is the default of the system.',
    ),
    typesdb: text(
      '/usr/share/collectd/types.db',
      'File of value types, or a folder of such files.',
    ),
    'security-level': text('none', 'What packets must be.', {
      allowed: ['none', 'sign', 'encrypt'],
    }),
    'auth-file': text('/etc/collectd/auth_file', 'File of users and passwords, user: password.'),
    'parse-multivalue-plugin': text('split', 'One point per value, or one with several fields.', {
      allowed: ['split', 'join'],
    }),
  }),
  opentsdb: configSections('Listeners for OpenTSDB, telnet and HTTP.', {
    enabled: boolean(false, 'Listen.'),
    'bind-address': text(':4242', 'Address and port.'),
    database: text('opentsdb', 'Where points go; created when it does not exist.'),
    'retention-policy': text('', 'Empty is the default one.'),
    'allowed-hosts': BORDER_KEYS['allowed-hosts'],
    'allowed-origins': BORDER_KEYS['allowed-origins'],
    'tls-enabled': boolean(false, 'Speak TLS.'),
    certificate: text('', 'File of certificate and key, PEM.'),
    'log-point-errors': boolean(true, 'Log points that can not be read.'),
    'batch-size': integer(1000, 'Points that make a batch.'),
    'batch-pending': integer(
      5,
      'Full batches that may wait for storage; beyond it points are dropped.',
    ),
    'batch-timeout': duration('1s', 'A batch that is not full is written after this time.'),
  }),
} as const;

export type ListenerConfig = ConfigOf<typeof LISTENER_SECTIONS>;
