// The context of statement handlers.
import type { Clock, Diagnostic } from '@tidemark/core';
import { Driver, waitForChange } from '@tidemark/query';
import type {
  Operator,
  QueryLimits,
  QueryMemory,
  ResultBatch,
  ResultMessage,
  SeriesText,
  SourceCounters,
  Supervision,
} from '@tidemark/query';
import type { PointStorage } from '@tidemark/storage-api';

import type { Identity } from '../auth/identity.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { RunningQueries } from '../query/running-queries.ts';
import type { DiagnosticModule } from '../stats/diagnostics.ts';
import type { Statistics } from '../stats/statistics.ts';
import type { WriteService } from '../write/write-service.ts';

/** Parts of the service that statements need. */
export type StatementServices = {
  readonly catalog: Catalog;
  readonly storage: PointStorage;
  readonly writer: WriteService;
  readonly queries: RunningQueries;
  readonly statistics: Statistics;
  readonly clock: Clock;
  readonly limits: QueryLimits;
  readonly createsPolicies: boolean;
  readonly passwordCost: number;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  readonly diagnostics: () => readonly DiagnosticModule[];
};

/** Shared by the statements of one request. */
export type StatementContext = {
  readonly services: StatementServices;
  readonly identity: Identity;
  /** Empty when the request names none. */
  readonly database: string;
  /** Empty means the default one. */
  readonly retentionPolicy: string;
  readonly signal: AbortSignal;
  readonly memory?: QueryMemory | undefined;
  readonly messages: ResultMessage[];
  readonly counters?: SourceCounters | undefined;
  /** Absent if the answer is not text, or its rows are counted. */
  readonly seriesText?: SeriesText | undefined;
  /** Called with what an answer lacks; absent if the answer cannot report it. */
  readonly onPartial?: ((reason: string) => void) | undefined;
  /** Called with unknown names, if the client asks for them. */
  readonly onFinding?: ((finding: Diagnostic) => void) | undefined;
};

/** Adds a warning to the statement's messages, once. */
export function warn({ messages }: StatementContext, text: string): void {
  if (messages.every((message) => message.text !== text)) messages.push({ level: 'warning', text });
}

/** Runs a statement. Statements without an answer yield nothing. */
export type StatementHandler<S> = (
  statement: S,
  context: StatementContext,
) => Operator<ResultBatch>;

/** A handler of a statement that answers nothing. */
export function acts<S>(
  run: (statement: S, context: StatementContext) => Promise<unknown>,
): StatementHandler<S> {
  return function* actAndAnswerNothing(statement, context) {
    // An earlier statement may have waited for a change, during which nothing is cancelled.
    context.signal.throwIfAborted();
    yield* waitForChange(run(statement, context));
  };
}

/** The driver of statements and other operators, supervised by a running query. */
export function driverOf(
  { clock }: Pick<StatementServices, 'clock'>,
  supervision: () => Supervision | undefined,
): Driver {
  return new Driver({ supervision, monotonicMs: () => clock.monotonicMs() });
}
