// Full names of measurements: database and retention policy from the statement, the request or the
// catalog.
import { Forbidden } from '@tidemark/core';
import type { MeasurementSource, SelectStatement } from '@tidemark/influxql';

import {
  SYSTEM_SOURCES,
  databaseNotFound,
  databaseRequired,
  retentionPolicyNotFound,
  systemSource,
} from '../compat-messages.ts';
import type { QueryContext } from '../context.ts';

/** A set of measurements of one retention policy, by name or by pattern. */
export type MeasurementSet = {
  readonly database: string;
  readonly retentionPolicy: string;
  readonly name?: string | undefined;
  readonly pattern?: string | undefined;
};

/** Resolves a source and checks that database and policy exist and may be read. */
export function resolveMeasurement(
  source: MeasurementSource,
  context: QueryContext,
): MeasurementSet {
  const database = source.database ?? context.database;
  if (database === undefined || database === '') throw databaseRequired();
  if (!context.catalog.hasDatabase(database)) {
    throw databaseNotFound(database, source.database === undefined ? undefined : source.span);
  }
  const retentionPolicy = resolveRetentionPolicy(source, database, context);
  const instead = source.name === undefined ? undefined : SYSTEM_SOURCES.get(source.name);
  if (instead !== undefined) throw systemSource(source.name ?? '', instead, source.span);
  if (context.canRead?.(database) === false) {
    throw new Forbidden(`not authorized to read database "${database}"`);
  }
  return { database, retentionPolicy, name: source.name, pattern: source.pattern };
}

function resolveRetentionPolicy(
  source: MeasurementSource,
  database: string,
  context: QueryContext,
): string {
  const { catalog } = context;
  // The policy of the request counts in every database, as recorded.
  const written = source.retentionPolicy ?? context.retentionPolicy;
  if (written !== undefined && written !== '') {
    if (!catalog.hasRetentionPolicy(database, written)) {
      const span = source.retentionPolicy === undefined ? undefined : source.span;
      throw retentionPolicyNotFound(written, span);
    }
    return written;
  }
  const byDefault = catalog.defaultRetentionPolicy(database);
  if (byDefault === undefined || !catalog.hasRetentionPolicy(database, byDefault)) {
    throw retentionPolicyNotFound(byDefault ?? 'autogen');
  }
  return byDefault;
}

/** Database and policy that INTO writes to. */
export function resolveTarget(
  into: NonNullable<SelectStatement['into']>,
  context: QueryContext,
): { readonly database: string; readonly retentionPolicy: string } {
  const { database, retentionPolicy } = into;
  const set = resolveMeasurement(
    { kind: 'measurement', database, retentionPolicy, name: '', span: into.span },
    { ...context, canRead: undefined },
  );
  return { database: set.database, retentionPolicy: set.retentionPolicy };
}
