// Executes a continuous query for one range of time: a query of its own for SHOW QUERIES and KILL
// QUERY, with the rights of its owner.
import type { Timestamp } from '@tidemark/core';

import type { Identity } from '../auth/identity.ts';
import type { StatementServices } from '../statements/context.ts';
import { driverOf } from '../statements/context.ts';
import { ROWS } from '../statements/registry.ts';
import { requireRights } from './rights.ts';
import { withRange, writtenOf } from './statement.ts';
import type { CreateContinuousQuery } from '../statements/continuous-query-text.ts';

export type ContinuousExecution = {
  readonly statement: CreateContinuousQuery;
  /** As in the catalog's `ContinuousQuery`. */
  readonly owner: string | undefined;
  /** [start, end). */
  readonly range: { readonly start: Timestamp; readonly end: Timestamp };
  /** As SHOW QUERIES prints it. */
  readonly text: () => string;
  readonly identity: Identity;
  readonly signal: AbortSignal;
  /** Called when the query begins, after waiting for its turn. */
  readonly onStart?: (() => void) | undefined;
};

/** Returns the number of points that it has written. */
export async function executeContinuousQuery(
  { statement, owner, range, text, identity, signal, onStart }: ContinuousExecution,
  services: StatementServices,
): Promise<bigint> {
  const { database } = statement;
  const requires = () => [{ kind: 'read', database } as const];
  return services.queries.run({ text, database, requires }, async (running) => {
    onStart?.();
    requireRights(statement, owner, services.catalog.state);
    const { memory } = running;
    const supervision = { signal: AbortSignal.any([running.signal, signal]), memory };
    const answer = ROWS.select.handler(withRange(statement.statement, range), {
      services,
      identity,
      database,
      retentionPolicy: '',
      ...supervision,
      messages: [],
    });
    let written = 0n;
    const batches = driverOf(services, () => supervision).batches(answer);
    for await (const batch of batches) written += writtenOf(batch);
    return written;
  });
}
