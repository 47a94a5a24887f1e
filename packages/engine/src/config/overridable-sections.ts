// Sections whose options can be overridden through the API while the engine runs: the clusters of
// the database, clusters that autoscale nodes act on, and one section per service that handlers
// use. One table for the file, the API and the environment.
import { HANDLER_KINDS } from '@tidemark/alerting';
import {
  bool,
  checkUrl,
  enabled,
  flag,
  INSECURE_SKIP_VERIFY,
  list,
  secret,
  str,
  strings,
  text,
  TLS_FILES,
} from '@tidemark/settings';
import type { Options, SectionSpec } from '@tidemark/settings';
import { SCALER_SECTIONS } from '../services/scaler-clusters.ts';
import { SCRAPE_SECTIONS } from '../scrape/sections.ts';

const SUBSCRIPTION_PROTOCOLS = ['http', 'https', 'udp'];

/** Clusters of the database that tasks read from and write to. */
export const TSDB_SECTION: SectionSpec = {
  name: 'tsdb',
  aliases: ['influxdb'],
  doc: 'Clusters of the database that tasks read from and write to.',
  elementKey: 'name',
  options: [
    enabled(true),
    str('name', 'Name of the cluster.', 'default'),
    bool('default', 'The cluster that is meant where none is named.'),
    list('urls', 'URLs of its servers; requests go round, a dead one is skipped.'),
    str('username', 'User.'),
    secret('password', 'Password.'),
    secret('token', 'Token; used instead of user and password.'),
    {
      name: 'timeout',
      type: 'duration',
      default: 0n,
      doc: 'Longest time of a request; 0 is no limit.',
    },
    INSECURE_SKIP_VERIFY,
    ...TLS_FILES,
    bool('disable-subscriptions', 'Subscribe to nothing; own subscriptions are removed.'),
    str(
      'subscription-mode',
      'Who shares a subscription: `cluster` (all engines) or `server`.',
      'cluster',
    ),
    str('subscription-protocol', '`http`, `https` or `udp`.', 'http'),
    str('subscription-path', 'Path in front of `/write` in the destination.'),
    {
      name: 'subscriptions',
      type: 'json',
      default: null,
      doc: 'Retention policies by database; none means all.',
    },
    {
      name: 'excluded-subscriptions',
      type: 'json',
      default: null,
      doc: 'Retention policies by database to leave out.',
    },
    str('hostname', 'Name under which the database reaches this engine; empty is the common one.'),
    {
      name: 'http-port',
      type: 'integer',
      default: 0,
      doc: 'Port under which the database reaches this engine.',
    },
    str('udp-bind', 'Address on which UDP subscriptions listen.'),
    { name: 'udp-buffer', type: 'integer', default: 1000, doc: 'Packets that may wait.' },
    {
      name: 'udp-read-buffer',
      type: 'integer',
      default: 0,
      doc: 'Receive buffer of the socket in bytes.',
    },
    {
      name: 'startup-timeout',
      type: 'duration',
      default: 300_000_000_000n,
      doc: 'How long a cluster may be away at start.',
    },
    {
      name: 'subscriptions-sync-interval',
      type: 'duration',
      default: 60_000_000_000n,
      doc: 'How often subscriptions are compared.',
    },
    str('compression', '`gzip` or `none`: how writes are sent.', 'gzip'),
  ],
  validate: validateCluster,
  validateAll: (elements) => {
    const used = elements.filter((options) => flag(options, 'enabled'));
    const defaults = used.filter((options) => flag(options, 'default'));
    if (used.length < 2) return undefined;
    return defaults.length === 1 ? undefined : 'exactly one tsdb cluster must be the default';
  },
};

function validateCluster(options: Options): string | undefined {
  if (!flag(options, 'enabled')) return undefined;
  if (text(options, 'name') === '') return 'tsdb cluster must be given a name';
  const urls = strings(options, 'urls');
  if (urls.length === 0) return 'must specify at least one tsdb URL';
  for (const url of urls) {
    const problem = checkUrl({ url }, 'url');
    if (problem !== undefined) return problem;
  }
  const protocol = text(options, 'subscription-protocol');
  if (!SUBSCRIPTION_PROTOCOLS.includes(protocol)) {
    return `invalid subscription protocol, must be one of 'udp', 'http' or 'https', got ${protocol}`;
  }
  const mode = text(options, 'subscription-mode');
  if (!['cluster', 'server'].includes(mode)) {
    return `invalid subscription mode, must be one of 'cluster' or 'server', got ${mode}`;
  }
  const compression = text(options, 'compression');
  return ['gzip', 'none', ''].includes(compression)
    ? undefined
    : `invalid compression, must be 'gzip' or 'none', got ${compression}`;
}

/** All overridable sections, in order of their names. */
export const OVERRIDABLE_SECTIONS: readonly SectionSpec[] = [
  TSDB_SECTION,
  ...SCALER_SECTIONS,
  ...SCRAPE_SECTIONS,
  ...HANDLER_KINDS.map((kind) => kind.section).filter((section) => section !== undefined),
].sort((a, b) => (a.name < b.name ? -1 : 1));

/** The section of that name, which may be an older one. */
export function findSection(name: string): SectionSpec | undefined {
  return OVERRIDABLE_SECTIONS.find(
    (section) => section.name === name || section.aliases?.includes(name) === true,
  );
}
