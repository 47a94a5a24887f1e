// Starts everything that runs without a request: subscriptions, listeners, and periodic jobs.
import type { OpenParts } from '@tidemark/core';
import type { Logger } from 'pino';

import type { TsdbConfig } from '../config/schema.ts';
import { ContinuousQueries } from '../continuous/continuous-queries.ts';
import { openListeners } from '../listeners/listeners.ts';
import type { Execution } from '../execution.ts';
import { Subscriber } from '../subscriber/subscriber.ts';
import type { RejectedLog } from '../write/rejected-lines.ts';
import { BackgroundJobs } from './jobs.ts';
import type { Job } from './jobs.ts';
import { storeStart, storeStatistics } from './monitor.ts';
import { enforceRetention } from './retention.ts';

export type BackgroundOptions = {
  readonly config: TsdbConfig;
  readonly log: Logger;
  readonly execution: Execution;
  /** Lines that the listeners reject. */
  readonly rejected: RejectedLog;
  /** Name of this machine in the points of the monitor. */
  readonly hostname: string;
  /**
   * The signal of the lease, if services share one storage; `undefined` when another one has it.
   */
  readonly leaseSignal: () => AbortSignal | undefined;
};

/** Starts the background work that the configuration enables. Closed with `parts`. */
export async function startBackground(
  { config, log, execution, rejected, hostname, leaseSignal }: BackgroundOptions,
  parts: OpenParts,
): Promise<void> {
  const { statements, writeCounters, bodyBudget: bodies } = execution;
  const { catalog, clock, statistics, storage, writer } = statements;
  if (config.subscriber.enabled) {
    const subscriber = new Subscriber({
      catalog,
      clock,
      config: config.subscriber,
      log: log.child({ part: 'subscriber' }),
      counters: writeCounters,
    });
    parts.add(() => subscriber.close());
    writer.setSubscriber(subscriber);
    statistics.add(() => subscriber.statistics());
  }
  const listening = { config, catalog, writer, clock, log, rejected, bodies, statistics };
  await openListeners(listening, parts);
  const jobs = new BackgroundJobs(clock, log);
  parts.add(() => jobs.close());
  if (config.continuousQueries.enabled) {
    const queries = new ContinuousQueries({
      services: statements,
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
      run: withLease(leaseSignal, (signal) => queries.runDue(signal)),
    });
  }
  if (config.retention.enabled) {
    jobs.start({
      name: 'retention',
      intervalMs: config.retention.checkIntervalMs,
      runsAtStart: true,
      run: withLease(leaseSignal, async () => {
        await enforceRetention({ catalog, storage, clock, log });
      }),
    });
  }
  if (config.monitor.storeEnabled) {
    const database = config.monitor.storeDatabase;
    const monitor = { catalog, writer, statistics, clock, database, hostname };
    // Background work does not keep the service from starting, for example on a full disk.
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

/**
 * Skips the run unless this service has the lease, for work that only one of several services on
 * one storage may do.
 */
function withLease(leaseSignal: () => AbortSignal | undefined, run: Job['run']): Job['run'] {
  return async (signal) => {
    const lease = leaseSignal();
    if (lease !== undefined) await run(AbortSignal.any([signal, lease]));
  };
}
