// Service tests: try an integration with real connections and report whether it worked.
import { InvalidRequest, messageOf, NotFound, Unavailable } from '@tidemark/core';
import { defineTest, HANDLER_KINDS } from '@tidemark/alerting';
import type { HandlerContext, ServiceTestSpec } from '@tidemark/alerting';
import { convertOption, defaultOptions, printOption, str } from '@tidemark/settings';
import type { JsonValue, Options } from '@tidemark/settings';
import type { Clusters } from '../database/clusters.ts';
import { scalerCluster } from '../config/scaler-clusters.ts';
import { targetsOf, tryScraper } from '../scrape/scrapers.ts';
import type { ScrapersOptions } from '../scrape/scrapers.ts';
import { DISCOVERY_SECTIONS } from '../config/scrape-sections.ts';

export type ServiceTestView = {
  readonly name: string;
  readonly options: Readonly<Record<string, JsonValue>>;
};

export type ServiceTestResult = { readonly success: boolean; readonly message: string };

type Test = ServiceTestSpec;

export type ServiceTestsOptions = {
  readonly clusters: Clusters;
  readonly context: Omit<HandlerContext, 'signal' | 'publish'>;
  readonly scrape: ScrapersOptions;
  /** Hides secrets in results. */
  readonly redact: (text: string) => string;
};

const TEST_TIMEOUT_MS = 30_000;

export class ServiceTests {
  readonly #options: ServiceTestsOptions;
  readonly #tests: ReadonlyMap<string, Test>;

  constructor(options: ServiceTestsOptions) {
    this.#options = options;
    const tests = [
      ...clusterTests(options.clusters),
      ...HANDLER_KINDS.flatMap((kind) => kind.tests ?? []),
      ...scalerTests(),
      ...scrapeTests(options.scrape),
      ...absentTests(),
    ].sort((a, b) => (a.name < b.name ? -1 : 1));
    this.#tests = new Map(tests.map((test) => [test.name, test]));
  }

  /**
   * All tests in order of their names, with default options taken from the configuration where it
   * has them.
   */
  list(): readonly ServiceTestView[] {
    return [...this.#tests.values()].map((test) => this.#view(test));
  }

  get(name: string): ServiceTestView {
    return this.#view(this.#require(name));
  }

  /** Runs a test; omitted options have their defaults. Only invalid options are an error. */
  async run(name: string, given: Readonly<Record<string, unknown>>): Promise<ServiceTestResult> {
    const test = this.#require(name);
    const options: Record<string, Options[string]> = { ...this.#defaults(test) };
    for (const [option, spec] of Object.entries(test.options)) {
      const value = given[option];
      if (value === undefined) continue;
      const converted = convertOption(spec, value);
      if (!converted.ok) {
        throw new InvalidRequest(
          `failed to decode JSON body:option ${option}: ${converted.reason}`,
        );
      }
      options[option] = converted.value;
    }
    const { clock } = this.#options.context;
    const deadline = new AbortController();
    const done = new AbortController();
    clock.sleep(TEST_TIMEOUT_MS, done.signal).then(
      () => deadline.abort(new Error(`no answer within ${TEST_TIMEOUT_MS} ms`)),
      // Answered in time.
      () => undefined,
    );
    try {
      await test.run(options, {
        ...this.#options.context,
        publish: () => undefined,
        signal: deadline.signal,
      });
      return { success: true, message: '' };
    } catch (error) {
      // A service that does not work is a result of the test, whatever the reason.
      return { success: false, message: this.#options.redact(messageOf(error)) };
    } finally {
      done.abort();
    }
  }

  #require(name: string): Test {
    const test = this.#tests.get(name);
    if (test === undefined) throw new NotFound(`service ${JSON.stringify(name)} not found`);
    return test;
  }

  #view(test: Test): ServiceTestView {
    const options = this.#defaults(test);
    return {
      name: test.name,
      options: Object.fromEntries(
        Object.entries(test.options).map(([option, spec]) => [
          option,
          printOption(options[option] ?? spec.default),
        ]),
      ),
    };
  }

  // The options of the service's section are the test's defaults, if the test uses them.
  #defaults(test: Test): Options {
    const defaults: Record<string, Options[string]> = { ...defaultOptions(test.options) };
    const kind = HANDLER_KINDS.find((each) => each.tests?.some(({ name }) => name === test.name));
    const configured = kind?.section && this.#options.context.section(kind.section);
    for (const name of test.configured ?? []) {
      const value = configured?.[name];
      const isEmptyList = value === null && Array.isArray(defaults[name]);
      if (value !== undefined && !isEmptyList) defaults[name] = value;
    }
    return defaults;
  }
}

/** Services of Kapacitor that this engine does not have: their tests report that. */
const ABSENT_SERVICES: readonly (readonly [name: string, option: string])[] = [
  ['azure', 'id'],
  ['consul', 'id'],
  ['gce', 'id'],
  ['marathon', 'id'],
  ['nerve', 'id'],
  ['serverset', 'id'],
  ['triton', 'id'],
];

function scrapeTests(scrape: ScrapersOptions): readonly Test[] {
  const discoverers = DISCOVERY_SECTIONS.map(({ name }) =>
    defineTest({
      name,
      options: { id: str('Element of the configuration.') },
      run: async (options) => {
        await whenEnabled(targetsOf(name, options.id, scrape));
      },
    }),
  );
  const scraper = defineTest({
    name: 'scraper',
    options: {
      name: str('Element of the configuration.'),
    },
    run: (options) => whenEnabled(tryScraper(options.name, scrape)),
  });
  return [...discoverers, scraper];
}

async function whenEnabled(test: Promise<unknown>): Promise<void> {
  try {
    await test;
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    throw new InvalidRequest('service is not enabled', { cause: error });
  }
}

function absentTests(): readonly Test[] {
  return ABSENT_SERVICES.map(([name, option]) => ({
    name,
    options: {
      [option]: str('Element of the configuration.'),
    },
    run: () => Promise.reject(new InvalidRequest('service is not enabled')),
  }));
}

/** A request without effects for each provider of autoscale nodes. */
const SCALER_QUESTIONS = [
  { name: 'kubernetes', kind: 'k8s', method: 'GET', path: '/version', body: '' },
  { name: 'swarm', kind: 'swarm', method: 'GET', path: '/version', body: '' },
  {
    name: 'ec2',
    kind: 'ec2',
    method: 'POST',
    path: '/',
    body: 'Action=DescribeAccountLimits&Version=2011-01-01',
  },
] as const;

function scalerTests(): readonly Test[] {
  return SCALER_QUESTIONS.map(({ name, kind, method, path, body }) =>
    defineTest({
      name,
      options: {
        id: str('Element of the configuration.'),
      },
      run: async (options, context) => {
        const cluster = scalerCluster(
          { sections: context, clock: context.clock },
          kind,
          options.id,
        );
        if (cluster === undefined) throw new InvalidRequest('service is not enabled');
        const type: Readonly<Record<string, string>> =
          body === '' ? {} : { 'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8' };
        const request = {
          method,
          url: `${cluster.url.replace(/\/$/, '')}${path}`,
          headers: type,
          body,
        };
        const signed = (await cluster.sign?.(request)) ?? request;
        const { status } = await context.http.send(signed, context.signal);
        if (status < 200 || status > 299)
          throw new Unavailable(`${method} ${path} answered ${status}`);
      },
    }),
  );
}

function clusterTests(clusters: Clusters): readonly Test[] {
  return ['tsdb', 'influxdb'].map((name) =>
    defineTest({
      name,
      options: {
        cluster: str('Name of the cluster; empty is the default one.'),
      },
      run: async (options) => {
        const cluster = clusters.cluster(options.cluster);
        if (!cluster.enabled) throw new InvalidRequest('service is not enabled');
        await clusters.ping(options.cluster);
      },
    }),
  );
}
