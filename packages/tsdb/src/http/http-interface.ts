// All endpoints with their dependencies: hot paths are called directly, everything else goes
// through fastify.
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';

import { assert, RequestMetrics } from '@tidemark/core';
import { Documents, openAuditRecord } from '@tidemark/process';
import type { FastifyInstance } from 'fastify';
import type { JWTVerifyGetKey } from 'jose';

import { Authenticator } from '../auth/authenticator.ts';
import { BackupService } from '../backup/backup-service.ts';
import type { KeptDocuments } from '../catalog/document-files.ts';
import { AccessLog } from '../log/access-log.ts';
import { AuditLog } from '../log/audit-log.ts';
import type { Execution } from '../execution.ts';
import { METRIC_PREFIX } from '../stats/metric-table.ts';
import { RequestTracker } from '../stats/request-counts.ts';
import { httpCounters, moduleOf } from '../stats/statistics.ts';
import { PrecisionDoubts } from '../write/precision-doubt.ts';
import { handleAudit } from './audit-route.ts';
import { handleBackup, handleRestore } from './backup-routes.ts';
import { handleFluxQuery } from './compat-routes.ts';
import { handleContinuousRun } from './continuous-run-route.ts';
import { Dispatch } from './dispatch.ts';
import { handleDocuments } from './document-route.ts';
import { ENDPOINTS } from './endpoints.ts';
import type { EndpointPath } from './endpoints.ts';
import type { Exchange } from './exchange.ts';
import { handleIdentity, handleMe } from './identity-route.ts';
import type { BorderedListener } from './listen.ts';
import { handleLogLevel } from './log-level-route.ts';
import {
  handleCpuProfile,
  handleHeapSnapshot,
  handleProfileIndex,
  ifProfiling,
} from './profile-routes.ts';
import type { Handler, HttpParts } from './parts.ts';
import { handlePrometheusRead, handlePrometheusWrite } from './prometheus-routes.ts';
import { handleQuery, queryTexts } from './query-route.ts';
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

export type HttpInterfaceOptions = Pick<
  HttpParts,
  'config' | 'log' | 'readiness' | 'rejected' | 'setLogLevel' | 'startedAt'
> & {
  readonly execution: Execution;
  readonly documents: KeptDocuments;
  /** Absent: tokens signed with a private key are refused. */
  readonly tokenKeys: JWTVerifyGetKey | undefined;
};

const HANDLERS: Readonly<Record<EndpointPath, Handler>> = {
  '/write': behindGate(handleWrite),
  '/api/v2/write': behindGate(handleWriteV2),
  '/api/v1/prom/write': behindGate(handlePrometheusWrite),
  '/api/v1/prom/read': handlePrometheusRead,
  '/query': handleQuery,
  '/api/v2/query': handleFluxQuery,
  '/ping': handlePing,
  '/status': handleStatus,
  '/health': handleHealth,
  '/health/live': sendLive,
  '/metrics': handleMetrics,
  '/api/tokens': handleTokens,
  '/api/identity': handleIdentity,
  '/api/me': handleMe,
  '/api/documents': handleDocuments,
  '/api/continuous-queries/run': handleContinuousRun,
  '/api/backup': handleBackup,
  '/api/restore': handleRestore,
  '/api/audit': handleAudit,
  '/debug/requests': handleDebugRequests,
  '/debug/vars': handleDebugVars,
  '/debug/rejected': handleDebugRejected,
  '/debug/replicas': handleReplicas,
  '/debug/slow-queries': handleSlowQueries,
  '/debug/loglevel': handleLogLevel,
  '/debug/pprof': ifProfiling(handleProfileIndex),
  '/debug/pprof/profile': ifProfiling(handleCpuProfile),
  '/debug/pprof/heap': ifProfiling(handleHeapSnapshot),
};

/** Answers requests; owns the logs of requests, and their backups. */
export class HttpInterface {
  readonly #parts: HttpParts;
  readonly #accessLog: AccessLog | undefined;
  readonly #dispatch: Dispatch;
  readonly #exchanges = new WeakMap<IncomingMessage, Exchange>();
  #routes: Promise<FastifyInstance> | undefined;

  constructor(options: HttpInterfaceOptions) {
    const { config, execution, log, readiness, rejected, setLogLevel, startedAt } = options;
    const { http } = config;
    const { storage } = execution;
    const { catalog, clock, statistics } = execution.statements;
    if (http.logEnabled) {
      const except = http.suppressWriteLog ? ['/write'] : [];
      this.#accessLog = new AccessLog({ path: http.accessLogPath, except, clock, log });
    }
    const record = openAuditRecord({
      directory: join(config.data.dir, 'tsdb', 'audit'),
      maxBytes: http.auditKeepSizeBytes,
      onError: (error) => log.error({ err: error }, 'the audit record cannot be written'),
    });
    const audit = new AuditLog({ path: http.auditLogPath, record, clock, log });
    const documents = new Documents(options.documents.store, clock);
    const kept = { files: options.documents.files, all: documents };
    const backups = new BackupService({ catalog, storage, clock, documents: kept });
    const authenticator = new Authenticator({
      catalog,
      clock,
      isEnabled: http.authEnabled,
      passwordCost: config.meta.passwordCost,
      tokens: { sharedSecret: http.sharedSecret, keys: options.tokenKeys },
    });
    this.#parts = {
      audit,
      authenticator,
      backups,
      bodies: { maxBytes: http.maxBodySizeBytes, budget: execution.bodyBudget },
      config,
      counters: httpCounters(),
      documents,
      gate: new WriteGate({
        maxActive: http.maxConcurrentWriteLimit,
        maxWaiting: http.maxEnqueuedWriteLimit,
        timeoutMs: http.enqueuedWriteTimeoutMs,
        clock,
      }),
      log,
      metrics: new RequestMetrics(METRIC_PREFIX, {
        queries: 'Time from a request with statements to the end of its answer.',
      }),
      precisionDoubts: new PrecisionDoubts(log),
      readiness,
      rejected,
      requests: new RequestTracker(),
      setLogLevel,
      startedAt,
      statements: execution.statements,
      storage,
      texts: queryTexts(config.coordinator),
    };
    const { counters } = this.#parts;
    statistics.add(() => [moduleOf('httpd', counters)]);
    this.#dispatch = new Dispatch({
      endpoints: ENDPOINTS.filter(({ isCompat }) => http.compatRoutes || !isCompat).map(
        (endpoint) => ({ ...endpoint, handle: HANDLERS[endpoint.path] }),
      ),
      accessLog: this.#accessLog,
      parts: this.#parts,
    });
  }

  /** Requests that are being answered. */
  get activeCount(): number {
    return this.#parts.counters.reqActive;
  }

  /** Number of requests so far. */
  get requestCount(): number {
    return this.#parts.counters.req;
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
        this.#parts.log.error({ err: error }, 'routes could not be made');
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
    this.#parts.audit.reopen();
  }

  /** Ends backups and the logs; call it after the last request. */
  async close(): Promise<void> {
    await this.#parts.backups.close();
    await this.#accessLog?.close();
    await this.#parts.audit.close();
  }
}

const HOT: ReadonlySet<string> = new Set([
  '/write',
  '/query',
  '/ping',
  '/health/live',
] satisfies EndpointPath[]);
