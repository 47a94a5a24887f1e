// Opens an engine: recovery comes first, then everything that needs its result is constructed, each
// part complete at once.
import { Corruption } from '@tidemark/core';

import { NewerFormat } from '../damage.ts';
import type { Disk } from '../disk/disk.ts';
import { DiskReserve } from '../disk/reserve.ts';
import { indexDirectory, reservePath, walDirectory } from '../disk/paths.ts';
import { runBackground } from '../jobs/background.ts';
import { Checkpoints } from '../jobs/checkpoints.ts';
import { Compaction } from '../jobs/compaction.ts';
import { Flush } from '../jobs/flush.ts';
import { IndexRebuilds } from '../jobs/rebuild-indexes.ts';
import { Restores } from '../jobs/restore.ts';
import { Stopping } from '../jobs/stopping.ts';
import { LIMITS } from '../limits.ts';
import { ManifestFile, manifestPath } from '../manifest/manifest-file.ts';
import { lacksManifest } from '../manifest/rebuild.ts';
import { ShardFiles } from '../manifest/shard-file.ts';
import { Memtables } from '../memtable/memtables.ts';
import type { StorageOptions } from '../options.ts';
import { Gate } from '../schedule/gate.ts';
import { Pacer } from '../schedule/pacer.ts';
import { IndexFiles } from '../series/index-files.ts';
import { IndexCache } from '../series/index-cache.ts';
import { ShardKeys } from '../shard/shard-keys.ts';
import { ShardStore } from '../state/shard-store.ts';
import type { Contents } from '../state/contents.ts';
import { Databases } from '../state/databases.ts';
import { Ids } from '../state/ids.ts';
import { Reclaimer } from '../state/reclaimer.ts';
import { SegmentFiles } from '../state/segment-files.ts';
import { State } from '../state/state.ts';
import { StoppedDatabases } from '../state/stopped-databases.ts';
import { Wal } from '../wal/wal.ts';
import { Deletes } from '../write/deletes.ts';
import { Drops } from '../write/drops.ts';
import { Writes } from '../write/writes.ts';
import { Engine } from './engine.ts';
import type { StorageEnvironment } from './environment.ts';
import { recover, removeLeftovers } from './recovery.ts';
import { writeAgain } from '../disk/write-again.ts';
import type { UnsyncedEnd } from './recovery.ts';
import type { Resources } from './resources.ts';

/** Opens the engine of a directory that nobody else uses. */
export async function openEngine(
  options: StorageOptions,
  environment: StorageEnvironment,
  resources: Resources,
): Promise<Engine> {
  const { directory, log = () => undefined } = options;
  const { disk, clock, lock } = environment;
  const { turns, kernels } = resources;
  const fault = async (point: string): Promise<void> => environment.fault?.(point);
  const common = { disk, directory, clock, turns, log, fault };

  const contents = emptyContents(options, resources);
  const reclaimer = new Reclaimer();
  const indexFiles = new IndexFiles(common);
  const readers = environment.readers?.({ directory, leases: reclaimer });
  const segmentFiles = new SegmentFiles({
    disk,
    directory,
    reclaimer,
    kernels,
    onRemoved: (segments) => readers?.forget(segments.map(({ info }) => info.fileId)),
  });
  // A sync of these names may have failed, or been prevented by a kill. Replaced files must not
  // reappear after files that they need are removed.
  for (const path of [walDirectory(directory), indexDirectory(directory)]) {
    if (disk.exists(path)) await disk.syncDirectory(path);
  }
  disk.makeDirectory(directory);
  const { file: manifestFile, stored } = await openManifest(disk, directory);
  const recovery = { ...common, stored, contents, indexFiles, segmentFiles };
  const recovered = recover(recovery);
  // Replayed rows are visible now and must not be lost; the list will record the length of their
  // files.
  for (const end of recovered.unsyncedLogs) await makeDurable(disk, end);

  const wal = new Wal({
    disk,
    directory: walDirectory(directory),
    firstFileId: recovered.nextWalFileId,
    listed: recovered.listedLogs,
    fsync: options.walFsync ?? 'always',
    log: (message, error) => log('error', message, { error }),
  });
  const reserve = new DiskReserve({
    disk,
    path: reservePath(directory),
    sizeBytes: options.reserveBytes ?? 0,
    log,
  });
  const { storageId, walStart, namedIndexes, damagedLogs } = recovered;
  const servesDamaged = options.servesDamaged ?? false;
  const state = new State(contents, {
    ...common,
    storageId,
    walStart,
    namedIndexes,
    servesDamaged,
    manifestFile,
    shardFiles: new ShardFiles({
      ...common,
      lastChanged: stored.lastChanged,
      shards: stored.manifest.shards.map(({ descriptor }) => descriptor.id),
    }),
    reserve,
    reclaimer,
    wal,
  });

  try {
    if (recovered.isManifestBehind) await state.commit({});
    removeLeftovers(recovery);
  } catch (error) {
    // Leftovers only take space, until the next start.
    log('error', 'files left by a crash could not be removed', { error });
  }

  const stopping = new Stopping(clock);
  const shared = { ...common, state, wal, reserve, segmentFiles, indexFiles };
  const shardKeys = new ShardKeys({ disk, directory, shards: contents.shards });
  const signal = stopping.background;
  const checkpoints = new Checkpoints({ state, indexFiles, wal, signal });
  const flushSignal = stopping.flushes;
  const flush = new Flush({ ...shared, shardKeys, checkpoints, damagedLogs, signal: flushSignal });
  const compaction = new Compaction({ ...shared, shardKeys, signal });
  const deletedSeriesMin = options.deletedSeriesMin ?? LIMITS.deletedSeries.value;
  const rebuilds = new IndexRebuilds({ ...shared, flush, deletedSeriesMin, signal });
  const makeReserve = (): Promise<void> => {
    const pacer = new Pacer(turns);
    return reserve.make(() => pacer.pause());
  };
  /**
   * Frees the space of a drop on a full disk: the dropped rows are still in the log, whose files a
   * flush removes. The drop itself has succeeded, so failures are only logged.
   */
  const leaveReserve = async (): Promise<void> => {
    if (!reserve.isMissing) return;
    try {
      await flush.run();
    } catch (error) {
      log('error', 'flush failed', { error });
    }
    await makeReserve();
  };

  const { snapshotMaxAgeMs = LIMITS.snapshotAgeMs.value } = options;
  const isActive = options.hasBackgroundWork !== false;
  const flusher = isActive ? flush : undefined;
  const settings = options;
  const drops = new Drops();
  const writes = new Writes({ ...common, contents, wal, reserve, drops, flusher, settings });
  const gate = new Gate();
  const deletes = new Deletes({ ...shared, gate, drops, leaveReserve });
  const jobs = { contents, state, wal, flush, compaction, rebuilds, drops, makeReserve };
  return new Engine({
    state,
    wal,
    reclaimer,
    reading: { ...resources, clock, snapshotMaxAgeMs, reader: readers },
    readers,
    writes,
    deletes,
    flush,
    checkpoints,
    compaction,
    rebuilds,
    backup: { ...shared, flush, deletes: gate },
    restores: new Restores({ ...shared, drops, shardKeys }),
    stopping,
    log,
    lock,
    background: isActive ? runBackground({ ...common, ...jobs, settings }, signal) : undefined,
  });
}

const REPAIR_HINT = '`tidemark tsdb repair` makes a new one of the files of the shards';

/**
 * Throws `Corruption` when it is damaged or gone: without it all segments would look like
 * leftovers.
 */
async function openManifest(disk: Disk, directory: string): ReturnType<typeof ManifestFile.open> {
  const file = manifestPath(directory);
  try {
    if (disk.exists(file) || !lacksManifest(disk, directory)) {
      return await ManifestFile.open(disk, directory);
    }
  } catch (error) {
    if (error instanceof NewerFormat || !(error instanceof Corruption)) throw error;
    const message = `manifest is damaged: ${error.reason}; ${REPAIR_HINT}`;
    throw new Corruption(message, { file: error.file, offset: error.offset });
  }
  throw new Corruption(`manifest is missing; ${REPAIR_HINT}`, { file, offset: 0 });
}

/** A sync of these bytes may have failed before the process ended. */
async function makeDurable(disk: Disk, { path, from, to }: UnsyncedEnd): Promise<void> {
  const file = disk.open(path, 'modify');
  try {
    writeAgain(file, from, to);
    await file.sync();
  } finally {
    file.close();
  }
}

function emptyContents(
  options: StorageOptions,
  { schemaVersions }: Pick<Resources, 'schemaVersions'>,
): Contents {
  const ids = new Ids();
  const { checkpointSeriesMin } = options;
  const cache = new IndexCache(options.indexCacheBytes ?? LIMITS.indexCacheBytes.value);
  return {
    ids,
    shards: new ShardStore(schemaVersions),
    databases: new Databases(ids, { cache, schemaVersions, checkpointSeriesMin }),
    stopped: new StoppedDatabases(),
    memtables: new Memtables(options.memtableMaxBytes ?? LIMITS.memtableBytes.value),
  };
}
