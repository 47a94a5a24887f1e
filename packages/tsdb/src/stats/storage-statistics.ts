// Counters of storage as modules: `database` per database, `storage` for the engine.
import type { StorageEngine } from '@tidemark/storage';

import type { StatisticsSource } from './statistics.ts';

export function storageStatistics(storage: StorageEngine): StatisticsSource {
  return async () => {
    const { counters, databases } = await storage.statistics();
    return [
      ...databases.map(({ database, seriesCount, measurementCount }) => ({
        name: 'database',
        tags: { database },
        values: { numSeries: seriesCount, numMeasurements: measurementCount },
      })),
      { name: 'storage', tags: {}, values: counters },
    ];
  };
}
