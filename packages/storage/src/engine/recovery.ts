// Opening: replays the log files in order. A torn tail is cut; damage in the middle is reported and stepped over.
import { randomUUID } from 'node:crypto';

import { Corruption } from '@tidemark/core';
import { CodecError } from '@tidemark/kernels';

import { DecodeError } from '../bytes.ts';
import { damageOf } from '../damage.ts';
import type { Damage } from '../damage.ts';
import type { RowBlock } from '../memtable/row-block.ts';
import { NewerFormat } from '../disk/checked-file.ts';
import type { Disk } from '../disk/disk.ts';
import { MANIFEST_NAME, readManifest } from '../manifest/manifest.ts';
import type { ManifestDatabase, ManifestShard, StoredManifest } from '../manifest/manifest.ts';
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
import { scanWalFile } from '../wal/wal-file.ts';
import { walFileId } from '../wal/wal.ts';
import { decodeRecord } from '../wal/wal-record.ts';
import type { RowsRecord, WalRecord } from '../wal/wal-record.ts';
import { applyAdditions, applyRows, padIndex } from './apply.ts';
import type { Database } from './database.ts';
import { applyDelete, applyDrop } from './deletes.ts';
import type { Engine } from './engine.ts';
import { Maintenance } from './maintenance.ts';
import { indexDirectory, segmentPath, shardsDirectory, walDirectory } from './paths.ts';
import { registerSegment } from './register.ts';

export type Recovered = { readonly maintenance: Maintenance; readonly nextWalFileId: number };

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
  const nextWalFileId = await replayLog(engine, { log, walStart: manifest.walStart });
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
  return { maintenance, nextWalFileId };
}

const REPAIR_HINT = '`tidemark tsdb repair` makes a new one of the files of the shards';

/** Throws `Corruption` when it is damaged or gone: without it all segments would look like leftovers. */
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

/** Reasons that say nothing about the file: the start fails with them instead of leaving shards out. */
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

/** Applies the records of files from `walStart` on and returns the id for the next log file. */
async function replayLog(
  engine: Engine,
  options: { readonly walStart: number; readonly log: StorageLog },
): Promise<number> {
  const { log, walStart } = options;
  const { disk } = engine.environment;
  const directory = walDirectory(engine.directory);
  const replay = new Replay(engine, log);
  let nextFileId = Math.max(1, walStart);
  for (const name of disk.list(directory)) {
    const id = walFileId(name);
    if (id === undefined) continue;
    if (id < walStart) {
      disk.remove(`${directory}/${name}`);
      continue;
    }
    nextFileId = Math.max(nextFileId, id + 1);
    const file = disk.open(`${directory}/${name}`, 'modify');
    try {
      const scan = scanWalFile(file);
      for (const offset of scan.damagedAt) {
        log('error', 'log record is damaged and was left out', { file: file.path, offset });
      }
      for (const payload of scan.payloads) replay.apply(payload, file.path);
      if (scan.goodBytes < scan.fileBytes) {
        const { goodBytes: offset, fileBytes } = scan;
        const details = { file: file.path, offset, cutBytes: fileBytes - offset };
        log('warn', 'torn tail of the log was cut', details);
        file.truncate(offset);
        await file.sync();
      }
    } finally {
      file.close();
    }
  }
  for (const database of engine.databases.values()) database.markLogged();
  return nextFileId;
}

class Replay {
  readonly #engine: Engine;
  readonly #log: StorageLog;
  /** Writes that were on their way while these were dropped come behind the drop in the log. */
  readonly #droppedShards = new Set<number>();
  readonly #droppedInstances = new Set<number>();

  constructor(engine: Engine, log: StorageLog) {
    this.#engine = engine;
    this.#log = log;
  }

  apply(payload: Uint8Array, file: string): void {
    let record: WalRecord;
    try {
      record = decodeRecord(payload);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      // The checksum was right, so this is not damage of the disk: say so, and keep the rest.
      const wrapped = new Corruption('log record can not be decoded', {
        file,
        offset: payload.byteOffset,
      });
      this.#log('error', wrapped.message, { error });
      return;
    }
    switch (record.kind) {
      case 'rows':
        this.#applyRows(record);
        break;
      case 'delete':
        applyDelete(this.#engine, record);
        break;
      case 'drop':
        this.#applyDrop(record.shardIds);
        break;
    }
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

/** Rows whose series a damaged record lost are kept under a name that says so. */
function padFor({ index }: Database, { measurementId, series, rows }: RowBlock): void {
  let largest = -1;
  for (let row = 0; row < rows; row++) if (series[row]! > largest) largest = series[row]!;
  padIndex(index, { measurements: measurementId + 1, series: largest + 1 });
}
