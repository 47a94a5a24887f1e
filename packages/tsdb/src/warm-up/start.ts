// Starts the warm-up of a service: a second instance of everything that answers requests, over
// dummy points, without counters, lists or logs.
import type { Logger } from 'pino';

import type { KeptDocuments } from '../catalog/document-files.ts';
import type { TsdbConfig } from '../config/schema.ts';
import { buildExecution } from '../execution.ts';
import type { Execution } from '../execution.ts';
import { HttpInterface } from '../http/http-interface.ts';
import type { HttpServer } from '../http/http-server.ts';
import { borderOf } from '../http/listen.ts';
import { Readiness } from '../http/readiness.ts';
import { RejectedLog } from '../write/rejected-lines.ts';
import { WarmUp } from './warm-up.ts';
import type { WarmUpOptions } from './warm-up.ts';

export type WarmUpSettings = Pick<WarmUpOptions, 'rounds' | 'quietMs'> & {
  /** Called when it is over, however it ended. */
  readonly onEnd?: (() => void) | undefined;
};

/** Starts it; `close` ends it. Only its failure is logged. */
export function startWarmUp(
  { onEnd = () => undefined, ...settings }: WarmUpSettings,
  service: {
    readonly config: TsdbConfig;
    readonly log: Logger;
    readonly execution: Execution;
    readonly documents: KeptDocuments;
    readonly http: HttpInterface;
    readonly server: HttpServer;
  },
): { close(): Promise<void> } {
  const { execution, http, log, server } = service;
  const { clock } = execution.statements;
  const { openRehearsal } = execution.storage;
  // Storage without a thread of its own has no code to warm up; without HTTP there are no requests.
  if (openRehearsal === undefined || !service.config.http.enabled) {
    return { close: () => Promise.resolve() };
  }
  // The same log if it would not print anything: each has functions of its own.
  const silent = log.isLevelEnabled('debug') ? log.child({}, { level: 'silent' }) : log;
  const config = warmUpConfig(service.config);
  const startedAt = clock.now();
  const readiness = new Readiness(clock);
  readiness.serves();
  const warmUp = new WarmUp({
    ...settings,
    clock,
    processorMs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
    openStorage: openRehearsal,
    serve: (points, catalog) => {
      const common = { config, log: silent, startedAt };
      const { listener } = new HttpInterface({
        ...common,
        execution: buildExecution({ ...common, catalog, clock, storage: { points } }),
        documents: service.documents,
        rejected: new RejectedLog(),
        tokenKeys: undefined,
        readiness,
        setLogLevel: () => undefined,
      });
      const border = borderOf(config, { boundHost: '127.0.0.1' });
      return (socket) =>
        server.take(socket, (request, response) => listener(request, response, border));
    },
    requests: {
      count: () => http.requestCount + execution.writeCounters.req,
      isActive: () => http.activeCount > 0,
    },
  });
  warmUp.run().then(onEnd, (error: unknown) => {
    log.warn({ err: error }, 'the warm-up failed');
    onEnd();
  });
  return warmUp;
}

/** Without logs of requests, and without limits that a user has set for real ones. */
function warmUpConfig(config: TsdbConfig): TsdbConfig {
  return {
    ...config,
    coordinator: { ...config.coordinator, logQueriesAfterMs: 0 },
    data: { ...config.data, maxSeriesPerDatabase: 0, maxValuesPerTag: 0 },
    http: {
      ...config.http,
      authEnabled: false,
      accessLogPath: '',
      auditLogPath: '',
      auditKeepSizeBytes: 0,
      maxBodySizeBytes: 0,
      bodyMemoryLimitBytes: 0,
      maxConcurrentWriteLimit: 0,
    },
  };
}
