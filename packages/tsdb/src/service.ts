// The service from start to stop: what is opened, in which order, and how it is closed again.
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { hostname } from 'node:os';
import { join } from 'node:path';

import {
  assert,
  Budget,
  Conflict,
  formatRfc3339,
  InvalidRequest,
  isLoopback,
  messageOf,
  parseBind,
  TIDEMARK_VERSION,
  RequestMetrics,
} from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { makeDirectory } from '@tidemark/core/make-directory';
import { narrowAndTell, PRIVATE_DIRECTORY } from '@tidemark/core/private-files';
import { openStorage } from '@tidemark/storage';
import type { StorageEngine, StorageLog } from '@tidemark/storage';
import type { FastifyInstance } from 'fastify';
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose';
import type { Logger } from 'pino';

import { Authenticator } from './auth/authenticator.ts';
import { BackupService } from './backup/backup-service.ts';
import { Catalog } from './catalog/catalog.ts';
import type { CatalogState } from './catalog/model.ts';
import type { TsdbConfig } from './config/schema.ts';
import { Dispatch } from './http/dispatch.ts';
import type { Exchange } from './http/exchange.ts';
import { borderOf, Listeners } from './http/listen.ts';
import type { BorderedListener } from './http/listen.ts';
import { Refuser } from './http/malformed.ts';
import { answerWhileRecovering } from './http/recovering.ts';
import type { HttpServices, ServiceState } from './http/services.ts';
import { BackgroundJobs } from './background/jobs.ts';
import { storeStart, storeStatistics } from './background/monitor.ts';
import { enforceRetention } from './background/retention.ts';
import { ContinuousQueries } from './continuous/continuous-queries.ts';
import { openListeners } from './listeners/listeners.ts';
import { Subscriber } from './subscriber/subscriber.ts';
import { runtimeModule } from './stats/runtime.ts';
import { AccessLog } from './log/access-log.ts';
import { AuditLog } from './log/audit-log.ts';
import { QueryMemories } from './query/query-memory.ts';
import { RunningQueries } from './query/running-queries.ts';
import { Rehearsal } from './rehearsal/rehearsal.ts';
import type { RehearsalOptions } from './rehearsal/rehearsal.ts';
import { RequestTracker } from './stats/request-counts.ts';
import {
  budgetCounters,
  httpCounters,
  moduleOf,
  queryCounters,
  Statistics,
  writeCounters,
} from './stats/statistics.ts';
import { METRIC_PREFIX } from './stats/metric-table.ts';
import { storageStatistics } from './stats/storage-statistics.ts';
import { serviceDiagnostics } from './stats/diagnostics.ts';
import { policyRef } from './write/policy-ref.ts';
import { PrecisionDoubts } from './write/precision-doubt.ts';
import { RejectedLog } from './write/rejected-lines.ts';
import { WriteService } from './write/write-service.ts';
import { LIMITS } from './limits.ts';

export type TsdbDependencies = {
  readonly log: Logger;
  readonly clock: Clock;
  /** The storage to use, for tests; default: the embedded one in its thread. */
  readonly openStorage?: typeof openStorage | undefined;
  /** Without it nothing is rehearsed, whatever `data.rehearsal-enabled` says. */
  readonly rehearsal?: RehearsalSettings | undefined;
  /** With which the page's server of this process is believed where its clients are. */
  readonly pageKey?: string | undefined;
};

export type RehearsalSettings = Pick<RehearsalOptions, 'rounds' | 'quietMs'> & {
  /** Told when it is over, however it ended. */
  readonly onEnd?: (() => void) | undefined;
};

/** A running service. */
export interface TsdbService {
  readonly url: string;
  /**
   * Rejects with the reason when storage is lost for good; the process should end with a failure.
   * Never resolves. Left alone it is an unhandled rejection, which ends a process too.
   */
  readonly failed: Promise<never>;
  /** Stops accepting, lets running requests end, and closes storage and catalog. Idempotent. */
  close(): Promise<void>;
  /**
   * Reads certificates again and goes on in new log files. Throws when a certificate can not be
   * read; the old one stays.
   */
  reload(): void;
}

/**
 * Starts the service. Throws an `AppError` with a sentence when the configuration or the machine
 * does not allow it.
 */
export async function startTsdb(
  config: TsdbConfig,
  dependencies: TsdbDependencies,
): Promise<TsdbService> {
  requireSafeAddresses(config);
  const opened: (() => Promise<void>)[] = [];
  try {
    return await open(config, dependencies, opened);
  } catch (error) {
    for (const close of opened.reverse()) await close();
    throw error;
  }
}

function requireSafeAddresses({ http }: TsdbConfig): void {
  if (http.authEnabled || http.insecureNoAuth || !http.enabled) return;
  for (const text of http.bindAddress.split(',')) {
    if (isLoopback(parseBind(text, 'http.bind-address').host)) continue;
    throw new InvalidRequest(
      `http.bind-address ${text} can be reached from other machines, and authentication is off: ` +
        'set http.auth-enabled = true, listen on 127.0.0.1, or insist with --insecure-no-auth',
    );
  }
}

async function open(
  config: TsdbConfig,
  dependencies: TsdbDependencies,
  opened: (() => Promise<void>)[],
): Promise<TsdbService> {
  const { clock } = dependencies;
  const { log, setLevel } = adjustableLog(dependencies.log);
  const directory = join(config.data.dir, 'tsdb');
  const metaDirectory = config.meta.dir === '' ? join(directory, 'meta') : config.meta.dir;
  makeDirectory(directory, { setting: 'data.dir (--data-dir)', mode: PRIVATE_DIRECTORY });
  const narrow = (path: string): void =>
    narrowAndTell(path, (level, message, fields) => log[level](fields, message));
  narrow(directory);
  let fail: (reason: Error) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  let state: ServiceState = 'ready';
  const logStorage: StorageLog = (level, message, details) =>
    log[level]({ ...details, part: 'storage' }, message);
  // Its thread reads the log while this one goes on.
  const opening = (dependencies.openStorage ?? openStorage)({
    directory: join(directory, 'data'),
    walFsync: config.data.walFsyncDelayMs > 0 ? 'interval' : 'always',
    walSyncIntervalMs: config.data.walFsyncDelayMs,
    walMaxBytes: config.data.walMaxSizeBytes,
    memtableMaxBytes: config.data.memtableMaxSizeBytes,
    quietFlushAfterMs: config.data.quietFlushAfterMs,
    writeQueueMaxBytes: config.data.writeQueueMaxSizeBytes,
    maxShardsPerWrite: config.data.maxShardsPerWrite,
    maxBadLines: config.data.maxBadLines,
    requestMemoryBytes: config.coordinator.totalQueryMemoryLimitBytes,
    indexCacheBytes: config.data.indexCacheSizeBytes,
    columnCacheBytes: config.data.columnCacheSizeBytes,
    fieldTypes: config.data.fieldTypes === 'measurement' ? 'measurement' : 'shard',
    servesDamaged: config.storage.serveDamaged,
    reserveBytes: config.data.reserveSizeBytes,
    log: logStorage,
    onFatal: (reason) => {
      log.fatal({ err: reason }, 'storage is lost; the service can not go on');
      fail(reason);
    },
    onAvailability: (isAvailable) => {
      state = isAvailable ? 'ready' : 'recovering';
    },
  });
  // Its failure is thrown where it is waited for, which may be later.
  const openedOrNot = opening.catch(() => undefined);
  opened.push(async () => {
    await (await openedOrNot)?.close();
  });
  makeDirectory(metaDirectory, { setting: 'meta.dir', mode: PRIVATE_DIRECTORY });
  narrow(metaDirectory);
  const catalog = await Catalog.open(metaDirectory, {
    reserveBytes: Math.ceil(config.data.reserveSizeBytes / CATALOG_SHARE),
    log: logStorage,
  });
  if (catalog.isMended) log.error('a copy of the catalog is damaged; the other one is used');
  opened.push(() => catalog.close());
  const server = new HttpServer(config, dependencies);
  // Closed by whichever comes first: here when opening fails, otherwise before everything that
  // answers need.
  opened.push(() => server.close());
  await server.open();
  log.info({ urls: server.urls }, 'listening; storage is recovering');
  const storage = await opening;
  await requireCatalogOf(storage, catalog, metaDirectory);
  const limits = {
    maxSeriesPerDatabase: config.data.maxSeriesPerDatabase,
    maxValuesPerTag: config.data.maxValuesPerTag,
  };
  const policies = allPolicies(catalog.state, { now: clock.now(), limits });
  // Nobody sees data of policies that are not there: what can not be dropped now is at the next
  // start.
  await storage.retainPolicies(policies).catch((error: unknown) => {
    log.error({ err: error }, 'data of dropped retention policies could not be removed');
  });
  const services = buildServices(config, {
    log,
    clock,
    catalog,
    storage,
    setLogLevel: setLevel,
    state: () => state,
    tokenKeys: await readKeys(config.http.jwksFile),
  });
  opened.push(async () => {
    await services.accessLog?.close();
    await services.audit.close();
  });
  opened.push(() => services.backups.close());
  await startBackground(services, opened);
  opened.push(() => server.close());
  await server.serve(services);
  const { rehearsal } = dependencies;
  if (rehearsal !== undefined && config.data.rehearsalEnabled) {
    opened.push(startRehearsal(services, { ...rehearsal, log: dependencies.log }));
  }
  log.info({ urls: server.urls, directory }, 'database service is ready');
  let closing: Promise<void> | undefined;
  return {
    url: server.url,
    failed,
    close: () => {
      closing ??= (async () => {
        for (const close of opened.reverse()) await close();
      })();
      return closing;
    },
    reload: () => {
      services.accessLog?.reopen();
      services.audit.reopen();
      server.reload();
    },
  };
}

/**
 * The part of `data.reserve-size` that is kept for the catalog, besides all of it for the points.
 */
const CATALOG_SHARE = 8;

/** A child of the log whose level, and that of its own children, can be changed together. */
function adjustableLog(parent: Logger): {
  readonly log: Logger;
  readonly setLevel: (level: string) => void;
} {
  const log = parent.child({});
  const all = [log];
  // A child keeps the level it was made with. Children are made per part and listener, not per
  // request.
  log.onChild = (child) => void all.push(child);
  return {
    log,
    setLevel: (level) => {
      for (const each of all) each.level = level;
    },
  };
}

/**
 * Everything that works without being asked. Closed after the HTTP interface and before storage.
 */
async function startBackground(
  services: HttpServices,
  opened: (() => Promise<void>)[],
): Promise<void> {
  const { config, clock, log, catalog, storage, statistics, writer } = services;
  if (config.subscriber.enabled) {
    const subscriber = new Subscriber({
      catalog,
      clock,
      config: config.subscriber,
      log: log.child({ part: 'subscriber' }),
      counters: services.writeCounters,
    });
    writer.setSubscriber(subscriber);
    statistics.add(() => subscriber.statistics());
    opened.push(() => subscriber.close());
  }
  const { rejected } = services;
  await openListeners({ config, catalog, writer, clock, log, rejected }, { opened, statistics });
  const jobs = new BackgroundJobs(clock, log);
  opened.push(() => jobs.close());
  if (config.continuousQueries.enabled) {
    const queries = new ContinuousQueries({
      services,
      clock,
      log: log.child({ part: 'continuous-queries' }),
      isLogging: config.continuousQueries.logEnabled,
      ...(config.continuousQueries.queryStatsEnabled && config.monitor.storeEnabled
        ? { statisticsDatabase: config.monitor.storeDatabase }
        : {}),
    });
    statistics.add(() => queries.statistics());
    jobs.start({
      name: 'continuous-queries',
      intervalMs: config.continuousQueries.runIntervalMs,
      runsAtStart: false,
      run: (signal) => queries.runDue(signal),
    });
  }
  if (config.retention.enabled) {
    jobs.start({
      name: 'retention',
      intervalMs: config.retention.checkIntervalMs,
      runsAtStart: true,
      run: async () => {
        await enforceRetention({ catalog, storage, clock, log });
      },
    });
  }
  if (config.monitor.storeEnabled) {
    const monitor = {
      catalog,
      writer,
      statistics,
      clock,
      database: config.monitor.storeDatabase,
      hostname: hostNameOf(config),
    };
    // What nobody asked for does not keep the service from starting: a full disk, say, or rows that
    // wait for one.
    await storeStart(monitor).catch((error: unknown) => {
      log.error({ err: error }, 'statistics could not be stored; the next interval tries again');
    });
    jobs.start({
      name: 'monitor',
      intervalMs: config.monitor.storeIntervalMs,
      runsAtStart: false,
      run: () => storeStatistics(monitor),
    });
  }
}

/** Returns what ends it. Nothing of it is counted, listed or logged, apart from its failure. */
function startRehearsal(
  services: HttpServices,
  { log: parent, onEnd = () => undefined, ...settings }: RehearsalSettings & { log: Logger },
): () => Promise<void> {
  const { clock, config, counters, log, storage, writeCounters } = services;
  // Storage without a thread of its own has nothing to rehearse in.
  const openStorage = storage.rehearsal;
  if (openStorage === undefined) return () => Promise.resolve();
  const silent = parent.child({}, { level: 'silent' });
  const own: TsdbConfig = {
    ...config,
    http: { ...config.http, authEnabled: false, accessLogPath: '', auditLogPath: '' },
  };
  const rehearsal = new Rehearsal({
    ...settings,
    clock,
    openStorage,
    serve: (emptyStorage, catalog) => {
      const listener = requestListener(
        buildServices(own, {
          log: silent,
          clock,
          catalog,
          storage: emptyStorage,
          setLogLevel: () => undefined,
          state: () => 'ready',
          tokenKeys: undefined,
        }),
      );
      // Nobody else reaches it.
      const border = borderOf(own, { boundHost: undefined });
      return (request, response) => listener(request, response, border);
    },
    requests: {
      count: () => counters.req + writeCounters.req,
      isActive: () => counters.reqActive > 0,
    },
  });
  rehearsal.run().then(onEnd, (error: unknown) => {
    log.warn({ err: error }, 'the rehearsal of statements failed');
    onEnd();
  });
  return () => rehearsal.close();
}

function hostNameOf(config: TsdbConfig): string {
  return config[''].hostname === '' ? hostname() : config[''].hostname;
}

/**
 * Shards of policies that the catalog does not know are dropped at start. With a new catalog that
 * would be all of them: a lost file, or a wrong `meta.dir`, must not cost the points.
 */
async function requireCatalogOf(
  storage: StorageEngine,
  catalog: Catalog,
  metaDirectory: string,
): Promise<void> {
  if (!catalog.isNew) return;
  const databases = new Set((await storage.shards()).map((shard) => shard.database));
  if (databases.size === 0) return;
  throw new Conflict(
    `there is data (${[...databases].join(', ')}) but no catalog in ${metaDirectory}: put the catalog back, or restore a backup into a new data directory`,
  );
}

function allPolicies(state: CatalogState, context: Parameters<typeof policyRef>[2]) {
  return [...state.databases.values()].flatMap((database) =>
    database.policies.map((policy) => policyRef(database, policy, context)),
  );
}

function buildServices(
  config: TsdbConfig,
  base: {
    readonly log: Logger;
    readonly clock: Clock;
    readonly catalog: Catalog;
    readonly storage: StorageEngine;
    readonly setLogLevel: (level: string) => void;
    readonly state: () => ServiceState;
    readonly tokenKeys: JWTVerifyGetKey | undefined;
  },
): HttpServices {
  const { tokenKeys, ...shared } = base;
  const { log, clock, catalog, storage } = shared;
  const counters = httpCounters();
  const writes = writeCounters();
  const queryCounts = queryCounters();
  const statistics = new Statistics();
  statistics.add(() => [
    moduleOf('httpd', counters),
    moduleOf('write', writes),
    moduleOf('queryExecutor', queryCounts),
    runtimeModule(),
  ]);
  const bodyBudget = new Budget({
    setting: 'http.body-memory-limit',
    limitBytes: config.http.bodyMemoryLimitBytes,
    waitMs: config.http.bodyMemoryTimeoutMs,
    clock,
    what: 'bodies of requests',
  });
  const queryMemories = new QueryMemories({
    totalBytes: config.coordinator.totalQueryMemoryLimitBytes,
    limitBytes: config.coordinator.queryMemoryLimitBytes,
    waitMs: config.coordinator.queryMemoryTimeoutMs,
    clock,
  });
  statistics.add(() => [
    moduleOf('memory', {
      ...budgetCounters('body', bodyBudget),
      ...budgetCounters('queryBeginning', queryMemories.beginnings),
      ...budgetCounters('queryLarge', queryMemories.large),
    }),
  ]);
  statistics.add(storageStatistics(storage, catalog));
  const startedAt = clock.now();
  return {
    ...shared,
    config,
    counters,
    metrics: new RequestMetrics(METRIC_PREFIX, {
      queries: 'Time from a request with statements to the end of its answer.',
    }),
    writeCounters: writes,
    statistics,
    requests: new RequestTracker(),
    rejected: new RejectedLog(),
    precisionDoubts: new PrecisionDoubts(log),
    accessLog:
      config.http.accessLogPath === ''
        ? undefined
        : new AccessLog(config.http.accessLogPath, clock, log),
    audit: new AuditLog(config.http.auditLogPath, clock, log),
    backups: new BackupService({ catalog, storage, clock }),
    bodies: {
      maxBytes: config.http.maxBodySizeBytes,
      budget: bodyBudget,
    },
    authenticator: new Authenticator({
      catalog,
      clock,
      isEnabled: config.http.authEnabled,
      tokens: { sharedSecret: config.http.sharedSecret, keys: tokenKeys },
    }),
    queries: new RunningQueries({
      clock,
      counters: queryCounts,
      memories: queryMemories,
      maxConcurrent: config.coordinator.maxConcurrentQueries,
      timeoutMs: config.coordinator.queryTimeoutMs,
      slowMs: config.coordinator.logQueriesAfterMs,
      onSlow: (query) => log.warn({ ...query }, 'slow query'),
    }),
    writer: new WriteService({
      catalog,
      storage,
      clock,
      limits: {
        maxSeriesPerDatabase: config.data.maxSeriesPerDatabase,
        maxValuesPerTag: config.data.maxValuesPerTag,
      },
      timeoutMs: config.coordinator.writeTimeoutMs,
      counters: writes,
    }),
    limits: {
      maxSelectPoints: config.coordinator.maxSelectPoint,
      maxSelectSeries: config.coordinator.maxSelectSeries,
      maxSelectBuckets: config.coordinator.maxSelectBuckets,
      maxFilledWindows: config.coordinator.maxFilledWindows,
      maxQueryMemoryBytes: queryMemories.limitBytes,
      maxSubqueryDepth: config.coordinator.maxSubqueryDepth,
      maxSelectSources: config.coordinator.maxSelectSources,
      maxConditionFields: config.coordinator.maxConditionFields,
      maxSelectColumns: config.coordinator.maxSelectColumns,
      maxSelectDimensions: config.coordinator.maxSelectDimensions,
    },
    createsPolicies: config.meta.retentionAutocreate,
    random: Math.random,
    diagnostics: () =>
      serviceDiagnostics({
        config,
        startedAt,
        now: clock.now(),
        hostname: hostNameOf(config),
        version: TIDEMARK_VERSION,
      }),
    nowText: () => formatRfc3339(clock.now()),
    startedText: formatRfc3339(startedAt),
  };
}

async function readKeys(file: string): Promise<JWTVerifyGetKey | undefined> {
  if (file === '') return undefined;
  const { createLocalJWKSet } = await import('jose');
  try {
    return createLocalJWKSet(JSON.parse(readFileSync(file, 'utf8')) as JSONWebKeySet);
  } catch (error) {
    const reason = messageOf(error);
    throw new InvalidRequest(`http.jwks-file can not be read: ${reason}`, { cause: error });
  }
}

/** The HTTP interface: listens first, answers everything once it may `serve`. */
class HttpServer {
  readonly #config: TsdbConfig;
  readonly #clock: Clock;
  readonly #listeners: Listeners;
  #onRequest: BorderedListener;
  #queries: RunningQueries | undefined;
  #closing: Promise<void> | undefined;

  constructor(config: TsdbConfig, { clock, pageKey }: Pick<TsdbDependencies, 'clock' | 'pageKey'>) {
    const { http } = config;
    const settings = { hasCompatHeaders: http.compatRoutes, extra: http.headers };
    this.#config = config;
    this.#clock = clock;
    this.#listeners = new Listeners(new Refuser(settings, clock), pageKey);
    this.#onRequest = (request, response, border) =>
      answerWhileRecovering(request, response, settings, border);
  }

  /** Of the first address; empty when HTTP is switched off. */
  get url(): string {
    return this.urls[0] ?? '';
  }

  get urls(): readonly string[] {
    return this.#listeners.urls;
  }

  /**
   * Starts to listen. Until `serve`, only liveness is answered. What was opened stays open when it
   * throws.
   */
  async open(): Promise<void> {
    if (!this.#config.http.enabled) return;
    await this.#listeners.open(this.#config, (...request) => this.#onRequest(...request));
  }

  /** Answers everything from now on. */
  async serve(services: HttpServices): Promise<void> {
    this.#queries = services.queries;
    this.#onRequest = requestListener(services);
  }

  reload(): void {
    this.#listeners.reloadCertificates(this.#config);
  }

  /** Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#drain();
    return this.#closing;
  }

  async #drain(): Promise<void> {
    const timer = new AbortController();
    const cut = (async () => {
      await this.#clock.sleep(LIMITS.drainMs.value, timer.signal);
      this.#queries?.close();
      await this.#clock.sleep(LIMITS.cutMs.value, timer.signal);
      this.#listeners.closeAllConnections();
    })().catch(() => undefined); // Drained in time.
    await this.#listeners.close();
    timer.abort();
    await cut;
    this.#queries?.close();
  }
}

/**
 * Hot paths directly, everything else through fastify. That is loaded with the first request that
 * needs it: some 400 files of it and what it brings take longer than opening the data.
 */
function requestListener(services: HttpServices): BorderedListener {
  const dispatch = new Dispatch(services);
  const exchanges = new WeakMap<IncomingMessage, Exchange>();
  const exchangeOf = (request: IncomingMessage): Exchange => {
    const exchange = exchanges.get(request);
    assert(exchange !== undefined, 'every request has an exchange before it is routed');
    return exchange;
  };
  const load = async (): Promise<FastifyInstance> => {
    const { buildRoutes } = await import('./http/routes.ts');
    return buildRoutes(dispatch, exchangeOf);
  };
  let routes: Promise<FastifyInstance> | undefined;
  const hot = new Set(['/write', '/query', '/ping']);
  return (request, response, border) => {
    const exchange = dispatch.open(request, response, border);
    if (exchange.refusal !== undefined) return dispatch.refuse(exchange, exchange.refusal);
    if (hot.has(exchange.path)) {
      void dispatch.answer(dispatch.endpoint(exchange.path), exchange); // Never rejects.
      return;
    }
    exchanges.set(request, exchange);
    routes ??= load();
    routes.then(
      (loaded) => loaded.routing(request, response),
      (error: unknown) => {
        services.log.error({ err: error }, 'routes could not be made');
        response.destroy();
      },
    );
  };
}
