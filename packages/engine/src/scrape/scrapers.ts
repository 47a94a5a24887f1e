// Scrapers: read pages of Prometheus exporters periodically and write their samples to tasks, with
// a measurement per metric and the field `value`. A target that does not respond loses its scrape
// and affects nothing else.
import { AppError, NotFound, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { ListenerPoint } from '@tidemark/listeners';
import { durationMs, tlsOf } from '@tidemark/settings';
import type { HttpSender, Sections } from '@tidemark/settings';
import type { Logger } from '../observability/log-hub.ts';
import type { Statistic } from '../statistics/reporter.ts';
import { Ticker } from '../ticker.ts';
import type { WritePath } from '../ingest/write-path.ts';
import { discover, findDiscoverer } from './discover.ts';
import { SCRAPER } from '../config/scrape-sections.ts';
import type { ScraperSettings } from '../config/scrape-sections.ts';
import type { NameResolver, Target } from './discover.ts';
import { parsePrometheusText } from './prometheus-text.ts';

export type ScrapersOptions = {
  readonly sections: Pick<Sections, 'elements'>;
  readonly http: HttpSender;
  readonly writes: Pick<WritePath, 'writePoints'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly resolver: NameResolver;
};

const PAGE_BYTES_MAX = 64 * 1024 * 1024;
const INTERVAL_MS_MIN = 100;

/** All scrapers of the configuration. */
export class Scrapers {
  readonly #options: ScrapersOptions;
  #running: readonly Scraper[] = [];
  #change: Promise<void> = Promise.resolve();

  constructor(options: ScrapersOptions) {
    this.#options = options;
  }

  /** Applies the present configuration, ending the scrapers of the previous one. */
  update(): Promise<void> {
    this.#change = this.#change.then(async () => {
      await this.#stop();
      this.#running = this.#options.sections
        .elements(SCRAPER)
        .filter((options) => options.enabled)
        .map((options) => new Scraper(options, this.#options));
    });
    return this.#change;
  }

  async close(): Promise<void> {
    await this.#change;
    await this.#stop();
  }

  statistics(): readonly Statistic[] {
    return this.#running.map(({ name, counters }) => ({
      name: 'scraper',
      tags: { scraper: name },
      values: Object.fromEntries(
        Object.entries(counters).map(([counter, value]) => [counter, BigInt(value)]),
      ),
    }));
  }

  async #stop(): Promise<void> {
    await Promise.all(this.#running.map((scraper) => scraper.close()));
    this.#running = [];
  }
}

/** For service tests: the targets of one scraper, or of one element of a discoverer. */
export async function targetsOf(
  service: string,
  id: string,
  { sections, resolver }: Pick<ScrapersOptions, 'sections' | 'resolver'>,
): Promise<readonly Target[]> {
  return discover(findDiscoverer(service, id, sections), resolver);
}

/** Scrapes each target once without writing. Rejects with the first that fails. */
export async function tryScraper(name: string, options: ScrapersOptions): Promise<void> {
  const found = options.sections.elements(SCRAPER).find((each) => each.name === name);
  if (found === undefined || !found.enabled) {
    throw new NotFound(`scraper ${JSON.stringify(name)} is not enabled`);
  }
  const { signal } = new AbortController();
  const targets = await targetsOf(found['discoverer-service'], found['discoverer-id'], options);
  for (const target of targets) await readPage(found, target, { http: options.http, signal });
}

class Scraper {
  readonly name: string;
  readonly counters = { scrapes: 0, failed: 0, samples: 0, bad_lines: 0, dropped: 0 };
  readonly #section: ScraperSettings;
  readonly #options: ScrapersOptions;
  readonly #stopped = new AbortController();
  readonly #ticker: Ticker;
  readonly #first: Promise<void>;
  #targets: readonly Target[] = [];
  #lookedUpMs: number | undefined;

  constructor(section: ScraperSettings, options: ScrapersOptions) {
    this.name = section.name;
    this.#section = section;
    this.#options = options;
    this.#first = this.#scrapeAll();
    const intervalMs = Math.max(INTERVAL_MS_MIN, durationMs(section['scrape-interval']));
    this.#ticker = new Ticker(options.clock, intervalMs, () => this.#scrapeAll());
  }

  async close(): Promise<void> {
    this.#stopped.abort(new Unavailable('scraper is stopped'));
    await this.#ticker.close();
    await this.#first;
  }

  async #scrapeAll(): Promise<void> {
    const { log } = this.#options;
    try {
      await this.#lookUp();
    } catch (error) {
      // The last known targets are still scraped.
      if (!(error instanceof AppError)) throw error;
      log('error', 'failed to look up targets', { scraper: this.name, err: error.message });
    }
    const left = new Set(this.#section.blacklist ?? []);
    const targets = this.#targets.filter(({ address }) => !left.has(address));
    await Promise.all(targets.map((target) => this.#scrape(target)));
  }

  async #lookUp(): Promise<void> {
    const { clock, sections, resolver } = this.#options;
    const service = this.#section['discoverer-service'];
    const id = this.#section['discoverer-id'];
    const discoverer = findDiscoverer(service, id, sections);
    const nowMs = clock.monotonicMs();
    if (this.#lookedUpMs !== undefined && nowMs - this.#lookedUpMs < discoverer.refreshMs) return;
    this.#targets = await discover(discoverer, resolver);
    this.#lookedUpMs = nowMs;
  }

  async #scrape(target: Target): Promise<void> {
    const { http, writes, clock, log } = this.#options;
    const { signal } = this.#stopped;
    this.counters.scrapes++;
    try {
      const page = await readPage(this.#section, target, { http, signal });
      // Scrape times have milliseconds, as with Prometheus.
      const time = (clock.now() / 1_000_000n) * 1_000_000n;
      const { samples, badLines } = parsePrometheusText(page);
      this.counters.bad_lines += badLines.length;
      const points: ListenerPoint[] = [];
      for (const { name, labels, value } of samples) {
        if (!Number.isFinite(value)) continue;
        const tags = tagsOf(name, labels, target);
        points.push({ measurement: name, tags, fields: [['value', value]], time });
      }
      this.counters.samples += points.length;
      const { dropped } = await writes.writePoints(
        { database: this.#section.db, retentionPolicy: this.#section.rp },
        points,
      );
      if (dropped === undefined) return;
      this.counters.dropped += dropped.count;
      const { address } = target;
      const about = { scraper: this.name, target: address };
      log('warn', 'scraped points were dropped', { ...about, ...dropped });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof AppError)) throw error;
      this.counters.failed++;
      const { address } = target;
      log('error', 'failed to scrape', { scraper: this.name, target: address, err: error.message });
    }
  }
}

async function readPage(
  section: ScraperSettings,
  { address }: Target,
  { http, signal }: { readonly http: HttpSender; readonly signal: AbortSignal },
): Promise<string> {
  const url = new URL(`${section.scheme}://${address}${section['metrics-path']}`);
  for (const [name, value] of Object.entries((section['params'] ?? {}) as object)) {
    for (const each of Array.isArray(value) ? value : String(value).split(',')) {
      url.searchParams.append(name, String(each));
    }
  }
  const response = await http.send(
    {
      method: 'GET',
      url: url.href,
      headers: { Accept: 'text/plain;version=0.0.4', ...credentials(section) },
      tls: tlsOf(section),
      timeoutMs: durationMs(section['scrape-timeout']),
      responseBytesMax: PAGE_BYTES_MAX,
    },
    signal,
  );
  if (response.status === 200) return response.body;
  throw new Unavailable(`server returned HTTP status ${response.status}`);
}

function credentials(section: ScraperSettings): Readonly<Record<string, string>> {
  const token = section['bearer-token'];
  if (token !== '') return { Authorization: `Bearer ${token}` };
  const username = section.username;
  if (username === '') return {};
  const pair = Buffer.from(`${username}:${section.password}`).toString('base64');
  return { Authorization: `Basic ${pair}` };
}

// Labels of the page take precedence over those of the target, except `instance`, the address of
// the page.
function tagsOf(
  name: string,
  labels: Iterable<readonly [string, string]>,
  { address, labels: ofTarget }: Target,
): readonly (readonly [string, string])[] {
  const tags = new Map(ofTarget);
  for (const [label, value] of labels) tags.set(label, value);
  tags.delete('job');
  tags.set('__name__', name);
  tags.set('instance', address);
  return [...tags].filter(([, value]) => value !== '').sort(([a], [b]) => (a < b ? -1 : 1));
}
