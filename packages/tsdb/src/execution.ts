// Writes points and runs statements of all protocols, over one storage and one catalog.
import { hostname } from 'node:os';

import { TIDEMARK_VERSION } from '@tidemark/core';
import type { Budget, Clock, Timestamp } from '@tidemark/core';
import { requestBodyBudget } from '@tidemark/process';
import { planCacheCounters, PLAN_CACHE_BYTES } from '@tidemark/query';
import type { Storage } from '@tidemark/storage-api';
import type { Logger } from 'pino';

import type { Catalog } from './catalog/catalog.ts';
import type { TsdbConfig } from './config/schema.ts';
import { QueryMemories } from './query/query-memory.ts';
import { RunningQueries } from './query/running-queries.ts';
import { SlowQueries } from './query/slow-queries.ts';
import type { StatementServices } from './statements/context.ts';
import { serviceDiagnostics } from './stats/diagnostics.ts';
import { diskStatistics } from './stats/disk.ts';
import { runtimeModule } from './stats/runtime.ts';
import {
  budgetCounters,
  moduleOf,
  queryCounters,
  Statistics,
  writeCounters,
} from './stats/statistics.ts';
import type { WriteCounters } from './stats/statistics.ts';
import { storageStatistics } from './stats/storage-statistics.ts';
import { WriteService } from './write/write-service.ts';

export type ExecutionOptions = {
  readonly config: TsdbConfig;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly log: Logger;
  readonly startedAt: Timestamp;
  readonly storage: Storage;
};

export type Execution = {
  readonly statements: StatementServices;
  readonly storage: Storage;
  readonly writeCounters: WriteCounters;
  /** Memory for the bodies of all requests. */
  readonly bodyBudget: Budget;
};

export function buildExecution({
  config,
  catalog,
  clock,
  log,
  startedAt,
  storage,
}: ExecutionOptions): Execution {
  const { coordinator, data, http } = config;
  const writes = writeCounters();
  const queries = queryCounters();
  const bodyBudget = requestBodyBudget(http, clock);
  const memories = new QueryMemories({
    totalBytes: coordinator.totalQueryMemoryLimitBytes,
    limitBytes: coordinator.queryMemoryLimitBytes,
    waitMs: coordinator.queryMemoryTimeoutMs,
    clock,
  });
  const statistics = new Statistics();
  statistics.add(() => [
    moduleOf('write', writes),
    moduleOf('queryExecutor', queries),
    runtimeModule(),
    moduleOf('plans', { ...planCacheCounters(), limitBytes: PLAN_CACHE_BYTES }),
    moduleOf('memory', {
      ...budgetCounters('body', bodyBudget),
      ...budgetCounters('queryBeginning', memories.beginnings),
      ...budgetCounters('queryGrowth', memories.growth),
    }),
  ]);
  const writer = new WriteService({
    catalog,
    storage: storage.points,
    clock,
    limits: data,
    timeoutMs: coordinator.writeTimeoutMs,
    counters: writes,
  });
  statistics.add(storageStatistics(storage, catalog, (name) => writer.lastWrite(name)));
  statistics.add(diskStatistics(data.dir));
  const statements: StatementServices = {
    catalog,
    storage: storage.points,
    clock,
    statistics,
    queries: new RunningQueries({
      clock,
      counters: queries,
      memories,
      maxConcurrent: coordinator.maxConcurrentQueries,
      timeoutMs: coordinator.queryTimeoutMs,
      slow: new SlowQueries(clock, coordinator.keepQueriesAfterMs),
      slowMs: coordinator.logQueriesAfterMs,
      onSlow: (query) => log.warn({ ...query }, 'slow query'),
    }),
    writer,
    limits: {
      maxSelectPoints: coordinator.maxSelectPoint,
      maxSelectSeries: coordinator.maxSelectSeries,
      maxSelectBuckets: coordinator.maxSelectBuckets,
      maxFilledWindows: coordinator.maxFilledWindows,
      maxQueryMemoryBytes: memories.limitBytes,
      maxSubqueryDepth: coordinator.maxSubqueryDepth,
      maxSelectSources: coordinator.maxSelectSources,
      maxConditionFields: coordinator.maxConditionFields,
      maxSelectColumns: coordinator.maxSelectColumns,
      maxSelectDimensions: coordinator.maxSelectDimensions,
    },
    createsPolicies: config.meta.retentionAutocreate,
    passwordCost: config.meta.passwordCost,
    random: Math.random,
    diagnostics: () =>
      serviceDiagnostics({
        config,
        startedAt,
        now: clock.now(),
        hostname: hostNameOf(config),
        version: TIDEMARK_VERSION,
      }),
  };
  return { statements, storage, writeCounters: writes, bodyBudget };
}

/** The name of this machine in the service's statistics and diagnostics. */
export function hostNameOf(config: TsdbConfig): string {
  return config[''].hostname === '' ? hostname() : config[''].hostname;
}
