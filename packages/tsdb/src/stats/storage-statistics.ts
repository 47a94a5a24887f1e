// Counters of storage as modules: `database` per database, `shard` per shard, `storage` for the
// engine.
import type { StorageEngine } from '@tidemark/storage';

import type { Catalog } from '../catalog/catalog.ts';
import type { StatisticsSource } from './statistics.ts';

export function storageStatistics(storage: StorageEngine, catalog: Catalog): StatisticsSource {
  return async () => {
    const { counters, databases } = await storage.statistics();
    return [
      // A database without points is not known to storage.
      ...[...catalog.state.databases.keys()].map((database) => {
        const known = databases.find((candidate) => candidate.database === database);
        return {
          name: 'database',
          tags: { database },
          values: {
            numSeries: known?.seriesCount ?? 0,
            numMeasurements: known?.measurementCount ?? 0,
          },
        };
      }),
      ...(await storage.shards()).map(({ id, database, retentionPolicy, diskBytes }) => ({
        name: 'shard',
        tags: { database, retentionPolicy, id: String(id) },
        values: { diskBytes },
      })),
      { name: 'storage', tags: {}, values: counters },
    ];
  };
}
