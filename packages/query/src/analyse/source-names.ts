// The field and tag names of a statement's sources, loaded before it is analysed; without waiting
// if the source of series has them cached.
import { forEachBatch } from '../operator.ts';
import type { Steps } from '../operator.ts';
import { measurementSources } from '@tidemark/influxql';
import type { MeasurementSource, SelectStatement } from '@tidemark/influxql';

import type { QueryContext } from '../context.ts';
import { SUGGESTION_NAMES_MAX } from '../limits.ts';
import { lookUp, requestOptions } from '../look-up.ts';
import type { MeasurementNames } from '../measurement-names.ts';
import { resolveMeasurement } from './resolve-source.ts';
import type { MeasurementSet } from './resolve-source.ts';

/** The names of one source. */
export type SourceNames = {
  readonly set: MeasurementSet;
  /** Sorted by name; includes measurements that the policy has at no time. */
  readonly measurements: readonly MeasurementNames[];
  /** Names of existing measurements; only if missing measurements are reported. */
  readonly existing: readonly string[] | undefined;
};

/** The names of each source of a statement and of its subqueries. */
export type NamesBySource = ReadonlyMap<MeasurementSource, SourceNames>;

/** Loads the names of all sources. */
export function* loadNames(
  statement: SelectStatement,
  context: QueryContext,
): Steps<NamesBySource> {
  const found = new Map<MeasurementSource, SourceNames>();
  for (const source of measurementSources(statement)) {
    context.signal.throwIfAborted();
    const set = resolveMeasurement(source, context);
    const { database, retentionPolicy, name, pattern } = set;
    const measurements = yield* context.snapshot.names(
      {
        database,
        measurements: name === undefined ? undefined : [name],
        measurementPattern: pattern,
      },
      requestOptions(context),
    );
    const isMissing =
      name !== undefined && measurements.every((one) => one.everyField(retentionPolicy).size === 0);
    const existing =
      isMissing && context.onFinding !== undefined ? yield* namesIn(set, context) : undefined;
    found.set(source, { set, measurements, existing });
  }
  return found;
}

function* namesIn(
  { database, retentionPolicy }: MeasurementSet,
  context: QueryContext,
): Steps<readonly string[]> {
  const names: string[] = [];
  yield* forEachBatch(
    lookUp(context, 'measurements', { filter: { database, retentionPolicy } }),
    (batch) => names.push(...batch.names),
    () => names.length >= SUGGESTION_NAMES_MAX,
  );
  return names;
}
