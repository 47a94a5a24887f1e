// Starts the service: parts, tasks, endpoints, background work; and stops it in reverse.
import { Resolver } from 'node:dns/promises';
import { join } from 'node:path';
import { BorderGuard, Budget, InvalidRequest, systemClock } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { lockDirectory } from '@tidemark/core/directory-lock';
import { narrowAndTell, PRIVATE_DIRECTORY } from '@tidemark/core/private-files';
import type { DirectoryLock } from '@tidemark/core/directory-lock';
import { makeDirectory } from '@tidemark/core/make-directory';
import { createTask, SeriesTable } from '@tidemark/runtime';
import { HOST_CHECK_MS } from '@tidemark/runtime/host';
import { defaultOptions } from '@tidemark/settings';
import { Authenticator } from './auth/authenticator.ts';
import type { EngineConfig } from './config/config.ts';
import { TSDB_SECTION } from './database/cluster-section.ts';
import { opening } from './opening.ts';
import { closeParts, isTrusted, listenAddress, openParts } from './engine.ts';
import type { EngineParts } from './engine.ts';
import { addAlertRoutes } from './http/alert-routes.ts';
import { addConfigRoutes } from './http/config-routes.ts';
import { addJobRoutes } from './http/job-routes.ts';
import { addHealthRoute } from './http/health-route.ts';
import { addLogRoutes } from './http/log-routes.ts';
import { addServiceRoutes } from './http/service-routes.ts';
import { addWriteRoutes } from './http/write-routes.ts';
import { addOperationRoutes } from './http/operation-routes.ts';
import { HttpServer } from './http/server.ts';
import { addTapRoutes } from './http/tap-routes.ts';
import { addTaskRoutes } from './http/task-routes.ts';
import { debugVars, metricsText, serviceStatistics } from './observability/debug-vars.ts';
import { Subscriptions } from './database/subscriptions.ts';
import { addPprofRoutes } from './http/pprof-routes.ts';
import { LoadDirectory } from './files/load-directory.ts';
import { Recordings } from './jobs/recordings.ts';
import { Replays } from './jobs/replays.ts';
import { integers, Reporter } from './observability/reporter.ts';
import { SCRAPE_SECTIONS } from './scrape/sections.ts';
import { Scrapers } from './scrape/scrapers.ts';
import type { ScrapersOptions } from './scrape/scrapers.ts';
import { ServiceTests } from './services/service-tests.ts';
import { definitionOf, Snapshots } from './tasks/snapshots.ts';
import { ProtocolListeners } from '@tidemark/listeners';
import type { LogSink } from './observability/log-hub.ts';
import { checkTemplate, renderTemplate } from './services/render.ts';
import { repairStore } from './store/store-repair.ts';
import { Ticker } from './ticker.ts';

export type StartEngineOptions = {
  readonly log: LogSink;
  /** Default: the machine's clock. */
  readonly clock?: Clock | undefined;
  /** Database that tasks use when the configuration names no cluster. */
  readonly defaultTsdbUrl?: string | undefined;
  /** Start without applying stored overrides; the configuration may say the same. */
  readonly skipConfigOverrides?: boolean | undefined;
  /** Where secrets `env:NAME` are looked up; default: nowhere. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Asks the name servers for what scrapers look up; default: those of the machine. */
  readonly resolver?: Resolver | undefined;
  /** With which the page's server of this process is believed where its clients are. */
  readonly pageKey?: string | undefined;
};

/** A running engine. */
export type EngineService = {
  /** Where the API answers, without a slash at the end. */
  readonly url: string;
  /** Reads the load directory and sideload sources again. */
  reload(): Promise<void>;
  /**
   * Stops gracefully: acknowledged points are processed, state is saved. Calling it again waits for
   * the same end.
   */
  close(): Promise<void>;
};

/**
 * Opens the engine's directory, starts its tasks and listens. Rejects when any of it does not work.
 */
export async function startEngine(
  config: EngineConfig,
  options: StartEngineOptions,
): Promise<EngineService> {
  checkExposure(config);
  const { dataDir } = config[''];
  makeDirectory(dataDir, { setting: 'data_dir (--data-dir)', mode: PRIVATE_DIRECTORY });
  const lock = await lockDirectory(dataDir, { kind: 'engine', ownerFile: 'engine-owner.json' });
  try {
    narrowAndTell(dataDir, (level, message, fields) => options.log[level](fields, message));
    const place = {
      directory: dataDir,
      setting: config[''].secretsKey,
      environment: options.environment ?? {},
    };
    await repairStore(place, options.log);
    return await openEngine(config, options, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function openEngine(
  config: EngineConfig,
  options: StartEngineOptions,
  lock: DirectoryLock,
): Promise<EngineService> {
  const { resolver = new Resolver(), pageKey, defaultTsdbUrl } = options;
  // Tasks of one thread name series by the same numbers.
  const thread = { series: new SeriesTable() };
  const parts = await openParts({
    config: withDefaultCluster(config, defaultTsdbUrl),
    clock: options.clock ?? systemClock(),
    log: options.log,
    createTask: (pipeline, services, task) => createTask(pipeline, services, task, thread),
    render: renderTemplate,
    checkTemplate,
    environment: options.environment ?? {},
    skipConfigOverrides: options.skipConfigOverrides === true,
    ownDatabase:
      pageKey === undefined || defaultTsdbUrl === undefined
        ? undefined
        : { url: defaultTsdbUrl, pageKey },
  });
  const authenticator = config.http.authEnabled
    ? await Authenticator.open({ ...parts, ...config.http })
    : undefined;
  const service = new RunningEngine(parts, { authenticator, lock, resolver, pageKey });
  try {
    await service.open();
  } catch (error) {
    await service.close();
    throw error;
  }
  return service;
}

/** Endpoints and background work around the parts. */
class RunningEngine implements EngineService {
  readonly #parts: EngineParts;
  readonly #authenticator: Authenticator | undefined;
  readonly #lock: DirectoryLock;
  readonly #server: HttpServer;
  readonly #recordings: Recordings;
  readonly #replays: Replays;
  readonly #reporter: Reporter;
  readonly #snapshots: Snapshots;
  readonly #load: LoadDirectory;
  readonly #tickers: Ticker[] = [];
  readonly #inputs: ProtocolListeners;
  readonly #scrape: ScrapersOptions;
  readonly #scrapers: Scrapers;
  readonly #startedMs: number;
  #subscriptions: Subscriptions | undefined;
  readonly #listening = opening();
  #linking: Promise<void> | undefined;
  #areTasksStarted = false;
  #closing: Promise<void> | undefined;
  url = '';

  constructor(
    parts: EngineParts,
    {
      authenticator,
      lock,
      resolver,
      pageKey,
    }: {
      readonly authenticator: Authenticator | undefined;
      readonly lock: DirectoryLock;
      readonly resolver: Resolver;
      readonly pageKey: string | undefined;
    },
  ) {
    const { config, clock } = parts;
    this.#parts = parts;
    this.#lock = lock;
    this.#authenticator = authenticator;
    this.#startedMs = clock.monotonicMs();
    this.#server = makeServer(parts, { authenticator, pageKey });
    this.#inputs = openInputs(parts);
    this.#scrape = {
      ...parts,
      sections: parts.overrides,
      log: parts.logs.logger('scraper'),
      resolver,
    };
    this.#scrapers = new Scrapers(this.#scrape);
    this.#snapshots = new Snapshots({
      ...parts,
      log: parts.logs.logger('snapshot'),
      alertsStored: () => parts.alerts.stored(),
    });
    this.#recordings = new Recordings({
      ...parts,
      runningMax: config.replay.maxRunning,
      directory: config.replay.dir || join(config[''].dataDir, 'replay'),
    });
    this.#load = new LoadDirectory({
      ...parts,
      directory: config.load.dir,
      log: parts.logs.logger('load'),
    });
    this.#replays = new Replays({
      ...parts,
      runningMax: config.replay.maxRunning,
      recordings: this.#recordings,
    });
    this.#reporter = new Reporter({
      ...parts,
      log: parts.logs.logger('stats'),
      server: {
        hostname: config[''].hostname,
        clusterId: parts.metadata.clusterId,
        serverId: parts.metadata.serverId,
      },
      database: config.stats.database,
      retentionPolicy: config.stats.retentionPolicy,
      storeDatabase: config.stats.enabled ? config.stats.storeDatabase : '',
      more: () => [
        ...serviceStatistics(parts, this.#server, () => this.#subscriptions?.count ?? 0),
        ...this.#inputs.statistics().map(({ kind, bind, counters }) => ({
          name: kind,
          tags: { bind },
          values: integers(counters),
        })),
        ...this.#scrapers.statistics(),
        { name: 'load', tags: {}, values: integers({ errors: this.#load.errors.size }) },
      ],
    });
    this.#addRoutes();
  }

  async open(): Promise<void> {
    const { config, clock, tasks, executor, hooks } = this.#parts;
    hooks.savedState = (id) => {
      // The record may say already what the next start will make of the task.
      const definition = executor.entry(id)?.definition;
      return definition === undefined ? undefined : this.#snapshots.saved({ id, definition });
    };
    hooks.taskStartsAnew = (id) => this.#snapshots.forget(id);
    await this.#recordings.open();
    await this.#replays.open();
    hooks.linked = () => this.#linked();
    hooks.taskStarted = async (id, isNew) => {
      this.#subscriptions?.requestSync();
      // What it misses from now on counts, also when the engine is killed before states are saved
      // the next time.
      if (isNew && executor.hasPosition(id)) await this.#snapshots.save(executor, id);
    };
    await tasks.startEnabled((record) =>
      this.#snapshots.saved({ id: record.id, definition: definitionOf(record) }),
    );
    this.#areTasksStarted = true;
    // A file that somebody broke meanwhile is logged; it must not keep everything else from
    // starting.
    if (config.load.enabled) await this.#load.loadIfChanged();
    await this.#inputs.open();
    const { host, port } = listenAddress(config.http.bindAddress);
    this.url = await this.#server.listen(host, port);
    this.#subscriptions = new Subscriptions({
      ...this.#parts,
      log: this.#parts.logs.logger('subscriptions'),
      clusterId: this.#parts.metadata.clusterId,
      serverId: this.#parts.metadata.serverId,
      hostname: config[''].hostname,
      port: Number(new URL(this.url).port),
      isSecure: config.http.httpsEnabled,
      token: this.#authenticator?.subscriberToken,
    });
    this.#subscriptions.start();
    this.#listening.resolve();
    hooks.checkSection = (section, proposed, caller) =>
      section === TSDB_SECTION
        ? this.#authenticator?.checkClusters(proposed.elements(TSDB_SECTION), caller)
        : undefined;
    hooks.sectionChanged = (section) => {
      if (section === TSDB_SECTION) this.#subscriptions?.requestSync();
      if (SCRAPE_SECTIONS.includes(section)) return this.#scrapers.update();
      return undefined;
    };
    this.#tickers.push(new Ticker(clock, 1000, () => executor.measure()));
    const { hosts } = this.#parts;
    if (hosts !== undefined)
      this.#tickers.push(new Ticker(clock, HOST_CHECK_MS, () => hosts.check()));
    const watchMs = config.load.watchIntervalMs;
    if (config.load.enabled && watchMs > 0) {
      this.#tickers.push(new Ticker(clock, watchMs, () => this.#load.loadIfChanged()));
    }
    await this.#scrapers.update();
    const snapshotMs = config.task.snapshotIntervalMs;
    if (snapshotMs > 0) this.#tickers.push(new Ticker(clock, snapshotMs, () => this.#saveState()));
    if (config.stats.enabled) {
      const intervalMs = Math.max(100, config.stats.statsIntervalMs);
      this.#tickers.push(new Ticker(clock, intervalMs, () => this.#reporter.report()));
    }
  }

  async reload(): Promise<void> {
    if (this.#parts.config.load.enabled) await this.#load.load();
    await this.#parts.sideloads.reload();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { config, router } = this.#parts;
    await this.#subscriptions?.close();
    await this.#server.close();
    await this.#scrapers.close();
    await this.#inputs.close();
    await Promise.all(this.#tickers.map((ticker) => ticker.close()));
    await this.#replays.close();
    await this.#recordings.close();
    await this.#parts.executor.settle(this.url === '' ? 0 : config.http.shutdownTimeoutMs);
    await router.drained();
    // Tasks that were never started must not cost the state they left.
    if (this.#areTasksStarted) await this.#saveState();
    await closeParts(this.#parts, config.http.shutdownTimeoutMs);
    await this.#lock.release();
  }

  /** Resolves when the API listens and the subscriptions at all clusters lead to it. */
  #linked(): Promise<void> {
    this.#linking ??= this.#listening.promise
      .then(() => this.#subscriptions?.sync())
      .catch((error: unknown) => {
        this.#linking = undefined;
        throw error;
      });
    return this.#linking;
  }

  #saveState(): Promise<void> {
    return this.#snapshots.saveAll(this.#parts.executor);
  }

  #addRoutes(): void {
    const { config, logs, metadata, clusters, context, clock, writes, alerts } = this.#parts;
    const server = this.#server;
    addTaskRoutes(server, {
      ...this.#parts,
      replayOf: (replayId, taskId) => this.#replays.executing(replayId, taskId),
    });
    addTapRoutes(server, {
      executor: this.#parts.executor,
      clock,
      replayOf: (replayId, taskId) => this.#replays.executing(replayId, taskId),
    });
    addJobRoutes(server, { recordings: this.#recordings, replays: this.#replays, clock });
    addAlertRoutes(server, alerts);
    addHealthRoute(server, this.#parts);
    addConfigRoutes(server, this.#parts.overrides);
    addOperationRoutes(server, {
      metadata,
      tests: new ServiceTests({
        clusters,
        context,
        scrape: this.#scrape,
        redact: this.#parts.redact,
      }),
    });
    if (config.http.pprofEnabled) addPprofRoutes(server, clock, this.#parts.redact);
    addWriteRoutes(server, {
      writes,
      defaultRetentionPolicy: config[''].defaultRetentionPolicy,
      logs,
      isTracingWrites: config.http.writeTracing,
    });
    addLogRoutes(server, logs);
    addServiceRoutes(server, {
      reload: () => this.reload(),
      debugVars: async () => {
        await this.#reporter.refresh();
        return debugVars(this.#parts, this.#reporter, {
          startedMs: this.#startedMs,
          clock,
          subscriptionCount: this.#subscriptions?.count ?? 0,
        });
      },
      metrics: async () => {
        await this.#reporter.refresh();
        return metricsText(this.#reporter, this.#parts.metrics);
      },
      reloadSideloads: () => this.#parts.sideloads.reload(),
      relinkSubscriptions: () => this.#subscriptions?.sync() ?? Promise.resolve(),
    });
  }
}

// Handlers may run programs and write files: nobody unknown may reach an engine from elsewhere by
// accident.
function checkExposure(config: EngineConfig): void {
  if (isTrusted(config) || config.http.insecureNoAuth) return;
  throw new InvalidRequest(
    `refusing to listen on ${config.http.bindAddress} without authentication; set http.auth-enabled = true, listen on 127.0.0.1, or insist with --insecure-no-auth`,
  );
}

/** The listeners beside HTTP. What they get goes the same way as every write. */
function openInputs({ config, clock, writes, logs }: EngineParts): ProtocolListeners {
  const log = logs.logger('input');
  return new ProtocolListeners({
    config,
    clock,
    writer: {
      writePoints: ({ database, retentionPolicy }, points) => {
        const policy = retentionPolicy || config[''].defaultRetentionPolicy;
        return writes.writePoints({ database, retentionPolicy: policy }, points);
      },
    },
    log: {
      info: (fields, message) => log('info', message, { ...fields }),
      warn: (fields, message) => log('warn', message, { ...fields }),
    },
    // Tasks need no database to exist.
    prepare: () => Promise.resolve(),
    onRejected: (place, rejected) => {
      for (const { text, reason, count = 1 } of rejected) {
        log('warn', 'cannot read what was sent', { ...place, text, reason, count });
      }
    },
  });
}

function withDefaultCluster(config: EngineConfig, url: string | undefined): EngineConfig {
  if (url === undefined || (config.overridable.get('tsdb') ?? []).length > 0) return config;
  const cluster = {
    ...defaultOptions(TSDB_SECTION.options),
    name: 'default',
    default: true,
    urls: [url],
  };
  return { ...config, overridable: new Map([...config.overridable, ['tsdb', [cluster]]]) };
}

function makeServer(
  { config, clock, logs, metrics, redact }: EngineParts,
  {
    authenticator,
    pageKey,
  }: {
    readonly authenticator: Authenticator | undefined;
    readonly pageKey: string | undefined;
  },
): HttpServer {
  return new HttpServer({
    bodyBytesMax: config.http.maxBodySizeBytes,
    bodies: new Budget({
      setting: 'http.body-memory-limit',
      limitBytes: config.http.bodyMemoryLimitBytes,
      waitMs: config.http.bodyMemoryTimeoutMs,
      clock,
      what: 'bodies of requests',
    }),
    requestTimeoutMs: config.http.requestTimeoutMs,
    hasCompatPaths: config.http.compatPaths,
    isLogging: config.http.logEnabled,
    metrics,
    log: logs.logger('http'),
    redact,
    authorize: (request) => authenticator?.authorize(request),
    border: new BorderGuard({
      section: 'http',
      boundHost: listenAddress(config.http.bindAddress).host,
      isOpen: !config.http.authEnabled,
      // The database delivers under this name.
      ownNames: [config[''].hostname],
      allowedHosts: config.http.allowedHosts,
      allowedOrigins: config.http.allowedOrigins,
      trustedProxies: config.http.trustedProxies,
      pageKey,
    }),
    realm: config.http.realm,
    tls: config.http.httpsEnabled
      ? {
          certificateFile: config.http.httpsCertificate,
          keyFile: config.http.httpsPrivateKey,
          options: {
            minVersion: config.tls.minVersion === 'tls1.3' ? 'TLSv1.3' : 'TLSv1.2',
            maxVersion: config.tls.maxVersion === 'tls1.2' ? 'TLSv1.2' : 'TLSv1.3',
            ...(config.tls.ciphers.length === 0 ? {} : { ciphers: config.tls.ciphers.join(':') }),
          },
        }
      : undefined,
  });
}
