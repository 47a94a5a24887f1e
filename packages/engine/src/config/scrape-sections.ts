// Sections of scrapers and of the discoverers that find their targets. They can be overridden like
// all others.
import {
  INSECURE_SKIP_VERIFY,
  TLS_FILES,
  bool,
  checkUrl,
  defineSection,
  duration,
  enabled,
  json,
  list,
  port,
  secret,
  str,
  texts,
} from '@tidemark/settings';
import type { OptionsOf, SectionSpec } from '@tidemark/settings';

/** Options of all discoverers. */
export const IDENTITY = {
  ...enabled(),
  id: str('Name under which scrapers refer to it.', 'default'),
};

const REFRESH_DOC = 'How often targets are looked up again.';

export const STATIC_DISCOVERY = defineSection({
  name: 'static-discovery',
  doc: 'Targets of scrapers that are written down.',
  elementKey: 'id',
  options: {
    ...IDENTITY,
    targets: list('Addresses, host:port.'),
    labels: texts('Tags of everything scraped there.'),
  },
  validate: (options) => (options.enabled ? requireId(options) : undefined),
});

export const FILE_DISCOVERY = defineSection({
  name: 'file-discovery',
  doc: 'Targets of scrapers that files list, JSON or YAML: `[{"targets": ["host:port"], "labels": {}}]`.',
  elementKey: 'id',
  options: {
    ...IDENTITY,
    files: list('Paths; the last part may be a glob. They end in .json, .yml or .yaml.'),
    'refresh-interval': duration(REFRESH_DOC, '5m'),
  },
  validate: (options) => {
    if (!options.enabled) return undefined;
    const odd = (options.files ?? []).find((file) => !/\.(json|yml|yaml)$/.test(file));
    return odd === undefined ? requireId(options) : `path name ${odd} is not valid for discovery`;
  },
});

export const DNS_DISCOVERY = defineSection({
  name: 'dns',
  doc: 'Targets of scrapers that name servers know.',
  elementKey: 'id',
  options: {
    ...IDENTITY,
    'record-names': list('Names to look up.'),
    'refresh-interval': duration(REFRESH_DOC, '30s'),
    type: str('Kind of record: A, AAAA or SRV.', 'SRV'),
    port: port('Port of A and AAAA records.', 80),
  },
  validate: (options) => {
    if (!options.enabled) return undefined;
    const type = options.type.toUpperCase();
    if (!['A', 'AAAA', 'SRV'].includes(type)) {
      return `invalid DNS-SD records type ${JSON.stringify(options.type)}`;
    }
    return requireId(options);
  },
});

const scraperOptions = {
  ...enabled(),
  name: str('Name of the scraper.', 'default'),
  type: str('Format of the pages.', 'prometheus'),
  db: str('Database of the points.', 'prometheus'),
  rp: str('Retention policy of the points.', 'autogen'),
  scheme: str('`http` or `https`.', 'http'),
  'metrics-path': str('Path of the page.', '/metrics'),
  params: json('Parameters of the request.'),
  'scrape-interval': duration('Time between two scrapes.', '1m'),
  'scrape-timeout': duration('Longest time of one.', '10s'),
  username: str('User.'),
  password: secret('Password.'),
  'bearer-token': secret('Token; used instead of user and password.'),
  'proxy-url': str('Not supported: must be empty.'),
  ...TLS_FILES,
  ...INSECURE_SKIP_VERIFY,
  'discoverer-id': str('Which element of the discoverer’s section.'),
  'discoverer-service': str('`static-discovery`, `file-discovery` or `dns`.'),
  blacklist: list('Addresses that are left out.'),
  isolate: bool('Accepted for old files; has no effect.'),
};

/** Settings of one scraper. */
export type ScraperSettings = OptionsOf<typeof scraperOptions>;

export const SCRAPER = defineSection({
  name: 'scraper',
  doc: 'Scrapers of Prometheus exporters; what they get is written to the tasks.',
  elementKey: 'name',
  options: scraperOptions,
  validate: validateScraper,
});

export const DISCOVERY_SECTIONS = [DNS_DISCOVERY, FILE_DISCOVERY, STATIC_DISCOVERY] as const;

export const SCRAPE_SECTIONS: readonly SectionSpec[] = [...DISCOVERY_SECTIONS, SCRAPER];

function validateScraper(options: ScraperSettings): string | undefined {
  if (!options.enabled) return undefined;
  if (options.name === '') return 'scraper must be given a name';
  if (options.type !== 'prometheus') return `unknown scraper type ${options.type}`;
  if (options.db === '') return 'scraper must be given a db';
  if (options.rp === '') return 'scraper must be given an rp';
  const scheme = options.scheme;
  if (scheme !== 'http' && scheme !== 'https') return `invalid scheme ${JSON.stringify(scheme)}`;
  if (options['proxy-url'] !== '') return 'proxy-url is not supported';
  if (options['discoverer-id'] === '') return 'scraper must be given a discoverer-id';
  const service = options['discoverer-service'];
  if (!DISCOVERY_SECTIONS.some(({ name }) => name === service)) {
    return `unknown discoverer service ${JSON.stringify(service)}`;
  }
  return checkUrl('url', `${scheme}://host${options['metrics-path']}`);
}

function requireId(options: { readonly id: string }): string | undefined {
  return options.id === '' ? 'discoverer must be given an id' : undefined;
}
