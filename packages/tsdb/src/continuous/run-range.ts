// Runs a continuous query by hand over a past range, for late data and for queries that are newer
// than their data.
import { InvalidRequest, NotFound } from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';
import { Windows } from '@tidemark/query';

import type { Identity } from '../auth/identity.ts';
import { requireDatabase } from '../catalog/databases.ts';
import { LIMITS } from '../limits.ts';
import type { StatementServices } from '../statements/context.ts';
import { executeContinuousQuery } from './execute.ts';
import { parseContinuousQuery } from '../statements/continuous-query-text.ts';
import type { CreateContinuousQuery } from '../statements/continuous-query-text.ts';
import { readInterval } from './statement.ts';

/** Whole windows of a continuous query, [start, end). */
export type PlannedRun = {
  readonly statement: CreateContinuousQuery;
  /** As in the catalog's `ContinuousQuery`. */
  readonly owner: string | undefined;
  readonly windows: Windows;
  readonly start: Timestamp;
  readonly end: Timestamp;
  /** Number of windows. */
  readonly count: number;
};

/** Progress of a run after a step. */
export type RunProgress = {
  /** [start, end) of the step. */
  readonly start: Timestamp;
  readonly end: Timestamp;
  readonly written: bigint;
  readonly windowsDone: number;
};

/**
 * The windows of a run over [start, end): all that touch it and have ended. Throws `NotFound` or
 * `InvalidRequest` when there is nothing to run.
 */
export function planRun(
  request: {
    readonly database: string;
    readonly name: string;
    readonly start: Timestamp;
    readonly end: Timestamp;
  },
  { catalog, clock }: StatementServices,
): PlannedRun {
  const database = requireDatabase(catalog.state, request.database);
  const query = database.continuousQueries.find(({ name }) => name === request.name);
  if (query === undefined) throw new NotFound(`continuous query not found: ${request.name}`);
  const { statement } = parseContinuousQuery(query.text);
  const now = clock.now();
  const interval = statement && readInterval(statement.statement, now);
  if (statement === undefined || interval === undefined) {
    throw new InvalidRequest(`continuous query has no interval: ${request.name}`);
  }
  const { intervalNanos, offsetNanos, zone } = interval;
  const windows = new Windows({ everyNanos: intervalNanos, offsetNanos }, zone);
  const { start } = windows.of(request.start);
  const lastEnded = windows.of(now).start;
  const wanted = windows.of(request.end - 1n).end;
  const end = wanted < lastEnded ? wanted : lastEnded;
  if (end <= start) throw new InvalidRequest('the range contains no completed window');
  const { owner } = query;
  return { statement, owner, windows, start, end, count: windows.count(start, end) };
}

/**
 * Runs a plan step by step, oldest first. Each step is a query of its own for SHOW QUERIES and KILL
 * QUERY.
 */
export async function* runPlan(
  plan: PlannedRun,
  context: {
    readonly services: StatementServices;
    readonly identity: Identity;
    readonly signal: AbortSignal;
  },
): AsyncGenerator<RunProgress, void, void> {
  const { services, identity, signal } = context;
  const { statement, owner, windows } = plan;
  const { database, name } = statement;
  const stepNanos = windows.everyNanos * BigInt(LIMITS.continuousRunWindows.value);
  for (let start = plan.start; start < plan.end;) {
    signal.throwIfAborted();
    const border = windows.of(start + stepNanos).start;
    const end = border < plan.end ? border : plan.end;
    const written = await executeContinuousQuery(
      {
        statement,
        owner,
        range: { start, end },
        text: () => `continuous query ${database}.${name} over a past range`,
        identity,
        signal,
      },
      services,
    );
    yield { start, end, written, windowsDone: windows.count(plan.start, end) };
    start = end;
  }
}
