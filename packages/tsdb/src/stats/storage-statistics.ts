// Counters of storage as modules: `database` per database, `shard` per shard, `storage` for the
// engine, `replica` per server of a cluster.
import type { Timestamp } from '@tidemark/core';
import type { Storage } from '@tidemark/storage-api';

import type { Catalog } from '../catalog/catalog.ts';
import type { StatisticsSource } from './statistics.ts';

/** `lastWrite` tells when a database last accepted points, if it has since the start. */
export function storageStatistics(
  { points, replicas }: Storage,
  catalog: Catalog,
  lastWrite: (database: string) => Timestamp | undefined,
): StatisticsSource {
  return async () => {
    const { counters, databases } = await points.statistics();
    return [
      // Storage does not know databases without points.
      ...[...catalog.state.databases.keys()].map((database) => {
        const known = databases.find((candidate) => candidate.database === database);
        const written = lastWrite(database);
        return {
          name: 'database',
          tags: { database },
          values: {
            numSeries: known?.seriesCount ?? 0,
            numMeasurements: known?.measurementCount ?? 0,
            ...(written === undefined ? {} : { lastWriteMs: Number(written / 1_000_000n) }),
          },
        };
      }),
      ...(await points.shards()).map(({ id, database, retentionPolicy, diskBytes }) => ({
        name: 'shard',
        tags: { database, retentionPolicy, id: String(id) },
        values: { diskBytes },
      })),
      ...((await replicas?.replicas()) ?? []).map(({ shard, url, isUp }) => ({
        name: 'replica',
        tags: { shard: String(shard ?? ''), url },
        values: { up: isUp ? 1 : 0 },
      })),
      { name: 'storage', tags: {}, values: counters },
    ];
  };
}
