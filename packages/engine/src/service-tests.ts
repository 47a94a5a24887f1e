// Service tests: try an integration with real connections and tell whether it worked.
import { AppError, InvalidRequest, NotFound } from '@tidemark/core';
import {
  convertOption,
  defaultOptions,
  flag,
  HANDLER_KINDS,
  printOption,
  str,
  text,
} from '@tidemark/alerting';
import type {
  HandlerContext,
  JsonValue,
  Options,
  OptionSpec,
  ServiceTestSpec,
} from '@tidemark/alerting';
import type { Clusters } from './database/clusters.ts';

export type ServiceTestView = {
  readonly name: string;
  readonly options: Readonly<Record<string, JsonValue>>;
};

export type ServiceTestResult = { readonly success: boolean; readonly message: string };

type Test = {
  readonly name: string;
  readonly options: readonly OptionSpec[];
  readonly run: (options: Options, context: HandlerContext) => Promise<void>;
};

export type ServiceTestsOptions = {
  readonly clusters: Clusters;
  readonly context: Omit<HandlerContext, 'signal' | 'publish'>;
  /** Services beside handlers and the database, for example scrapers. */
  readonly more: readonly ServiceTestSpec[];
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
      ...options.more,
    ].sort((a, b) => (a.name < b.name ? -1 : 1));
    this.#tests = new Map(tests.map((test) => [test.name, test]));
  }

  /** All tests in order of their names, with default options taken from the configuration where it has them. */
  list(): readonly ServiceTestView[] {
    return [...this.#tests.values()].map((test) => this.#view(test));
  }

  get(name: string): ServiceTestView {
    return this.#view(this.#require(name));
  }

  /** Runs a test; options that are not given have their defaults. Only options that can not be read are an error. */
  async run(name: string, given: Readonly<Record<string, unknown>>): Promise<ServiceTestResult> {
    const test = this.#require(name);
    const options: Record<string, Options[string]> = { ...this.#defaults(test) };
    for (const spec of test.options) {
      const value = given[spec.name];
      if (value === undefined) continue;
      const converted = convertOption(spec.type, value);
      if (!converted.ok) {
        throw new InvalidRequest(
          `failed to decode JSON body:option ${spec.name}: ${converted.reason}`,
        );
      }
      options[spec.name] = converted.value;
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
      // That the service does not work is the result, whatever the reason is.
      return { success: false, message: messageOf(error) };
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
        test.options.map((spec) => [spec.name, printOption(options[spec.name] ?? spec.default)]),
      ),
    };
  }

  // Options of the same name as in the service's section start with what is configured there, secrets excepted.
  #defaults(test: Test): Options {
    const defaults = { ...defaultOptions(test.options) };
    const kind = HANDLER_KINDS.find((each) => each.tests?.some(({ name }) => name === test.name));
    const section = kind?.section;
    const configured =
      section === undefined ? undefined : this.#options.context.section(section.name);
    if (configured === undefined || section === undefined) return defaults;
    for (const spec of test.options) {
      const own = section.options.find(({ name }) => name === spec.name);
      const isEmpty = defaults[spec.name] === '' || defaults[spec.name] === null;
      const value = configured[spec.name];
      if (own === undefined || own.isSecret === true || !isEmpty || value === undefined) continue;
      if (own.type === spec.type) defaults[spec.name] = value;
    }
    return defaults;
  }
}

function clusterTests(clusters: Clusters): readonly Test[] {
  return ['tsdb', 'influxdb'].map((name) => ({
    name,
    options: [str('cluster', 'Name of the cluster; empty is the default one.')],
    run: async (options) => {
      const cluster = clusters.cluster(text(options, 'cluster'));
      if (!flag(cluster, 'enabled')) throw new InvalidRequest('service is not enabled');
      await clusters.ping(text(options, 'cluster'));
    },
  }));
}

function messageOf(error: unknown): string {
  if (error instanceof AppError) return error.message;
  return error instanceof Error ? error.message : String(error);
}
