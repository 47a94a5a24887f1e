// Opening: what the manifest names is opened, then the log is replayed. What is damaged is left out
// and noted; what needs it fails then.
import { randomUUID } from 'node:crypto';

import { Corruption } from '@tidemark/core';
import { CodecError } from '@tidemark/kernels';

import { DecodeError } from '../columns/bytes.ts';
import { damageOf } from '../damage.ts';
import type { Damage } from '../damage.ts';
import type { RowBlock } from '../columns/row-block.ts';
import { NewerFormat } from '../disk/checked-file.ts';
import type { Disk } from '../disk/disk.ts';
import { MANIFEST_NAME, readManifest } from '../manifest/manifest.ts';
import type {
  Manifest,
  ManifestDatabase,
  ManifestShard,
  StoredManifest,
} from '../manifest/manifest.ts';
import { lacksManifest } from '../manifest/rebuild.ts';
import { SHARD_FILE_NAME } from '../manifest/shard-file.ts';
import type { StorageLog } from '../options.ts';
import { PageCache } from '../segment/page-cache.ts';
import type { Segment } from '../segment/segment.ts';
import { checkpointPath } from '../series/checkpoint.ts';
import { indexDamage } from '../series/index-damage.ts';
import { IndexLog } from '../series/index-log.ts';
import { seriesFilePath } from '../shard/series-file.ts';
import type { UnreadableSegment } from '../shard/shard.ts';
import { checkLog } from '../wal/log-check.ts';
import type { LogFault } from '../wal/log-check.ts';
import type { ListedLogs, LogFileEntry } from '../wal/log-state.ts';
import type { WalScan } from '../disk/frames.ts';
import { walFileId } from '../wal/wal.ts';
import { decodeRecord } from '../wal/wal-record.ts';
import type { RowsRecord, WalRecord } from '../wal/wal-record.ts';
import { applyRows } from '../write/apply.ts';
import { applyAdditions, padIndex } from '../series/index-additions.ts';
import type { Database } from '../state/database.ts';
import { applyDelete, applyDrop } from '../write/deletes.ts';
import type { Engine } from './engine.ts';
import { Maintenance } from './maintenance.ts';
import { indexDirectory, segmentPath, shardsDirectory, walDirectory } from '../disk/paths.ts';
import { registerSegment } from '../shard/live-series.ts';

export type Recovered = {
  readonly maintenance: Maintenance;
  readonly nextWalFileId: number;
  /** Files of the log, as they are listed from now on. */
  readonly listedLogs: Replayed['listed'];
};

/** Brings the engine to the state of the last acknowledged write. */
export async function recover(engine: Engine, log: StorageLog): Promise<Recovered> {
  const { disk } = engine.environment;
  const { directory } = engine;
  for (const path of [
    walDirectory(directory),
    indexDirectory(directory),
    shardsDirectory(directory),
  ]) {
    disk.makeDirectory(path);
  }
  const { manifest, isMended } = presentManifest(disk, directory);
  if (isMended) log('error', 'a copy of the manifest is damaged; the other one is used', {});
  engine.reserveIds(manifest);
  engine.storageId = manifest.storageId === '' ? randomUUID() : manifest.storageId;
  engine.shards.reserveIds(manifest.nextShardId);
  const maintenance = new Maintenance(engine, new PageCache(), manifest.walStart);
  for (const one of manifest.stopped ?? []) engine.stopped.stop(one);
  for (const ref of manifest.databases) openDatabase(engine, ref, log);
  for (const shard of manifest.shards) openShard(engine, shard, { maintenance, log });
  const { nextFileId: nextWalFileId, listed: listedLogs } = replayLog(engine, manifest, log);
  // Series of segments that can not be opened look dead: repair may bring them back.
  const hidden = new Set(
    [...engine.shards.all()].flatMap(({ damage, descriptor }) =>
      damage === undefined ? [] : [descriptor.database],
    ),
  );
  for (const { name, index } of engine.databases.values()) {
    if (!hidden.has(name)) index.forgetAllDead();
  }
  removeOrphans(engine);
  engine.removeOrphanIndexes();
  return { maintenance, nextWalFileId, listedLogs };
}

const REPAIR_HINT = '`tidemark tsdb repair` makes a new one of the files of the shards';

/**
 * Throws `Corruption` when it is damaged or gone: without it all segments would look like
 * leftovers.
 */
function presentManifest(disk: Disk, directory: string): StoredManifest {
  const file = `${directory}/${MANIFEST_NAME}`;
  try {
    if (disk.exists(file) || !lacksManifest(disk, directory)) return readManifest(disk, directory);
  } catch (error) {
    if (error instanceof NewerFormat || !(error instanceof Corruption)) throw error;
    throw new Corruption(`manifest is damaged in all copies; ${REPAIR_HINT}`, { file, offset: 0 });
  }
  throw new Corruption(`manifest is missing; ${REPAIR_HINT}`, { file, offset: 0 });
}

function openDatabase(engine: Engine, ref: ManifestDatabase, log: StorageLog): void {
  const { disk } = engine.environment;
  const directory = indexDirectory(engine.directory);
  let database = engine.addDatabase(ref);
  const { fileId } = database.stored;
  const file = new IndexLog(disk, directory, fileId);
  const path = checkpointPath(directory, fileId);
  let covered = 0;
  try {
    covered = database.stored.readCheckpoint({ disk, path });
  } catch (error) {
    if (!(error instanceof DecodeError || error instanceof CodecError)) throw error;
    log('warn', 'series index checkpoint is damaged; the index is built anew', {
      file: path,
      error,
    });
    disk.remove(path);
    database = engine.addDatabase(ref);
  }
  const { stored, index } = database;
  const known = ref.index;
  // A flush that did not come to its end may have left more, which the log of writes has too.
  const to = known === undefined ? undefined : Math.max(known.bytes, covered);
  const contents = file.read({ from: covered, to });
  for (const entry of contents.additions) applyAdditions(index, entry);
  database.markLogged();
  const { goodBytes: logBytes, damagedAt } = contents;
  const continues = covered > 0 && logBytes === known?.bytes ? known.checksum : undefined;
  stored.markPersisted({ logBytes, checksum: covered > 0 ? continues : file.checksum(logBytes) });
  const message = indexDamage(stored.persistedEnd, { known, covered, damagedAt });
  if (message === undefined) return;
  const damage = { file: file.path, offset: damagedAt[0] ?? logBytes, message };
  log('error', 'series index is damaged; its database is stopped', { ...damage });
  engine.stopped.stop({ database: ref.name, ...damage });
  stored.leaveDamaged(known);
}

function openShard(
  engine: Engine,
  stored: ManifestShard,
  options: { readonly maintenance: Maintenance; readonly log: StorageLog },
): void {
  const shard = engine.shards.add(stored.descriptor);
  const { id, database: name } = stored.descriptor;
  const segments: Segment[] = [];
  const unreadable: UnreadableSegment[] = [];
  for (const info of stored.segments) {
    try {
      segments.push(options.maintenance.openSegment(id, info));
    } catch (error) {
      if (REFUSALS.has((error as NodeJS.ErrnoException).code)) throw error;
      const damage = segmentDamage(error, segmentPath(engine.directory, id, info.fileId));
      unreadable.push({ info, damage });
      options.log('error', 'segment can not be opened', { ...damage });
    }
  }
  shard.segments = segments;
  shard.unreadable = unreadable;
  shard.tombstones = stored.tombstones;
  shard.seriesFileBytes = stored.seriesFileBytes;
  const index = engine.databases.get(name)?.index;
  if (index === undefined) return;
  for (const segment of segments) registerSegment({ shard, index }, segment);
}

/**
 * Reasons that say nothing about the file: the start fails with them instead of leaving shards out.
 */
const REFUSALS: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EACCES', 'EPERM']);

function segmentDamage(error: unknown, file: string): Damage {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
    return { file, offset: 0, message: 'segment is missing' };
  }
  return damageOf(error, file);
}

/** Files that a crash left behind: written, but not part of the manifest. */
function removeOrphans(engine: Engine): void {
  const { disk } = engine.environment;
  const root = shardsDirectory(engine.directory);
  for (const name of disk.list(root)) {
    const shard = engine.shards.get(Number(name));
    if (shard === undefined) {
      disk.removeDirectory(`${root}/${name}`);
      continue;
    }
    // Files of a damaged shard are evidence: repair looks at them.
    if (shard.damage !== undefined) continue;
    const used = new Set(shard.segments.map((segment) => segment.path));
    used
      .add(`${root}/${name}/${SHARD_FILE_NAME}`)
      .add(seriesFilePath(engine.directory, Number(name)));
    for (const file of disk.list(`${root}/${name}`)) {
      if (!used.has(`${root}/${name}/${file}`)) disk.remove(`${root}/${name}/${file}`);
    }
  }
}

/**
 * Applies the records of files from `walStart` on; files that are damaged stop the databases whose
 * records they lost.
 */
function replayLog(engine: Engine, manifest: Manifest, log: StorageLog): Replayed {
  const { disk } = engine.environment;
  const { directory, stopped } = engine;
  const { walStart } = manifest;
  const replay = new Replay(engine);
  const note = ({ databases, ...damage }: LogFault): void => {
    log('error', damage.message, { file: damage.file, offset: damage.offset, databases });
    if (databases === undefined) stopped.stop(damage);
    else for (const database of databases) stopped.stop({ database, ...damage });
  };
  removeOldLogs(engine, manifest);
  const check = checkLog({
    disk,
    directory,
    walStart,
    isListed: manifest.hasLogList ?? false,
    knows: ({ name, instance }) => engine.databases.get(name)?.instance === instance,
  });
  if (check.mended !== undefined) log('error', check.mended.message, { ...check.mended });
  check.faults.forEach(note);
  let nextFileId = Math.max(1, walStart);
  const files: LogFileEntry[] = [];
  for (const { id, path, entry, scan, tornBytes, faults } of check.files) {
    nextFileId = Math.max(nextFileId, id + 1);
    faults.forEach(note);
    const databases = new Set<string>();
    let isGood = faults.length === 0;
    for (const payload of scan?.payloads ?? []) {
      const fault = replay.apply(payload, { path, entry, databases });
      if (fault === undefined) continue;
      isGood = false;
      note(fault);
    }
    if (isGood && tornBytes > 0) {
      log('warn', 'the log ends in a write that was not acknowledged', { file: path, tornBytes });
    }
    if (!isGood) engine.damagedLogs.add(id);
    // What is damaged stays listed as it should be, so that the next start notices it too.
    const bytes = scan?.goodBytes;
    files.push(isGood ? { id, bytes, databases: [...databases] } : damagedEntry(id, entry, scan));
  }
  for (const database of engine.databases.values()) database.markLogged();
  const listed = { entries: files, isExpected: check.isListed, isHeld: check.faults.length > 0 };
  return { nextFileId, listed };
}

type Replayed = {
  readonly nextFileId: number;
  readonly listed: ListedLogs;
};

function damagedEntry(
  id: number,
  entry: LogFileEntry | undefined,
  scan: WalScan | undefined,
): LogFileEntry {
  return { id, bytes: entry?.bytes ?? scan?.fileBytes, databases: entry?.databases };
}

/**
 * Files that a crash left after the manifest let go of them; those of which something is lost are
 * kept aside.
 */
function removeOldLogs({ environment, directory }: Engine, { walStart, stopped }: Manifest): void {
  const { disk } = environment;
  const folder = walDirectory(directory);
  for (const name of disk.list(folder)) {
    const id = walFileId(name);
    if (id === undefined || id >= walStart) continue;
    const path = `${folder}/${name}`;
    if (stopped?.some(({ file }) => file === path) === true) continue;
    disk.remove(path);
  }
}

class Replay {
  readonly #engine: Engine;
  /** Writes that were on their way while these were dropped come behind the drop in the log. */
  readonly #droppedShards = new Set<number>();
  readonly #droppedInstances = new Set<number>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Applies a record and notes whose it was; what is lost when it can not be. */
  apply(payload: Uint8Array, from: RecordPlace): LogFault | undefined {
    const { path, entry, databases } = from;
    let record: WalRecord;
    try {
      record = decodeRecord(payload);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      const message = `a record of the log can not be decoded: ${error.message}`;
      const offset = payload.byteOffset;
      return { file: path, offset, message, databases: entry?.databases };
    }
    switch (record.kind) {
      case 'rows':
        databases.add(record.database.name);
        this.#applyRows(record);
        break;
      case 'delete':
        databases.add(record.database.name);
        applyDelete(this.#engine, record);
        break;
      case 'drop':
        for (const id of record.shardIds) {
          const name = this.#engine.shards.get(id)?.descriptor.database;
          if (name !== undefined) databases.add(name);
        }
        this.#applyDrop(record.shardIds);
        break;
    }
    return undefined;
  }

  #applyRows(record: RowsRecord): void {
    const { name, instance } = record.database;
    if (this.#droppedInstances.has(instance)) return;
    let database = this.#engine.databases.get(name);
    if (database?.instance !== instance) database = this.#engine.addDatabase(record.database);
    applyAdditions(database.index, record.additions);
    for (const { tables } of record.parts) for (const table of tables) padFor(database, table);
    for (const { shard: descriptor, tables } of record.parts) {
      if (this.#droppedShards.has(descriptor.id)) continue;
      const { shards } = this.#engine;
      const shard = shards.get(descriptor.id) ?? shards.add(descriptor);
      shard.lastWriteMs = this.#engine.environment.clock.monotonicMs();
      for (const table of tables) {
        for (const column of table.columns) {
          shard.fields.set(table.measurementId, column.name, column.type);
        }
        this.#engine.memtableBytes += applyRows(database.index, shard, table);
      }
    }
  }

  #applyDrop(shardIds: readonly number[]): void {
    const before = [...this.#engine.databases.values()];
    for (const id of shardIds) this.#droppedShards.add(id);
    applyDrop(this.#engine, { kind: 'drop', shardIds });
    for (const database of before) {
      if (!this.#engine.databases.has(database.name)) this.#droppedInstances.add(database.instance);
    }
  }
}

/** Where a record was read. */
type RecordPlace = {
  readonly path: string;
  readonly entry: LogFileEntry | undefined;
  /** Gets the databases of records that are applied. */
  readonly databases: Set<string>;
};

/** Rows whose series a damaged record lost are kept under a name that says so. */
function padFor({ index }: Database, { measurementId, series, rows }: RowBlock): void {
  let largest = -1;
  for (let row = 0; row < rows; row++) if (series[row]! > largest) largest = series[row]!;
  padIndex(index, { measurements: measurementId + 1, series: largest + 1 });
}
