// Deletes points and measurements. A delete is an entry of the shared log; rows that it covers,
// with versions lower than the entry's, are hidden from then on. They are removed in the background
// (`DeleteRemoval`).
import { Unavailable } from '@tidemark/core';
import type { DeleteRequest, StorageLog } from '@tidemark/storage-api';

import type { Cluster } from '../cluster/cluster.ts';
import { FailureLog } from '../periodic-job.ts';
import { partsOf } from '../read/parts.ts';
import type { NewDelete } from '../shared/deletes.ts';
import type { SharedEntry } from '../shared/entries.ts';
import type { SharedState } from '../shared/shared-state.ts';
import { columnsIn, dropTagsOf, markDeletedSeries } from './deleted-series.ts';

export type DeleteParts = {
  readonly cluster: Cluster;
  readonly state: SharedState;
  readonly log: StorageLog;
  readonly pendingDeletesMax: number;
};

/**
 * Deletes points. Series without other points disappear at once or, if the cluster cannot find them
 * now, when the rows are removed.
 */
export async function deletePoints(parts: DeleteParts, request: DeleteRequest): Promise<void> {
  const { registry } = parts.state;
  let deleted: NewDelete | undefined;
  await agreeOn(parts, () => {
    deleted = newDelete(parts, request);
    return deleted === undefined ? undefined : { kind: 'delete', deleted };
  });
  const agreed = deleted === undefined ? undefined : registry.deletes.latest(deleted);
  if (agreed === undefined) return;
  try {
    await markDeletedSeries(parts, agreed);
    await dropTagsOf(parts, agreed);
  } catch (error) {
    new FailureLog(parts.log, 'find the series that a delete has left without rows').failed(error);
  }
}

/** Deletes all rows of a measurement and the types of its fields, in one entry. */
export async function dropMeasurement(
  parts: DeleteParts,
  database: string,
  measurement: string,
): Promise<void> {
  const { registry } = parts.state;
  await agreeOn(parts, () => {
    const deleted = newDelete(parts, { database, measurements: [measurement] });
    const groups = deleted?.groups.filter(
      (id) => registry.hasSeries(id, measurement) || registry.fields(id, measurement).size > 0,
    );
    if (deleted === undefined || groups === undefined || groups.length === 0) return undefined;
    const columns = columnsIn(registry, groups, measurement);
    return { kind: 'drop-measurement', measurement, deleted: { ...deleted, groups, columns } };
  });
}

async function agreeOn(
  { state, pendingDeletesMax }: DeleteParts,
  make: () => SharedEntry | undefined,
): Promise<void> {
  await state.sync();
  await state.agree(() => {
    const entry = make();
    if (entry !== undefined && state.registry.deletes.all.length >= pendingDeletesMax)
      throw new Unavailable(
        'too many deletes wait until the cluster has removed the rows of earlier ones',
      );
    return entry;
  });
}

/** The delete for what a request covers now; `undefined` if that is nothing. */
function newDelete({ state }: DeleteParts, request: DeleteRequest): NewDelete | undefined {
  const { measurements, measurementPattern, where, timeRange } = request;
  const groups = partsOf(state.registry, request).flatMap((part) => part.groups);
  if (groups.length === 0) return undefined;
  return {
    groups: groups.map(({ id }) => id),
    filter: { measurements, measurementPattern, where },
    timeRange,
  };
}
