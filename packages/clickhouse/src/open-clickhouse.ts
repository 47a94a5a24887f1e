// Storage on a ClickHouse cluster, as the database service sees it.
import { InvalidRequest } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type {
  DatabaseStatistics,
  ShardInfo,
  StorageEngine,
  StorageStatistics,
} from '@tidemark/storage';

import { Cluster } from './cluster/cluster.ts';
import type { ClusterSettings } from './cluster/cluster.ts';
import { partsOf } from './read/parts.ts';
import { clusterSource } from './read/source.ts';
import { takeTables } from './registry/owner.ts';
import { Registry } from './registry/registry.ts';
import { sqlText } from './sql/literals.ts';
import { RowReader } from './sql/row-binary.ts';
import { commonTables, pointsTable, seriesTable } from './sql/tables.ts';
import { deletePoints, dropGroup, dropMeasurement, dropPolicy } from './write/deletes.ts';
import type { IngestSettings } from './write/ingest.ts';
import { Writer } from './write/writer.ts';

export type ClickHouseOptions = ClusterSettings & {
  /** The id of the service's catalog. */
  readonly owner: string;
  readonly ingest: IngestSettings;
  readonly writeQueueMaxBytes: number;
  readonly clock: Clock;
};

const NO_BACKUP =
  'with storage.engine = clickhouse, points are backed up by the means of the cluster';

/** Makes what is missing of the tables that all policies share. */
export async function openClickHouse(options: ClickHouseOptions): Promise<StorageEngine> {
  const { clock } = options;
  const cluster = await Cluster.open(options, clock);
  try {
    for (const table of commonTables(options.database)) await cluster.define(table);
    await takeTables(cluster, options.owner, clock);
    const registry = await Registry.load(cluster);
    const writer = new Writer({
      cluster,
      registry,
      clock,
      settings: options.ingest,
      queueMaxBytes: options.writeQueueMaxBytes,
    });
    return engineOf({ cluster, registry, writer });
  } catch (error) {
    await cluster.close();
    throw error;
  }
}

type Parts = {
  readonly cluster: Cluster;
  readonly registry: Registry;
  readonly writer: Writer;
};

function engineOf(parts: Parts): StorageEngine {
  const { cluster, registry, writer } = parts;
  return {
    source: clusterSource(parts),
    writeLines: (request) => writer.lines(request),
    writePoints: (request) => writer.points(request),
    delete: (request) => deletePoints(parts, request),
    dropMeasurement: (database, measurement) => dropMeasurement(parts, database, measurement),
    dropPolicy: (policyId) => dropPolicy(parts, policyId),
    retainPolicies: async (policies) => {
      const kept = new Set(policies.map(({ id }) => id));
      const gone = new Set(registry.groupsOf(() => true).map(({ policyId }) => policyId));
      for (const policyId of gone) if (!kept.has(policyId)) await dropPolicy(parts, policyId);
    },
    dropShard: (id) => dropGroup(parts, id),
    shards: () => shardsOf(parts),
    statistics: () => statisticsOf(parts),
    damage: () => Promise.resolve([]),
    flush: () => Promise.resolve(),
    compact: () => Promise.resolve(),
    // eslint-disable-next-line require-yield -- there is nothing to give
    backup: async function* () {
      throw new InvalidRequest(NO_BACKUP);
    },
    restore: () => Promise.reject(new InvalidRequest(NO_BACKUP)),
    close: async () => {
      await writer.drain();
      await cluster.close();
    },
  };
}

async function shardsOf({ cluster, registry }: Parts): Promise<readonly ShardInfo[]> {
  const sizes = new Map<string, number>();
  const answers = await cluster.rowsOfAll(
    `SELECT table, partition, sum(bytes_on_disk) FROM system.parts
     WHERE active AND database = ${sqlText(cluster.settings.database)} GROUP BY table, partition`,
  );
  for (const answer of answers) {
    const reader = new RowReader(answer);
    while (reader.hasMore) {
      const place = `${reader.text()} ${reader.text()}`;
      sizes.set(place, (sizes.get(place) ?? 0) + Number(reader.uint64()));
    }
  }
  return registry
    .storedGroups(() => true)
    .map(({ policyId, ...group }) => ({
      ...group,
      policyId,
      shardGroupId: group.id,
      diskBytes: [pointsTable(policyId), seriesTable(policyId)].reduce(
        (sum, table) => sum + (sizes.get(`${table} ${group.id}`) ?? 0),
        0,
      ),
    }));
}

async function statisticsOf({ cluster, registry }: Parts): Promise<StorageStatistics> {
  const names = new Set(registry.storedGroups(() => true).map(({ database }) => database));
  const databases = await Promise.all(
    [...names].sort().map(async (database): Promise<DatabaseStatistics> => {
      const sources = partsOf(registry, { database }).map(
        ({
          policyId,
        }) => `SELECT measurement, series FROM ${cluster.table(seriesTable(policyId))} FINAL
           WHERE NOT is_gone`,
      );
      const answers = await cluster.rowsOfAll(
        `SELECT measurement, uniq(series) FROM (${sources.join(' UNION ALL ')})
         GROUP BY measurement`,
      );
      const measurements = new Set<string>();
      let seriesCount = 0;
      for (const answer of answers) {
        const reader = new RowReader(answer);
        while (reader.hasMore) {
          measurements.add(reader.text());
          seriesCount += Number(reader.uint64());
        }
      }
      return { database, seriesCount, measurementCount: measurements.size };
    }),
  );
  return { counters: {}, databases };
}
