// Divides the data of a server into pieces that are copied one after another: a measurement within
// a shard.
import type { TsdbClient } from '@tidemark/client';

import { pathOf, within } from './lines.ts';
import type { CopyRange, MeasurementRef } from './lines.ts';
import { fieldsWithin, readMeasurements, readShardRanges } from './source-schema.ts';
import type { SourceDatabase } from './source-schema.ts';

export type Piece = {
  /** Unique and reproducible. */
  readonly name: string;
  readonly ref: MeasurementRef;
  readonly range: CopyRange;
};

/** The measurements of all policies with their fields. */
export async function measurementsOf(
  from: TsdbClient,
  databases: readonly SourceDatabase[],
): Promise<readonly MeasurementRef[]> {
  const refs: MeasurementRef[] = [];
  for (const { name: database, policies } of databases) {
    for (const { name: policy } of policies) {
      const found = await readMeasurements(from, database, policy);
      for (const [measurement, fields] of found) {
        refs.push({ database, policy, measurement, fields });
      }
    }
  }
  return refs;
}

/** All pieces in the order of `refs`, oldest shard first, each with the fields of its shard. */
export async function piecesOf(
  from: TsdbClient,
  refs: readonly MeasurementRef[],
): Promise<readonly Piece[]> {
  const pieces: Piece[] = [];
  const rangesByPolicy = new Map<string, readonly CopyRange[]>();
  for (const ref of refs) {
    const { database, policy } = ref;
    const path = pathOf(ref);
    const key = JSON.stringify([database, policy]);
    const ranges = rangesByPolicy.get(key) ?? (await readShardRanges(from, database, policy));
    rangesByPolicy.set(key, ranges);
    for (const range of ranges) {
      const source = { database, path, condition: within(range) };
      const fields = await fieldsWithin(from, ref.fields, source);
      pieces.push({ name: `${path} ${range.start}`, ref: { ...ref, fields }, range });
    }
  }
  return pieces;
}
