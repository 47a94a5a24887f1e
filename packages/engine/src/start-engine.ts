// The service from start to stop: the order in which its parts are opened and closed.
import {
  lockDirectory,
  makeDirectory,
  narrowAndLog,
  PRIVATE_DIRECTORY,
  requestBodyBudget,
} from '@tidemark/process';
import { Resolver } from 'node:dns/promises';
import { openAll, systemClock } from '@tidemark/core';
import type { Clock, OpenParts } from '@tidemark/core';
import type { EngineConfig } from './config/config.ts';
import type { EngineService, StartEngineOptions } from './engine-service.ts';
import { TSDB_SECTION } from './config/cluster-section.ts';
import { ownDatabaseOf, withDefaultCluster } from './database/default-cluster.ts';
import { checkExposure, listenAddress } from './config/exposure.ts';
import { LoadDirectory } from './tasks/load-directory.ts';
import { borderOf, openServer, tlsOf } from './http/open-server.ts';
import { StartingListener } from './http/starting.ts';
import { openInputs } from './open-inputs.ts';
import { openJobs } from './open-jobs.ts';
import { StepTimes } from './observability/step-times.ts';
import { openAlerting } from './open-alerting.ts';
import type { Alerting } from './open-alerting.ts';
import type { OpenedEngine, OpenEngineOptions } from './member/cluster-member.ts';
import { openStores } from './open-stores.ts';
import type { Stores } from './open-stores.ts';
import { openTasks } from './open-tasks.ts';
import { RestartableEngine } from './restartable.ts';
import { feedPoints, keepTasks, resumeTasks } from './run-tasks.ts';
import { RestoreUpload } from './store/restore-upload.ts';
import type { KeyLocation } from './store/store-cipher.ts';
import type { Restore } from './http/restore-routes.ts';
import type { TaskParts } from './open-tasks.ts';
import { Scrapers } from './scrape/scrapers.ts';
import { SCRAPE_SECTIONS } from './config/scrape-sections.ts';
import { repairStore } from './store/store-repair.ts';
import { Ticker } from './ticker.ts';

/**
 * Opens the engine's directory, starts its tasks and listens. Rejects when any of it fails; nothing
 * stays open then.
 */
export async function startEngine(
  config: EngineConfig,
  options: StartEngineOptions,
): Promise<EngineService> {
  checkExposure(config);
  return openAll(
    async (parts) => {
      await openDirectory(config, options, parts);
      if (!config.cluster.enabled) return openRestartable(config, options, parts);
      // Only loaded with a cluster.
      const { openClusterMember } = await import('./member/cluster-member.ts');
      return openClusterMember(config, { ...options, openEngine }, parts);
    },
    (error) => options.log.error({ err: error }, 'a part could not be closed'),
  );
}

/** As `openEngine`, for an engine that can be restarted with a backup. */
async function openRestartable(
  config: EngineConfig,
  options: StartEngineOptions,
  parts: OpenParts,
): Promise<EngineService> {
  const { log, clock = systemClock() } = options;
  const { http } = config;
  const service = await RestartableEngine.open({
    directory: config[''].dataDir,
    clock,
    log,
    open: (restoring, url) => {
      const bindAddress = url === undefined ? http.bindAddress : withPort(http.bindAddress, url);
      return openAll(
        (inner) =>
          openEngine(
            { ...config, http: { ...http, bindAddress } },
            { ...options, restoring },
            inner,
          ),
        (error) => log.error({ err: error }, 'a part could not be closed'),
      );
    },
  });
  parts.add(() => service.close());
  return {
    get url() {
      return service.url;
    },
    reload: () => service.reload(),
    close: () => parts.close(),
  };
}

/** The configured address with the actual port. */
function withPort(bindAddress: string, url: string): string {
  return bindAddress.replace(/:\d+$/, `:${new URL(url).port}`);
}

/** Opens the engine on a directory that is this process's. */
async function openEngine(
  given: EngineConfig,
  options: OpenEngineOptions,
  parts: OpenParts,
): Promise<OpenedEngine> {
  const config = withDefaultCluster(given, options.defaultTsdbUrl);
  const { log, pageKey, proxy, restoring, resolver = new Resolver(), environment = {} } = options;
  const clock = options.clock ?? systemClock();
  const startedMs = clock.monotonicMs();
  const address = listenAddress(config.http.bindAddress);
  const starting =
    proxy === undefined
      ? await openStarting(config, { address, clock, pageKey }, parts)
      : undefined;
  const stores = await openStores(
    {
      config,
      clock,
      log,
      environment,
      skipsOverrides: options.skipConfigOverrides === true,
      ownDatabase: ownDatabaseOf(options),
      shared: options.shared,
      settingsUnder: options.settingsUnder,
    },
    parts,
  );
  const steps = new StepTimes(clock);
  const alerting = openAlerting(stores, parts);
  steps.end('alerting');
  const taskParts = await openTasks(stores, alerting, parts);
  steps.end('hosts');
  const service = { isListening: false };
  await resumeTasks(stores, taskParts, service, parts);
  steps.end('tasks');
  feedPoints(stores, taskParts, parts);
  steps.end('points');
  const jobs = await openJobs(stores, alerting, taskParts, parts);
  const load = await openLoadDirectory(stores, alerting, taskParts, parts);
  const bodies = requestBodyBudget(config.http, clock);
  const inputs = await openInputs(stores, { ...taskParts, bodies }, parts);
  const scrape = {
    http: stores.http,
    sections: stores.overrides,
    writes: taskParts.writes,
    clock,
    log: stores.logs.logger('scraper'),
    resolver,
  };
  const scrapers = new Scrapers(scrape);
  const { sideloads, subscriptions } = taskParts;
  const reload = async (): Promise<void> => {
    if (config.load.enabled) await load.load();
    await sideloads.reload();
  };
  const { server, reporter } = openServer(
    { stores, alerting, taskParts, jobs, load, inputs, scrapers, scrape, bodies },
    {
      startedMs,
      pageKey: proxy?.secret ?? pageKey,
      isBehindProxy: proxy !== undefined,
      reload,
      restore: openRestore(config, { restoring, environment }, parts),
    },
    parts,
  );
  await stores.overrides.follow([TSDB_SECTION], () => subscriptions.requestSync());
  await server.ready();
  starting?.stopListening();
  const url = proxy?.url ?? (await server.listen(address.host, address.port));
  starting?.answerWith(server.answer);
  service.isListening = true;
  steps.end('server');
  stores.logs.logger('service')('info', 'the engine serves', { tookMs: steps.tookMs });
  parts.add(() => subscriptions.close());
  subscriptions.start(Number(new URL(url).port));
  keepTasks(stores, taskParts, parts);
  parts.add(() => scrapers.close());
  await stores.overrides.follow(SCRAPE_SECTIONS, () => scrapers.update());
  if (config.stats.enabled) {
    const intervalMs = Math.max(100, config.stats.statsIntervalMs);
    const ticker = new Ticker(clock, intervalMs, () => reporter.report());
    parts.add(() => ticker.close());
  }
  return {
    url,
    answer: server.answer,
    writes: taskParts.writes,
    reload,
    close: () => parts.close(),
  };
}

/** Clients cannot know a port that is chosen later. */
async function openStarting(
  config: EngineConfig,
  {
    address,
    clock,
    pageKey,
  }: {
    readonly address: { readonly host: string; readonly port: number };
    readonly clock: Clock;
    readonly pageKey: string | undefined;
  },
  parts: OpenParts,
): Promise<StartingListener | undefined> {
  if (address.port === 0) return undefined;
  const { compatPaths, requestTimeoutMs } = config.http;
  const starting = await StartingListener.open(
    {
      border: borderOf(config, pageKey),
      clock,
      hasCompatiblePaths: compatPaths,
      requestTimeoutMs,
      tls: tlsOf(config),
    },
    address,
  );
  parts.add(() => starting.close());
  return starting;
}

/** Takes the directory for this process and repairs what is in it. */
async function openDirectory(
  config: EngineConfig,
  { log, environment = {} }: Pick<StartEngineOptions, 'log' | 'environment'>,
  parts: OpenParts,
): Promise<void> {
  const { dataDir: directory, secretsKey: setting } = config[''];
  const startsEmpty = config[''].startEmpty;
  makeDirectory(directory, { setting: 'data_dir (--data-dir)', mode: PRIVATE_DIRECTORY });
  const lock = await lockDirectory(directory, { kind: 'engine', ownerFile: 'engine-owner.json' });
  parts.add(() => lock.release());
  narrowAndLog(directory, (level, message, fields) => log[level](fields, message));
  await repairStore({ directory, setting, environment, startsEmpty }, log);
}

/** Restores backups; not in a cluster, whose instances share the metadata. */
function openRestore(
  config: EngineConfig,
  {
    restoring,
    environment,
  }: Pick<OpenEngineOptions, 'restoring'> & {
    readonly environment: KeyLocation['environment'];
  },
  parts: OpenParts,
): Restore | undefined {
  if (restoring === undefined) return undefined;
  const { dataDir: directory, secretsKey: setting } = config[''];
  const upload = new RestoreUpload({ directory, setting, environment });
  parts.add(() => upload.close());
  return { ...restoring, upload };
}

async function openLoadDirectory(
  { config, clock, metadata, logs }: Stores,
  { alerts }: Alerting,
  { tasks, templates }: TaskParts,
  parts: OpenParts,
): Promise<LoadDirectory> {
  const { dir: directory, enabled, watchIntervalMs } = config.load;
  const load = new LoadDirectory({
    directory,
    metadata,
    tasks,
    templates,
    alerts,
    log: logs.logger('load'),
  });
  if (!enabled) return load;
  // A file that was broken meanwhile is logged; it must not keep everything else from starting.
  await load.loadIfChanged();
  if (watchIntervalMs > 0) {
    const ticker = new Ticker(clock, watchIntervalMs, () => load.loadIfChanged());
    parts.add(() => ticker.close());
  }
  return load;
}
