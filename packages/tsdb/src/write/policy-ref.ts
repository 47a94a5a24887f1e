// Resolves the names in a request to the retention policy that storage writes to.
import { Internal, NotFound } from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';
import type { PolicyRef } from '@tidemark/storage-api';

import { findPolicy } from '../catalog/model.ts';
import type { CatalogState, Database, RetentionPolicy } from '../catalog/model.ts';
import { databaseNotFound, policyNotFound } from '../compat/messages.ts';

export type SeriesLimits = {
  readonly maxSeriesPerDatabase: number;
  readonly maxValuesPerTag: number;
};

/** No such database: /write answers 404. */
export class DatabaseMissing extends NotFound {}

/**
 * A write that fails with 500, as clients of InfluxDB expect: no such retention policy, or storage
 * did not accept it in time.
 */
export class WriteFailed extends Internal {}

/** The present policy as storage needs it. */
export function policyRef(
  database: Database,
  policy: RetentionPolicy,
  context: { readonly now: Timestamp; readonly limits: SeriesLimits },
): PolicyRef {
  const pasts = [policy.durationNanos, policy.pastLimitNanos ?? 0n].filter((nanos) => nanos > 0n);
  const future = policy.futureLimitNanos ?? 0n;
  const keep = pasts.length === 0 ? undefined : pasts.reduce((a, b) => (a < b ? a : b));
  return {
    id: policy.id,
    database: database.name,
    retentionPolicy: policy.name,
    shardDurationNanos: policy.shardDurationNanos,
    oldestAccepted: keep === undefined ? undefined : context.now - keep,
    newestAccepted: future === 0n ? undefined : context.now + future,
    maxSeriesPerDatabase: context.limits.maxSeriesPerDatabase,
    maxValuesPerTag: context.limits.maxValuesPerTag,
  };
}

/** Looks a write's target up; the empty policy name means the default one. */
export function writeTarget(
  state: CatalogState,
  target: { readonly database: string; readonly retentionPolicy: string },
): { readonly database: Database; readonly policy: RetentionPolicy } {
  const database = state.databases.get(target.database);
  if (database === undefined) throw new DatabaseMissing(databaseNotFound(target.database));
  const name = target.retentionPolicy === '' ? database.defaultPolicy : target.retentionPolicy;
  const policy = findPolicy(database, name);
  if (policy === undefined) throw new WriteFailed(policyNotFound(name));
  return { database, policy };
}
