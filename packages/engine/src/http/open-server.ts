// Opens the API with all its endpoints, and the statistics that it shows.
import type { Budget, DocumentRecord, OpenParts } from '@tidemark/core';
import type { PointSources } from '@tidemark/listeners';
import type { EngineConfig } from '../config/config.ts';
import { listenAddress } from '../config/exposure.ts';
import type { LoadDirectory } from '../tasks/load-directory.ts';
import type { Jobs } from '../open-jobs.ts';
import { clusterStatistics, debugVars, metricsText, serviceStatistics } from './debug-vars.ts';
import { integers, Reporter } from '../statistics/reporter.ts';
import type { Alerting } from '../open-alerting.ts';
import type { Stores } from '../open-stores.ts';
import { identityOf } from '../open-tasks.ts';
import type { TaskParts } from '../open-tasks.ts';
import { TryOuts } from '../try-out/try-outs.ts';
import type { Scrapers, ScrapersOptions } from '../scrape/scrapers.ts';
import { ServiceTests } from './service-tests.ts';
import { addAlertGroupRoutes } from './alert-group-routes.ts';
import { addAlertHistoryRoutes } from './alert-history-routes.ts';
import { addAlertRoutes } from './alert-routes.ts';
import { Audit } from './audit.ts';
import { addClusterRoutes } from './cluster-routes.ts';
import { addConfigRoutes } from './config-routes.ts';
import { addDocumentRoutes } from './document-routes.ts';
import { addHealthRoute } from './health-route.ts';
import { addJobRoutes } from './job-routes.ts';
import { addLiveRoute } from './live-route.ts';
import { addLogRoutes } from './log-routes.ts';
import type { NodeServerOptions } from './node-server.ts';
import { addOperationRoutes } from './operation-routes.ts';
import { addPprofRoutes } from './pprof-routes.ts';
import { addRestoreRoutes } from './restore-routes.ts';
import type { Restore } from './restore-routes.ts';
import { HttpServer } from './server.ts';
import { addServiceRoutes } from './service-routes.ts';
import { addTapRoutes } from './tap-routes.ts';
import { addTaskRoutes } from './task-routes.ts';
import { addTryOutRoutes } from './try-out-routes.ts';
import { addWriteRoutes } from './write-routes.ts';
import { BorderGuard, Documents, LocalDocuments } from '@tidemark/process';

/** The parts that endpoints use. */
export type Served = {
  /** Memory for all bodies of the process. */
  readonly bodies: Budget;
  readonly stores: Stores;
  readonly alerting: Alerting;
  readonly taskParts: TaskParts;
  readonly jobs: Jobs;
  readonly load: LoadDirectory;
  readonly inputs: PointSources;
  readonly scrapers: Scrapers;
  readonly scrape: ScrapersOptions;
};

export type ServerChoice = {
  /** By the monotonic clock. */
  readonly startedMs: number;
  readonly pageKey: string | undefined;
  /** The leader proxy of this process listens, and gives it the requests. */
  readonly isBehindProxy: boolean;
  /** Reads the load directory and sideload sources again. */
  readonly reload: () => Promise<void>;
  readonly restore: Restore | undefined;
};

/** Creates the server with its endpoints; it does not listen yet. Closed with `parts`. */
export function openServer(
  served: Served,
  choice: ServerChoice,
  parts: OpenParts,
): { readonly server: HttpServer; readonly reporter: Reporter } {
  const { config, clock, logs } = served.stores;
  const audit = new Audit({
    directory: config[''].dataDir,
    keepBytes: config.http.auditKeepSizeBytes,
    clock,
    log: logs.logger('audit'),
  });
  parts.add(() => audit.close());
  const server = makeServer(served, audit, choice);
  const { stop } = served.stores;
  parts.add(() => server.close(stop.leftFor('points')));
  audit.addRoute(server);
  const reporter = makeReporter(served, server);
  addDefinitionRoutes(server, served);
  addRestoreRoutes(server, choice.restore);
  addServingRoutes(server, served, { ...choice, reporter });
  return { server, reporter };
}

function addDefinitionRoutes(server: HttpServer, served: Served): void {
  const { stores, alerting, taskParts, jobs, scrape } = served;
  const { clock, clusters, metadata, overrides, redactor } = stores;
  const { redact } = redactor;
  const { executor, balance } = taskParts;
  const replayOf: Parameters<typeof addTapRoutes>[1]['replayOf'] = (replayId, taskId) =>
    jobs.replays.executing(replayId, taskId);
  addTaskRoutes(server, { ...taskParts, redact, replayOf });
  addTapRoutes(server, { executor, clock, replayOf });
  addJobRoutes(server, { ...jobs, clock });
  const { alerts } = alerting;
  const tryOuts = new TryOuts({ ...stores, ...taskParts, ...jobs, alerts, redact });
  addTryOutRoutes(server, { tryOuts, clock });
  addAlertRoutes(server, alerts);
  addAlertHistoryRoutes(server, { alerts, clock });
  addAlertGroupRoutes(server, { executor, alerts });
  addConfigRoutes(server, overrides);
  const tests = new ServiceTests({ clusters, context: alerting.context, scrape, redact });
  addOperationRoutes(server, { metadata, tests });
  const records = metadata.table<DocumentRecord>('documents');
  const documents = new Documents(new LocalDocuments(records), clock);
  addDocumentRoutes(server, { documents, log: stores.logs.logger('http') });
  addClusterRoutes(server, { shared: stores.shared, executor, balance });
}

function addServingRoutes(
  server: HttpServer,
  { stores, alerting, taskParts }: Served,
  { startedMs, reload, reporter }: ServerChoice & { readonly reporter: Reporter },
): void {
  const { config, clock, logs, redactor } = stores;
  const { subscriptions, metrics, sideloads, writes } = taskParts;
  addLiveRoute(server);
  addHealthRoute(server, { ...taskParts, ...alerting, shared: stores.shared });
  if (config.http.pprofEnabled) addPprofRoutes(server, clock, redactor.redact);
  addWriteRoutes(server, {
    writes,
    defaultRetentionPolicy: config[''].defaultRetentionPolicy,
    logs,
    isTracingWrites: config.http.writeTracing,
  });
  addLogRoutes(server, { ...taskParts, logs });
  addServiceRoutes(server, {
    reload,
    debugVars: async () => {
      await reporter.refresh();
      const uptimeMs = clock.monotonicMs() - startedMs;
      return debugVars({ ...identityOf(stores), ...taskParts, uptimeMs }, reporter);
    },
    metrics: async () => {
      await reporter.refresh();
      return metricsText(reporter, metrics);
    },
    reloadSideloads: () => sideloads.reload(),
    relinkSubscriptions: () => subscriptions.sync(),
  });
}

function makeReporter(
  { stores, alerting, taskParts, load, inputs, scrapers }: Served,
  server: HttpServer,
): Reporter {
  const { config, clock, clusters, logs } = stores;
  const { executor, router } = taskParts;
  return new Reporter({
    executor,
    router,
    clusters,
    clock,
    log: logs.logger('stats'),
    server: identityOf(stores),
    database: config.stats.database,
    retentionPolicy: config.stats.retentionPolicy,
    storeDatabase: config.stats.enabled ? config.stats.storeDatabase : '',
    more: () => [
      ...serviceStatistics({ ...taskParts, ...alerting }, server),
      ...inputs.statistics().map(({ kind, bind, counters }) => ({
        name: kind,
        tags: { bind },
        values: integers(counters),
      })),
      ...scrapers.statistics(),
      { name: 'load', tags: {}, values: integers({ errors: load.errors.size }) },
      ...clusterStatistics(stores.shared, executor, taskParts.balance),
    ],
  });
}

function makeServer(
  { bodies, stores, taskParts }: Served,
  audit: Audit,
  { pageKey, isBehindProxy }: ServerChoice,
): HttpServer {
  const { config, clock, logs, redactor, authenticator } = stores;
  return new HttpServer({
    clock,
    bodyBytesMax: config.http.maxBodySizeBytes,
    bodies,
    requestTimeoutMs: config.http.requestTimeoutMs,
    hasCompatiblePaths: config.http.compatPaths,
    isLogging: config.http.logEnabled,
    metrics: taskParts.metrics,
    log: logs.logger('http'),
    redact: redactor.redact,
    authorize: (request) => authenticator?.authorize(request),
    audit,
    border: borderOf(config, pageKey),
    realm: config.http.realm,
    tls: isBehindProxy ? undefined : tlsOf(config),
  });
}

/** The border checks of requests to the configured address. */
export function borderOf(config: EngineConfig, pageKey: string | undefined): BorderGuard {
  return new BorderGuard({
    section: 'http',
    boundHost: listenAddress(config.http.bindAddress).host,
    isOpen: !config.http.authEnabled,
    // The name under which the database delivers.
    ownNames: [config[''].hostname],
    allowedHosts: config.http.allowedHosts,
    allowedOrigins: config.http.allowedOrigins,
    trustedProxies: config.http.trustedProxies,
    pageKey,
  });
}

export function tlsOf({ http, tls }: EngineConfig): NodeServerOptions['tls'] {
  if (!http.httpsEnabled) return undefined;
  return {
    certificateFile: http.httpsCertificate,
    keyFile: http.httpsPrivateKey,
    options: {
      minVersion: tls.minVersion === 'tls1.3' ? 'TLSv1.3' : 'TLSv1.2',
      maxVersion: tls.maxVersion === 'tls1.2' ? 'TLSv1.2' : 'TLSv1.3',
      ...(tls.ciphers.length === 0 ? {} : { ciphers: tls.ciphers.join(':') }),
    },
  };
}
