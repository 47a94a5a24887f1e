// Continuous queries: parsed once, run when due, one after the other.
import { assert } from '@tidemark/core';
import type { Clock, Span, Timestamp } from '@tidemark/core';
import { parseQuery } from '@tidemark/influxql';
import type { DefinitionStatement, Expression, SelectStatement } from '@tidemark/influxql';
import type { Logger } from 'pino';

import { runStatement } from '../statements/registry.ts';
import type { StatementServices } from '../statements/context.ts';
import { moduleOf } from '../stats/statistics.ts';
import type { StatisticsModule } from '../stats/statistics.ts';
import { dueRun } from './schedule.ts';
import type { ContinuousSchedule, DueRun } from './schedule.ts';

type CreateContinuousQuery = Extract<
  DefinitionStatement,
  { readonly kind: 'create-continuous-query' }
>;

type Known = {
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
  /** By database, name and text; `undefined` for those that never run. */
  readonly #known = new Map<string, Known | undefined>();
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
      for (const { name, text } of database.continuousQueries) {
        const key = JSON.stringify([database.name, name, text]);
        present.add(key);
        if (!this.#known.has(key)) this.#known.set(key, this.#parse(text));
        const known = this.#known.get(key);
        const due = known && dueRun(known.schedule, clock.now(), known.lastBoundary);
        if (known === undefined || due === undefined) continue;
        known.lastBoundary = due.boundary;
        await this.#run(known, due, signal);
      }
    }
    for (const key of this.#known.keys()) if (!present.has(key)) this.#known.delete(key);
  }

  /** `undefined` for queries that never run: without an interval there is nothing to wait for. */
  #parse(text: string): Known | undefined {
    const { query, error } = parseQuery(text);
    const statement = query.statements[0];
    if (error !== undefined || statement?.kind !== 'create-continuous-query') {
      this.#options.log.error({ text, error }, 'a continuous query can not be read');
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

  async #run({ statement }: Known, due: DueRun, stop: AbortSignal): Promise<void> {
    const { clock, isLogging, log, services } = this.#options;
    const startedMs = clock.monotonicMs();
    const name = `${statement.database}.${statement.name}`;
    const running = services.queries.start({
      text: `continuous query ${name}`,
      database: statement.database,
    });
    try {
      const select = withRange(statement.statement, due);
      const batches = runStatement(select, {
        services,
        identity: { kind: 'open' },
        database: statement.database,
        retentionPolicy: '',
        signal: AbortSignal.any([running.signal, stop]),
        messages: [],
      });
      let written = 0n;
      for await (const batch of batches) written += writtenOf(batch);
      this.#counters.queryOk++;
      if (isLogging) {
        const durationMs = clock.monotonicMs() - startedMs;
        log.info({ query: name, written: Number(written), durationMs }, 'continuous query has run');
      }
      await this.#storeRun(statement, due, {
        written,
        durationMs: clock.monotonicMs() - startedMs,
      });
    } catch (error) {
      this.#counters.queryFail++;
      log.error({ err: error, query: name }, 'continuous query failed');
    } finally {
      services.queries.finish(running);
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

function writtenOf(batch: {
  readonly values: readonly { readonly type: string; readonly values?: unknown }[];
}): bigint {
  const column = batch.values[1];
  const values = column?.values;
  return values instanceof BigInt64Array ? (values[0] ?? 0n) : 0n;
}

const NOWHERE: Span = { start: 0, end: 0 };

function readInterval(
  statement: SelectStatement,
  now: Timestamp,
): { readonly intervalNanos: bigint; readonly offsetNanos: bigint } | undefined {
  for (const dimension of statement.dimensions) {
    if (dimension.kind !== 'call' || dimension.name.toLowerCase() !== 'time') continue;
    const [every, offset] = dimension.arguments;
    if (every?.kind !== 'duration' || every.nanos <= 0n) return undefined;
    const offsetNanos =
      offset?.kind === 'duration' ? offset.nanos : offset?.kind === 'call' ? now : 0n;
    return { intervalNanos: every.nanos, offsetNanos };
  }
  return undefined;
}

/** The statement for [start, end); its own condition stays. */
function withRange(statement: SelectStatement, due: DueRun): SelectStatement {
  assert(due.end > due.start, 'a run covers time');
  const bound = (operator: '>=' | '<', time: Timestamp): Expression => ({
    kind: 'binary',
    operator,
    left: { kind: 'reference', name: 'time', span: NOWHERE },
    right: { kind: 'integer', value: time, span: NOWHERE },
    span: NOWHERE,
  });
  const and = (left: Expression, right: Expression): Expression => ({
    kind: 'binary',
    operator: 'AND',
    left,
    right,
    span: NOWHERE,
  });
  const range = and(bound('>=', due.start), bound('<', due.end));
  const { condition } = statement;
  if (condition === undefined) return { ...statement, condition: range };
  const own: Expression = { kind: 'paren', expression: condition, span: NOWHERE };
  return { ...statement, condition: and(own, range) };
}
