// Continuous queries: parsed once, run when due, one after another.
import type { Clock, Timestamp } from '@tidemark/core';
import type { Logger } from 'pino';

import type { StatementServices } from '../statements/context.ts';
import { moduleOf } from '../stats/statistics.ts';
import type { StatisticsModule } from '../stats/statistics.ts';
import { dueRun } from './schedule.ts';
import type { ContinuousSchedule, DueRun } from './schedule.ts';
import { executeContinuousQuery } from './execute.ts';
import { parseContinuousQuery } from '../statements/continuous-query-text.ts';
import type { CreateContinuousQuery } from '../statements/continuous-query-text.ts';
import { readInterval } from './statement.ts';

type ScheduledQuery = {
  readonly statement: CreateContinuousQuery;
  readonly schedule: ContinuousSchedule;
  lastBoundary: Timestamp | undefined;
};

export type ContinuousQueryOptions = {
  readonly services: StatementServices;
  readonly clock: Clock;
  readonly log: Logger;
  readonly isLogging: boolean;
  /** Database for one point per run (`query-stats-enabled`). */
  readonly statisticsDatabase?: string | undefined;
};

export class ContinuousQueries {
  readonly #options: ContinuousQueryOptions;
  /** Keyed by database, name and text; `undefined` for those that never run. */
  readonly #parsed = new Map<string, ScheduledQuery | undefined>();
  readonly #counters = { queryOk: 0, queryFail: 0 };

  constructor(options: ContinuousQueryOptions) {
    this.#options = options;
  }

  statistics(): readonly StatisticsModule[] {
    return [moduleOf('cq', this.#counters)];
  }

  /** Runs everything that is due. A failing query does not keep the others from running. */
  async runDue(signal: AbortSignal): Promise<void> {
    const present = new Set<string>();
    const { clock, services } = this.#options;
    for (const database of services.catalog.state.databases.values()) {
      for (const { name, text, owner } of database.continuousQueries) {
        const key = JSON.stringify([database.name, name, text]);
        present.add(key);
        if (!this.#parsed.has(key)) this.#parsed.set(key, this.#parse(text));
        const query = this.#parsed.get(key);
        const due = query && dueRun(query.schedule, clock.now(), query.lastBoundary);
        if (query !== undefined && due !== undefined)
          await this.#run(query, { ...due, owner }, signal);
      }
    }
    for (const key of this.#parsed.keys()) if (!present.has(key)) this.#parsed.delete(key);
  }

  /** `undefined` for queries that never run: without an interval there is nothing to wait for. */
  #parse(text: string): ScheduledQuery | undefined {
    const { statement, error } = parseContinuousQuery(text);
    if (statement === undefined) {
      this.#options.log.error({ text, error }, 'a continuous query cannot be parsed');
      return undefined;
    }
    const interval = readInterval(statement.statement, this.#options.clock.now());
    if (interval === undefined) return undefined;
    const schedule = {
      ...interval,
      everyNanos: statement.resampleEveryNanos,
      forNanos: statement.resampleForNanos,
    };
    return { statement, schedule, lastBoundary: undefined };
  }

  /**
   * A window is done when its query has started; one that could not start is retried with the next
   * tick.
   */
  async #run(
    query: ScheduledQuery,
    due: DueRun & { readonly owner: string | undefined },
    stop: AbortSignal,
  ): Promise<void> {
    const { clock, isLogging, log, services } = this.#options;
    const { statement } = query;
    const startedMs = clock.monotonicMs();
    const name = `${statement.database}.${statement.name}`;
    try {
      const written = await executeContinuousQuery(
        {
          statement,
          owner: due.owner,
          range: due,
          text: () => `continuous query ${name}`,
          identity: { kind: 'open' },
          signal: stop,
          onStart: () => {
            query.lastBoundary = due.boundary;
          },
        },
        services,
      );
      this.#counters.queryOk++;
      const durationMs = clock.monotonicMs() - startedMs;
      if (isLogging) {
        log.info({ query: name, written: Number(written), durationMs }, 'continuous query has run');
      }
      await this.#storeRun(statement, due, { written, durationMs });
    } catch (error) {
      this.#counters.queryFail++;
      log.error({ err: error, query: name }, 'continuous query failed');
    }
  }

  async #storeRun(
    statement: CreateContinuousQuery,
    due: DueRun,
    run: { readonly written: bigint; readonly durationMs: number },
  ): Promise<void> {
    const { clock, services, statisticsDatabase } = this.#options;
    if (statisticsDatabase === undefined) return;
    await services.writer.writePoints({ database: statisticsDatabase, retentionPolicy: '' }, [
      {
        measurement: 'cq_query',
        tags: [
          ['cq', statement.name],
          ['db', statement.database],
        ],
        fields: [
          ['durationNs', BigInt(Math.round(run.durationMs * 1e6))],
          ['pointsWrittenOK', run.written],
          ['startTime', due.start],
          ['endTime', due.end],
        ],
        time: clock.now(),
      },
    ]);
  }
}
