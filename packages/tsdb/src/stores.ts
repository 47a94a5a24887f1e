// The stores of the service: points and catalog, opened side by side, and documents.
import { join } from 'node:path';

import { Conflict } from '@tidemark/core';
import type { Clock, OpenParts } from '@tidemark/core';
import { LocalDocuments, makeDirectory, narrowAndLog, PRIVATE_DIRECTORY } from '@tidemark/process';
import type { ClickHouseStorage } from '@tidemark/clickhouse';
import { openStorage } from '@tidemark/storage';
import { INGEST_DEFAULTS, retainPolicies } from '@tidemark/storage-api';
import type { IngestSettings, PointStorage, Storage, StorageLog } from '@tidemark/storage-api';
import type { Logger } from 'pino';

import { Catalog } from './catalog/catalog.ts';
import { DocumentFiles } from './catalog/document-files.ts';
import type { KeptDocuments } from './catalog/document-files.ts';
import type { TsdbConfig } from './config/schema.ts';
import { policyRef } from './write/policy-ref.ts';

/** The catalog's part of `data.reserve-size`, in addition to all of it for the points. */
const CATALOG_SHARE = 8;

export type StoreOptions = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly openStorage?: typeof openStorage | undefined;
  /** Called when storage is lost for good. */
  readonly onLost: (reason: Error) => void;
  /** Called when the thread of storage is opened again, and when that is done. */
  readonly onAvailability: (isAvailable: boolean) => void;
};

export type Stores = {
  readonly directory: string;
  readonly catalog: Catalog;
  readonly documents: KeptDocuments;
  /**
   * Aborted when this service loses the lease for work that only one service on a storage may do;
   * `undefined` when it does not have it.
   */
  leaseSignal(): AbortSignal | undefined;
  /** Resolves when storage has read its log, with the points of the catalog's policies only. */
  recovered(): Promise<Storage>;
};

/** Opens the catalog while the thread of storage reads its log. Both are closed with `parts`. */
export async function openStores(
  config: TsdbConfig,
  options: StoreOptions,
  parts: OpenParts,
): Promise<Stores> {
  const { clock, log } = options;
  const directory = join(config.data.dir, 'tsdb');
  openDirectory(directory, 'data.dir (--data-dir)', log);
  const logStorage: StorageLog = (level, message, details) =>
    log[level]({ ...details, part: 'storage' }, message);
  const metaDirectory = config.meta.dir === '' ? join(directory, 'meta') : config.meta.dir;
  openDirectory(metaDirectory, 'meta.dir', log);
  const files = new DocumentFiles(join(metaDirectory, 'documents'), logStorage);
  if (config.storage.engine === 'clickhouse') {
    const cluster = await openCluster(config, clock, logStorage);
    parts.add(() => cluster.close());
    const catalog = Catalog.shared(cluster.catalog);
    const storage = { points: cluster, replicas: cluster };
    return {
      directory,
      catalog,
      documents: { files, store: cluster.documents },
      leaseSignal: () => cluster.leaseSignal(),
      recovered: () => recovered(storage, { catalog, config, clock, log }),
    };
  }
  const opening = startStorage(config, { ...options, directory, logStorage });
  // Its failure is thrown where it is awaited, which may be later.
  const openedOrNot = opening.catch(() => undefined);
  parts.add(async () => {
    await (await openedOrNot)?.close();
  });
  const catalog = await Catalog.open(metaDirectory, {
    reserveBytes: Math.ceil(config.data.reserveSizeBytes / CATALOG_SHARE),
    log: logStorage,
  });
  parts.add(() => catalog.close());
  if (catalog.hasDamagedCopy) log.error('a copy of the catalog is damaged; the other one is used');
  const alone = new AbortController();
  return {
    directory,
    catalog,
    documents: { files, store: new LocalDocuments(files) },
    leaseSignal: () => alone.signal,
    recovered: async () => {
      const engine = await opening;
      await requireCatalogOf(engine, catalog, metaDirectory);
      const { openRehearsal } = engine;
      const storage = { points: engine, maintenance: engine, openRehearsal };
      return recovered(storage, { catalog, config, clock, log });
    },
  };
}

async function recovered(
  storage: Storage,
  {
    catalog,
    config,
    clock,
    log,
  }: Pick<StoreOptions, 'clock' | 'log'> & {
    readonly catalog: Catalog;
    readonly config: TsdbConfig;
  },
): Promise<Storage> {
  const context = { now: clock.now(), limits: config.data };
  const { databases, nextId } = catalog.state;
  const policies = [...databases.values()].flatMap((database) =>
    database.policies.map((policy) => policyRef(database, policy, context)),
  );
  // Points of missing policies are invisible: those that cannot be dropped now are dropped at the
  // next start.
  await retainPolicies(storage.points, policies, nextId).catch((error: unknown) => {
    log.error({ err: error }, 'data of dropped retention policies could not be removed');
  });
  return storage;
}

function openDirectory(path: string, setting: string, log: Logger): void {
  makeDirectory(path, { setting, mode: PRIVATE_DIRECTORY });
  narrowAndLog(path, (level, message, fields) => log[level](fields, message));
}

function startStorage(
  config: TsdbConfig,
  {
    directory,
    log,
    logStorage,
    onLost,
    onAvailability,
    openStorage: open = openStorage,
  }: StoreOptions & {
    readonly directory: string;
    readonly logStorage: StorageLog;
  },
): ReturnType<typeof openStorage> {
  const { data, storage } = config;
  return open({
    directory: join(directory, 'data'),
    walFsync: data.walFsyncDelayMs > 0 ? 'interval' : 'always',
    walSyncIntervalMs: data.walFsyncDelayMs,
    walMaxBytes: data.walMaxSizeBytes,
    memtableMaxBytes: data.memtableMaxSizeBytes,
    quietFlushAfterMs: data.quietFlushAfterMs,
    writeQueueMaxBytes: data.writeQueueMaxSizeBytes,
    ingest: ingestSettings(data),
    indexCacheBytes: data.indexCacheSizeBytes,
    columnCacheBytes: data.columnCacheSizeBytes,
    queryThreads: data.queryThreads,
    servesDamaged: storage.serveDamaged,
    reserveBytes: data.reserveSizeBytes,
    log: logStorage,
    onFatal: (reason) => {
      log.fatal({ err: reason }, 'storage is lost; the service cannot continue');
      onLost(reason);
    },
    onAvailability,
  });
}

async function openCluster(
  { coordinator, data, storage }: TsdbConfig,
  clock: Clock,
  log: StorageLog,
): Promise<ClickHouseStorage> {
  const { openClickHouse } = await import('@tidemark/clickhouse');
  return openClickHouse({
    urls: storage.clickhouseUrls,
    database: storage.clickhouseDatabase,
    cluster: storage.clickhouseCluster,
    givesPartialAnswers: coordinator.partialAnswers,
    readTimeoutMs: coordinator.queryTimeoutMs,
    pingTimeoutMs: storage.clickhousePingTimeoutMs,
    ingest: ingestSettings(data),
    writeQueueMaxBytes: data.writeQueueMaxSizeBytes,
    writeTimeoutMs: coordinator.writeTimeoutMs,
    clock,
    log,
  });
}

/**
 * Shards of policies that are not in the catalog are dropped at start. With a new catalog that
 * would be all of them: a lost file, or a wrong `meta.dir`, must not cost the points.
 */
async function requireCatalogOf(
  storage: Pick<PointStorage, 'shards'>,
  catalog: Catalog,
  metaDirectory: string,
): Promise<void> {
  if (!catalog.isNew) return;
  const databases = new Set((await storage.shards()).map((shard) => shard.database));
  if (databases.size === 0) return;
  throw new Conflict(
    `there is data (${[...databases].join(', ')}) but no catalog in ${metaDirectory}: put the catalog back, or restore a backup into a new data directory`,
  );
}

function ingestSettings(data: TsdbConfig['data']): IngestSettings {
  return {
    ...INGEST_DEFAULTS,
    fieldTypes: data.fieldTypes === 'measurement' ? 'measurement' : 'shard',
    maxShards: data.maxShardsPerWrite,
    maxBadLines: data.maxBadLines,
    maxTextBytes: data.maxTextSizeBytes,
  };
}
