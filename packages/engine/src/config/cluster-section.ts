// The section of the clusters of the database that tasks read from and write to.
import {
  INSECURE_SKIP_VERIFY,
  TLS_FILES,
  bool,
  checkUrl,
  defineSection,
  duration,
  enabled,
  integer,
  json,
  list,
  port,
  secret,
  socketBuffer,
  str,
} from '@tidemark/settings';
import type { OptionsOf } from '@tidemark/settings';

const SUBSCRIPTION_PROTOCOLS = ['http', 'https', 'udp'];

const options = {
  ...enabled(true),
  name: str('Name of the cluster.', 'default'),
  default: bool('The cluster that is meant where none is named.'),
  urls: list('URLs of its servers; requests go round, a dead one is skipped.'),
  username: str('User.'),
  password: secret('Password.'),
  token: secret('Token; used instead of user and password.'),
  timeout: duration('Longest time of a request; 0 is no limit.'),
  ...INSECURE_SKIP_VERIFY,
  ...TLS_FILES,
  'disable-subscriptions': bool('Subscribe to nothing, and remove its own subscriptions.'),
  'subscription-mode': str(
    'Who shares a subscription: `cluster` (all engines) or `server`.',
    'cluster',
  ),
  'subscription-protocol': str('`http`, `https` or `udp`.', 'http'),
  'subscription-path': str('Path in front of `/write` in the destination.'),
  subscriptions: json('Retention policies by database; none means all.'),
  'excluded-subscriptions': json('Retention policies by database to leave out.'),
  hostname: str('Name under which the database reaches this engine; empty is the common one.'),
  'http-port': port('Port under which the database reaches this engine.'),
  'udp-bind': str('Address on which UDP subscriptions listen.'),
  'udp-buffer': integer('Packets that may wait.', 1000),
  'udp-read-buffer': socketBuffer('Receive buffer of the socket in bytes.'),
  'startup-timeout': duration(
    'Accepted for old files: the engine starts without its database and keeps trying to reach it.',
    '5m',
  ),
  'subscriptions-sync-interval': duration('How often subscriptions are compared.', '1m'),
  compression: str('`gzip` or `none`: how writes are sent.', 'gzip'),
};

/** Settings of one cluster. */
export type Cluster = OptionsOf<typeof options>;

/** Clusters of the database that tasks read from and write to. */
export const TSDB_SECTION = defineSection({
  name: 'tsdb',
  aliases: ['influxdb'],
  doc: 'Clusters of the database that tasks read from and write to.',
  elementKey: 'name',
  options,
  validate: validateCluster,
  validateAll: (elements) => {
    const used = elements.filter((options) => options.enabled);
    const defaults = used.filter((options) => options.default);
    if (used.length < 2) return undefined;
    return defaults.length === 1 ? undefined : 'exactly one tsdb cluster must be the default';
  },
});

function validateCluster(cluster: Cluster): string | undefined {
  if (!cluster.enabled) return undefined;
  if (cluster.name === '') return 'tsdb cluster must be given a name';
  const urls = cluster.urls ?? [];
  if (urls.length === 0) return 'must specify at least one tsdb URL';
  for (const url of urls) {
    const problem = checkUrl('url', url);
    if (problem !== undefined) return problem;
  }
  const protocol = cluster['subscription-protocol'];
  if (!SUBSCRIPTION_PROTOCOLS.includes(protocol)) {
    return `invalid subscription protocol, must be one of 'udp', 'http' or 'https', got ${protocol}`;
  }
  const mode = cluster['subscription-mode'];
  if (!['cluster', 'server'].includes(mode)) {
    return `invalid subscription mode, must be one of 'cluster' or 'server', got ${mode}`;
  }
  const compression = cluster.compression;
  return ['gzip', 'none', ''].includes(compression)
    ? undefined
    : `invalid compression, must be 'gzip' or 'none', got ${compression}`;
}
