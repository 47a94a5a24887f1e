// Sections of scrapers and of the discoverers that tell them what to scrape. They can be overridden
// like all others.
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
import type { Options, OptionSpec, SectionSpec } from '@tidemark/settings';

const REFRESH: OptionSpec = {
  name: 'refresh-interval',
  type: 'duration',
  default: 300_000_000_000n,
  doc: 'How often targets are looked up again.',
};

export const STATIC_DISCOVERY: SectionSpec = {
  name: 'static-discovery',
  doc: 'Targets of scrapers that are written down.',
  elementKey: 'id',
  options: [
    enabled(),
    str('id', 'Name under which scrapers refer to it.', 'default'),
    list('targets', 'Addresses, host:port.'),
    { name: 'labels', type: 'string-map', default: null, doc: 'Tags of everything scraped there.' },
  ],
  validate: (options) => (flag(options, 'enabled') ? requireId(options) : undefined),
};

export const FILE_DISCOVERY: SectionSpec = {
  name: 'file-discovery',
  doc: 'Targets of scrapers that files list, JSON or YAML: `[{"targets": ["host:port"], "labels": {}}]`.',
  elementKey: 'id',
  options: [
    enabled(),
    str('id', 'Name under which scrapers refer to it.', 'default'),
    list('files', 'Paths; the last part may be a glob. They end in .json, .yml or .yaml.'),
    REFRESH,
  ],
  validate: (options) => {
    if (!flag(options, 'enabled')) return undefined;
    const odd = strings(options, 'files').find((file) => !/\.(json|yml|yaml)$/.test(file));
    return odd === undefined ? requireId(options) : `path name ${odd} is not valid for discovery`;
  },
};

export const DNS_DISCOVERY: SectionSpec = {
  name: 'dns',
  doc: 'Targets of scrapers that name servers know.',
  elementKey: 'id',
  options: [
    enabled(),
    str('id', 'Name under which scrapers refer to it.', 'default'),
    list('record-names', 'Names to look up.'),
    { ...REFRESH, default: 30_000_000_000n },
    str('type', 'Kind of record: A, AAAA or SRV.', 'SRV'),
    { name: 'port', type: 'integer', default: 80, doc: 'Port of A and AAAA records.' },
  ],
  validate: (options) => {
    if (!flag(options, 'enabled')) return undefined;
    const type = text(options, 'type').toUpperCase();
    if (!['A', 'AAAA', 'SRV'].includes(type)) {
      return `invalid DNS-SD records type ${JSON.stringify(text(options, 'type'))}`;
    }
    return requireId(options);
  },
};

export const SCRAPER: SectionSpec = {
  name: 'scraper',
  doc: 'Scrapers of Prometheus exporters; what they get is written to the tasks.',
  elementKey: 'name',
  options: [
    enabled(),
    str('name', 'Name of the scraper.', 'default'),
    str('type', 'Format of the pages.', 'prometheus'),
    str('db', 'Database of the points.', 'prometheus'),
    str('rp', 'Retention policy of the points.', 'autogen'),
    str('scheme', '`http` or `https`.', 'http'),
    str('metrics-path', 'Path of the page.', '/metrics'),
    { name: 'params', type: 'json', default: null, doc: 'Parameters of the request.' },
    {
      name: 'scrape-interval',
      type: 'duration',
      default: 60_000_000_000n,
      doc: 'Time between two scrapes.',
    },
    {
      name: 'scrape-timeout',
      type: 'duration',
      default: 10_000_000_000n,
      doc: 'Longest time of one.',
    },
    str('username', 'User.'),
    secret('password', 'Password.'),
    secret('bearer-token', 'Token; used instead of user and password.'),
    str('proxy-url', 'Not supported: must be empty.'),
    ...TLS_FILES,
    { ...INSECURE_SKIP_VERIFY, name: 'insecure-skip-verify' },
    str('discoverer-id', 'Which element of the discoverer’s section.'),
    str('discoverer-service', '`static-discovery`, `file-discovery` or `dns`.'),
    list('blacklist', 'Addresses that are left out.'),
    bool('isolate', 'Accepted for old files; has no effect.'),
  ],
  validate: validateScraper,
};

export const DISCOVERY_SECTIONS: readonly SectionSpec[] = [
  DNS_DISCOVERY,
  FILE_DISCOVERY,
  STATIC_DISCOVERY,
];

export const SCRAPE_SECTIONS: readonly SectionSpec[] = [...DISCOVERY_SECTIONS, SCRAPER];

function validateScraper(options: Options): string | undefined {
  if (!flag(options, 'enabled')) return undefined;
  if (text(options, 'name') === '') return 'scraper must be given a name';
  if (text(options, 'type') !== 'prometheus')
    return `unknown scraper type ${text(options, 'type')}`;
  if (text(options, 'db') === '') return 'scraper must be given a db';
  if (text(options, 'rp') === '') return 'scraper must be given an rp';
  const scheme = text(options, 'scheme');
  if (scheme !== 'http' && scheme !== 'https') return `invalid scheme ${JSON.stringify(scheme)}`;
  if (text(options, 'proxy-url') !== '') return 'proxy-url is not supported';
  if (text(options, 'discoverer-id') === '') return 'scraper must be given a discoverer-id';
  const service = text(options, 'discoverer-service');
  if (!DISCOVERY_SECTIONS.some(({ name }) => name === service)) {
    return `unknown discoverer service ${JSON.stringify(service)}`;
  }
  return checkUrl({ url: `${scheme}://host${text(options, 'metrics-path')}` }, 'url');
}

function requireId(options: Options): string | undefined {
  return text(options, 'id') === '' ? 'discoverer must be given an id' : undefined;
}
