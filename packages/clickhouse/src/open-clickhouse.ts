// Opens storage on a ClickHouse cluster: the interface for the database service.
import type { Clock, DocumentStore } from '@tidemark/core';
import type { SeriesSource } from '@tidemark/query';
import type {
  DatabaseStatistics,
  DeleteRequest,
  IngestSettings,
  PointStorage,
  ReplicaState,
  ShardInfo,
  StorageLog,
  StorageReplicas,
  StorageStatistics,
  WriteLinesRequest,
  WriteOutcome,
  WritePointsRequest,
} from '@tidemark/storage-api';

import { Cluster } from './cluster/cluster.ts';
import type { ClusterSettings } from './cluster/cluster.ts';
import { LIMITS } from './limits.ts';
import { liveSeries } from './read/live.ts';
import { partsOf } from './read/parts.ts';
import { SeriesCache } from './read/series-cache.ts';
import { clusterSource } from './read/source.ts';
import { Lease } from './shared/lease.ts';
import type { Registry } from './shared/registry.ts';
import { SharedDocuments } from './shared/shared-documents.ts';
import { SharedState } from './shared/shared-state.ts';
import { sharedText } from './shared/shared-text.ts';
import type { SharedText } from './shared/shared-text.ts';
import { sqlText } from './sql/literals.ts';
import { RowReader } from './sql/row-binary.ts';
import { commonTables, pointsTable, seriesTable } from './sql/tables.ts';
import { DeleteRemoval } from './write/delete-removal.ts';
import { deletePoints, dropMeasurement } from './write/deletes.ts';
import { dropGroup, dropPolicy } from './write/drops.ts';
import { PartitionSweeper } from './write/partition-sweeper.ts';
import { Writer } from './write/writer.ts';

export type ClickHouseOptions = ClusterSettings & {
  readonly ingest: IngestSettings;
  readonly writeQueueMaxBytes: number;
  /** Rows of one page of a scan; `LIMITS.pageRows` when absent. */
  readonly pageRows?: number | undefined;
  /** `LIMITS.sweepMs` when absent. */
  readonly sweepMs?: number | undefined;
  /** `LIMITS.deleteKeptMs` when absent. */
  readonly deleteKeptMs?: number | undefined;
  /** `LIMITS.pendingDeletes` when absent. */
  readonly pendingDeletesMax?: number | undefined;
  /** The service answers a write with 500 after this time; 0 is never. */
  readonly writeTimeoutMs: number;
  readonly clock: Clock;
  readonly log: StorageLog;
};

/** Opens storage, and creates the common tables if they are missing. */
export async function openClickHouse(options: ClickHouseOptions): Promise<ClickHouseStorage> {
  const { clock, log, pageRows = LIMITS.pageRows.value, sweepMs, deleteKeptMs } = options;
  const { pendingDeletesMax = LIMITS.pendingDeletes.value } = options;
  const cluster = await Cluster.open(options, clock);
  try {
    for (const table of commonTables(options.database)) await cluster.define(table);
    const state = await SharedState.open(cluster, clock, log);
    const seriesCache = new SeriesCache();
    const lease = new Lease({ cluster, state, clock, log });
    const shared = { cluster, state, lease, clock, log, sweepMs };
    const sweeper = new PartitionSweeper(shared);
    const removal = new DeleteRemoval({ ...shared, deleteKeptMs });
    const writer = new Writer({
      cluster,
      state,
      clock,
      log,
      settings: options.ingest,
      queueMaxBytes: options.writeQueueMaxBytes,
      timeoutMs: options.writeTimeoutMs,
    });
    return new ClickHouseStorage({
      cluster,
      state,
      registry: state.registry,
      writer,
      lease,
      sweeper,
      removal,
      clock,
      log,
      pageRows,
      seriesCache,
      pendingDeletesMax,
    });
  } catch (error) {
    await cluster.close();
    throw error;
  }
}

type Parts = {
  readonly cluster: Cluster;
  readonly state: SharedState;
  readonly registry: Registry;
  readonly writer: Writer;
  readonly lease: Lease;
  readonly sweeper: PartitionSweeper;
  readonly removal: DeleteRemoval;
  readonly clock: Clock;
  readonly log: StorageLog;
  readonly pageRows: number;
  readonly seriesCache: SeriesCache;
  readonly pendingDeletesMax: number;
};

/** Storage, and the other state that front ends share. */
export class ClickHouseStorage implements PointStorage, StorageReplicas {
  readonly source: SeriesSource;
  /** The catalog of all front ends. */
  readonly catalog: SharedText;
  /** Documents of the web application, shared by all front ends. */
  readonly documents: DocumentStore;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.source = clusterSource(parts);
    this.catalog = sharedText(parts.state);
    this.documents = new SharedDocuments(parts);
  }

  bodyBuffer(sizeBytes: number): Uint8Array {
    return this.#parts.writer.bodyBuffer(sizeBytes);
  }

  writeLines(request: WriteLinesRequest): Promise<WriteOutcome> {
    return this.#parts.writer.lines(request);
  }

  writePoints(request: WritePointsRequest): Promise<WriteOutcome> {
    return this.#parts.writer.points(request);
  }

  delete(request: DeleteRequest): Promise<void> {
    return deletePoints(this.#parts, request);
  }

  dropMeasurement(database: string, measurement: string): Promise<void> {
    return dropMeasurement(this.#parts, database, measurement);
  }

  dropPolicy(policyId: number): Promise<void> {
    return dropPolicy(this.#parts, policyId);
  }

  dropShard(id: number): Promise<boolean> {
    return dropGroup(this.#parts, id);
  }

  shards(): Promise<readonly ShardInfo[]> {
    return shardsOf(this.#parts);
  }

  statistics(): Promise<StorageStatistics> {
    return statisticsOf(this.#parts);
  }

  replicas(): Promise<readonly ReplicaState[]> {
    return this.#parts.cluster.replicas();
  }

  /** Aborted when this front end loses the lease; `undefined` while it does not have it. */
  leaseSignal(): AbortSignal | undefined {
    return this.#parts.lease.signal;
  }

  async close(): Promise<void> {
    const { cluster, state, writer, lease, sweeper, removal } = this.#parts;
    await writer.drain();
    await removal.close();
    await sweeper.close();
    await lease.close();
    await state.close();
    await cluster.close();
  }
}

/** Statistics leave out shards that do not answer. */
const SKIP_UNREACHABLE = { onUnreachable: () => undefined };

async function shardsOf({ cluster, registry }: Parts): Promise<readonly ShardInfo[]> {
  const sizes = new Map<string, number>();
  const answers = await cluster.rowsOfAll(
    `SELECT table, partition, sum(bytes_on_disk) FROM system.parts
     WHERE active AND database = ${sqlText(cluster.settings.database)} GROUP BY table, partition`,
    SKIP_UNREACHABLE,
  );
  for (const answer of answers) {
    const reader = new RowReader(answer);
    while (reader.hasMore) {
      const partition = `${reader.text()} ${reader.text()}`;
      sizes.set(partition, (sizes.get(partition) ?? 0) + Number(reader.uint64()));
    }
  }
  return registry
    .groupsOf(() => true)
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
  const names = new Set(registry.groupsOf(() => true).map(({ database }) => database));
  const databases = await Promise.all(
    [...names].sort().map(async (database): Promise<DatabaseStatistics> => {
      const sources = partsOf(registry, { database }).map(
        (part) => `SELECT measurement, series FROM ${liveSeries({ cluster, registry, part })}`,
      );
      const answers = await cluster.rowsOfAll(
        `SELECT measurement, uniq(series) FROM (${sources.join(' UNION ALL ')})
         GROUP BY measurement`,
        SKIP_UNREACHABLE,
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
