// All endpoints with their dependencies: hot paths are called directly, everything else goes
// through fastify.
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';

import { assert, RequestMetrics } from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';
import { Documents, openAuditRecord } from '@tidemark/process';
import type { FastifyInstance } from 'fastify';
import type { JWTVerifyGetKey } from 'jose';
import type { Logger } from 'pino';

import { Authenticator } from '../auth/authenticator.ts';
import { BackupService } from '../backup/backup-service.ts';
import type { KeptDocuments } from '../catalog/document-files.ts';
import type { TsdbConfig } from '../config/schema.ts';
import { AccessLog } from '../log/access-log.ts';
import { AuditLog } from '../log/audit-log.ts';
import type { Execution } from '../execution.ts';
import { METRIC_PREFIX } from '../stats/metric-table.ts';
import { RequestTracker } from '../stats/request-counts.ts';
import { httpCounters, moduleOf } from '../stats/statistics.ts';
import { PrecisionDoubts } from '../write/precision-doubt.ts';
import type { RejectedLog } from '../write/rejected-lines.ts';
import { handleAudit } from './audit-route.ts';
import { handleBackup, handleRestore } from './backup-routes.ts';
import { handleFluxQuery } from './compat-routes.ts';
import { handleContinuousRun } from './continuous-run-route.ts';
import { Dispatch } from './dispatch.ts';
import { handleDocuments } from './document-route.ts';
import { ENDPOINTS } from './endpoints.ts';
import type { EndpointPath, Handle } from './endpoints.ts';
import type { Exchange } from './exchange.ts';
import { handleIdentity, handleMe } from './identity-route.ts';
import type { BorderedListener } from './listen.ts';
import { handleLogLevel } from './log-level-route.ts';
import {
  handleCpuProfile,
  handleHeapSnapshot,
  handleProfileIndex,
  refuseProfiles,
} from './profile-routes.ts';
import { handlePrometheusRead, handlePrometheusWrite } from './prometheus-routes.ts';
import { handleQuery, queryTexts } from './query-route.ts';
import type { Readiness } from './readiness.ts';
import {
  handleDebugRejected,
  handleDebugRequests,
  handleDebugVars,
  handleHealth,
  handleMetrics,
  handlePing,
  handleReplicas,
  handleSlowQueries,
  handleStatus,
  sendLive,
} from './status-routes.ts';
import { handleTokens } from './token-routes.ts';
import { behindGate, WriteGate } from './write-gate.ts';
import { handleWrite, handleWriteV2 } from './write-route.ts';

export type HttpInterfaceOptions = {
  readonly config: TsdbConfig;
  readonly log: Logger;
  readonly execution: Execution;
  readonly documents: KeptDocuments;
  /** Rejected lines of all protocols. */
  readonly rejected: RejectedLog;
  /** Absent: tokens signed with a private key are refused. */
  readonly tokenKeys: JWTVerifyGetKey | undefined;
  readonly startedAt: Timestamp;
  /** The state for /health, for which /ping waits. */
  readonly readiness: Readiness;
  /** Sets the level of the service's log and its children. */
  readonly setLogLevel: (level: string) => void;
};

/** Answers requests; owns the logs of requests, and their backups. */
export class HttpInterface {
  readonly #log: Logger;
  readonly #counters = httpCounters();
  readonly #accessLog: AccessLog | undefined;
  readonly #audit: AuditLog;
  readonly #backups: BackupService;
  readonly #dispatch: Dispatch;
  readonly #exchanges = new WeakMap<IncomingMessage, Exchange>();
  #routes: Promise<FastifyInstance> | undefined;

  constructor(options: HttpInterfaceOptions) {
    const { config, execution, log } = options;
    const { http } = config;
    const { catalog, clock, statistics, storage } = execution.statements;
    this.#log = log;
    if (http.logEnabled) {
      const except = http.suppressWriteLog ? ['/write'] : [];
      this.#accessLog = new AccessLog({ path: http.accessLogPath, except, clock, log });
    }
    const record = openAuditRecord({
      directory: join(config.data.dir, 'tsdb', 'audit'),
      maxBytes: http.auditKeepSizeBytes,
      onError: (error) => log.error({ err: error }, 'the audit record cannot be written'),
    });
    this.#audit = new AuditLog({ path: http.auditLogPath, record, clock, log });
    const documents = new Documents(options.documents.store, clock);
    this.#backups = new BackupService({
      catalog,
      storage,
      clock,
      documents: { files: options.documents.files, all: documents },
    });
    statistics.add(() => [moduleOf('httpd', this.#counters)]);
    const authenticator = new Authenticator({
      catalog,
      clock,
      isEnabled: http.authEnabled,
      passwordCost: config.meta.passwordCost,
      tokens: { sharedSecret: http.sharedSecret, keys: options.tokenKeys },
    });
    const requests = new RequestTracker();
    const metrics = new RequestMetrics(METRIC_PREFIX, {
      queries: 'Time from a request with statements to the end of its answer.',
    });
    const handlers = this.#handlers(options, { authenticator, documents, metrics, requests });
    this.#dispatch = new Dispatch({
      config: http,
      endpoints: ENDPOINTS.filter(({ isCompat }) => http.compatRoutes || !isCompat).map(
        ({ path, methods, right, summary, isCompat }) => ({
          path,
          methods,
          right,
          summary,
          isCompat,
          handle: handlers[path],
        }),
      ),
      accessLog: this.#accessLog,
      audit: this.#audit,
      authenticator,
      clock,
      counters: this.#counters,
      log,
      metrics,
      requests,
    });
  }

  #handlers(
    options: HttpInterfaceOptions,
    {
      authenticator,
      documents,
      metrics,
      requests,
    }: {
      readonly authenticator: Authenticator;
      readonly documents: Documents;
      readonly metrics: RequestMetrics;
      readonly requests: RequestTracker;
    },
  ): Readonly<Record<EndpointPath, Handle>> {
    const { config, execution, log, rejected, setLogLevel, startedAt, readiness } = options;
    const audit = this.#audit;
    const backups = this.#backups;
    const counters = this.#counters;
    const { bodyBudget, statements } = execution;
    const { catalog, clock, statistics, storage, writer } = statements;
    const bodies = { maxBytes: config.http.maxBodySizeBytes, budget: bodyBudget };
    const { pprofEnabled, strictPrecision } = config.http;
    const write = { bodies, clock, counters, rejected, writer };
    const lines = { ...write, precisionDoubts: new PrecisionDoubts(log) };
    const strictLines = { ...lines, isStrict: strictPrecision };
    const texts = queryTexts(config.coordinator);
    const query = { audit, bodies, config, counters, log, statements, texts };
    const backup = { audit, backups, bodies };
    const restore = { ...backup, monitorDatabase: config.monitor.storeDatabase };
    const profile = (handle: Handle): Handle => (pprofEnabled ? handle : refuseProfiles);
    const gate = new WriteGate({
      maxActive: config.http.maxConcurrentWriteLimit,
      maxWaiting: config.http.maxEnqueuedWriteLimit,
      timeoutMs: config.http.enqueuedWriteTimeoutMs,
      clock,
    });
    const gated = (handle: Handle): Handle => behindGate(gate, handle);
    return {
      '/write': gated((exchange, identity) => handleWrite(exchange, strictLines, identity)),
      '/api/v2/write': gated((exchange, identity) => handleWriteV2(exchange, lines, identity)),
      '/api/v1/prom/write': gated((exchange, identity) =>
        handlePrometheusWrite(exchange, write, identity),
      ),
      '/api/v1/prom/read': (exchange, identity) =>
        handlePrometheusRead(exchange, { bodies, counters, statements }, identity),
      '/query': (exchange, identity) => handleQuery(exchange, query, identity),
      '/api/v2/query': handleFluxQuery,
      '/ping': (exchange) => handlePing(exchange, { counters, readiness }),
      '/status': (exchange) => handleStatus(exchange, { counters, readiness }),
      '/health': (exchange) => handleHealth(exchange, { readiness, storage }),
      '/health/live': async (exchange) => sendLive(exchange),
      '/metrics': (exchange) => handleMetrics(exchange, { metrics, statistics }),
      '/api/tokens': (exchange) => handleTokens(exchange, { audit, bodies, catalog, clock }),
      '/api/identity': (exchange) =>
        handleIdentity(exchange, { audit, authenticator, bodies, catalog, counters }),
      '/api/me': (exchange, identity) => handleMe(exchange, catalog, identity),
      '/api/documents': (exchange, identity) =>
        handleDocuments(exchange, { audit, bodies, documents }, identity),
      '/api/continuous-queries/run': (exchange) =>
        handleContinuousRun(exchange, { audit, bodies, log, statements }),
      '/api/backup': (exchange) => handleBackup(exchange, { ...backup, log }),
      '/api/restore': (exchange) => handleRestore(exchange, restore),
      '/api/audit': (exchange) => handleAudit(exchange, audit),
      '/debug/requests': (exchange) => handleDebugRequests(exchange, { clock, requests }),
      '/debug/vars': (exchange) => handleDebugVars(exchange, { clock, startedAt, statistics }),
      '/debug/rejected': (exchange) => handleDebugRejected(exchange, rejected),
      '/debug/replicas': (exchange) => handleReplicas(exchange, storage),
      '/debug/slow-queries': (exchange) => handleSlowQueries(exchange, statements.queries.slow),
      '/debug/loglevel': (exchange) => handleLogLevel(exchange, { audit, bodies, setLogLevel }),
      '/debug/pprof': profile(handleProfileIndex),
      '/debug/pprof/profile': profile((exchange) => handleCpuProfile(exchange, clock)),
      '/debug/pprof/heap': profile(handleHeapSnapshot),
    };
  }

  /** Requests that are being answered. */
  get activeCount(): number {
    return this.#counters.reqActive;
  }

  /** Number of requests so far. */
  get requestCount(): number {
    return this.#counters.req;
  }

  /** Answers a request. */
  readonly listener: BorderedListener = (request, response, border) => {
    const dispatch = this.#dispatch;
    const exchange = dispatch.open(request, response, border);
    if (exchange.refusal !== undefined) return dispatch.refuse(exchange, exchange.refusal);
    if (HOT.has(exchange.path)) {
      void dispatch.answer(dispatch.endpoint(exchange.path), exchange); // Never rejects.
      return;
    }
    this.#exchanges.set(request, exchange);
    this.#routes ??= this.#loadRoutes();
    this.#routes.then(
      (loaded) => loaded.routing(request, response),
      (error: unknown) => {
        this.#log.error({ err: error }, 'routes could not be made');
        response.destroy();
      },
    );
  };

  /**
   * Loaded with the first request that needs it: the 400 files of fastify and its dependencies take
   * longer than opening the data.
   */
  async #loadRoutes(): Promise<FastifyInstance> {
    const { buildRoutes } = await import('./routes.ts');
    return buildRoutes(this.#dispatch, (request) => {
      const exchange = this.#exchanges.get(request);
      assert(exchange !== undefined, 'every request has an exchange before it is routed');
      return exchange;
    });
  }

  /** Continues in new log files after a rotation has moved the old ones. */
  reopenLogs(): void {
    this.#accessLog?.reopen();
    this.#audit.reopen();
  }

  /** Ends backups and the logs; call it after the last request. */
  async close(): Promise<void> {
    await this.#backups.close();
    await this.#accessLog?.close();
    await this.#audit.close();
  }
}

const HOT: ReadonlySet<string> = new Set([
  '/write',
  '/query',
  '/ping',
  '/health/live',
] satisfies EndpointPath[]);
