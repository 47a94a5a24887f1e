// Recovery: opens the files that the manifest names, then replays the log. Damaged files are left
// out and noted; requests that need them fail later.
import { randomUUID } from 'node:crypto';

import type { Clock } from '@tidemark/core';
import { CodecError } from '@tidemark/kernels';
import type { Damage, StorageLog } from '@tidemark/storage-api';

import { DecodeError } from '../columns/bytes.ts';
import { damageOf } from '../damage.ts';
import type { RowBlock } from '../columns/row-block.ts';
import type { Disk } from '../disk/disk.ts';
import { hasSeriesOf, readIndexLater } from './later-index.ts';
import { namedIndexes } from '../manifest/manifest.ts';
import type { Manifest, ManifestDatabase, ManifestShard } from '../manifest/manifest.ts';
import type { StoredManifest } from '../manifest/manifest-file.ts';
import { SHARD_FILE_NAME } from '../manifest/shard-file.ts';
import { Deletion } from '../memtable/deletion.ts';
import { runStarts } from '../memtable/row-runs.ts';
import { finish } from '../schedule/steps.ts';
import type { Contents } from '../state/contents.ts';
import type { SegmentFiles } from '../state/segment-files.ts';
import type { IndexFiles } from '../series/index-files.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import type { Segment } from '../segment/segment.ts';
import { checkpointPath } from '../series/checkpoint.ts';
import { indexDamage } from '../series/index-damage.ts';
import { IndexLog } from '../series/index-log.ts';
import { seriesFilePath } from '../shard/series-file.ts';
import type { UnreadableSegment } from '../shard/shard.ts';
import { withSharedSeries } from '../shard/tombstone.ts';
import { checkLog } from '../wal/log-check.ts';
import type { LogFault } from '../wal/log-check.ts';
import type { ListedLogs, LogFileEntry } from '../wal/log-state.ts';
import { FRAME_FILE_HEADER_BYTES } from '../disk/frames.ts';
import type { FrameScan } from '../disk/frames.ts';
import { walFileId } from '../wal/wal.ts';
import { decodeRecord } from '../wal/wal-record.ts';
import type { RowsRecord, WalRecord } from '../wal/wal-record.ts';
import {
  applyDelete,
  applyDrop,
  applyRows,
  releaseDeleted,
  releaseDropped,
} from '../write/apply.ts';
import { applyAdditions, padIndex } from '../series/index-additions.ts';
import { indexDirectory, shardsDirectory, walDirectory } from '../disk/paths.ts';
import { registerSegment } from '../state/live-series.ts';

export type RecoveryOptions = {
  /** The manifest as it is on disk. */
  readonly stored: StoredManifest;
  /** Empty; filled here. */
  readonly contents: Contents;
  readonly segmentFiles: SegmentFiles;
  readonly indexFiles: IndexFiles;
  readonly clock: Clock;
  readonly disk: Disk;
  readonly directory: string;
  readonly log: StorageLog;
};

/** Bytes of a log file that were read and may not be on disk. */
export type UnsyncedEnd = { readonly path: string; readonly from: number; readonly to: number };

export type Recovered = {
  /** Identifies this directory; never changes. */
  readonly storageId: string;
  /** Rows of log files with smaller ids are in segments. */
  readonly walStart: number;
  readonly nextWalFileId: number;
  /** Files of the log, as they are listed from now on. */
  readonly listedLogs: ListedLogs;
  /** Log files with lost records. */
  readonly damagedLogs: Set<number>;
  /** Ends of log files that may not be on disk yet, because the process was killed. */
  readonly unsyncedLogs: readonly UnsyncedEnd[];
  /** Index files that the manifest names. */
  readonly namedIndexes: readonly number[];
  /** The manifest names shards or databases that the log has dropped. */
  readonly isManifestBehind: boolean;
};

/** Restores the contents as of the last acknowledged write. */
export function recover(options: RecoveryOptions): Recovered {
  const { contents, disk, directory, log } = options;
  const { manifest, hasDamagedCopy } = options.stored;
  const { ids, shards, databases, stopped } = contents;
  for (const path of [
    walDirectory(directory),
    indexDirectory(directory),
    shardsDirectory(directory),
  ]) {
    disk.makeDirectory(path);
  }
  if (hasDamagedCopy) log('error', 'a copy of the manifest is damaged; the other one is used', {});
  ids.reserve(manifest);
  // Includes files that no manifest names: a power cut may bring them back after their removal.
  for (const fileId of indexFileIds(disk, directory)) ids.reserve({ nextInstance: fileId + 1 });
  shards.reserveIds(manifest.nextShardId);
  for (const one of manifest.stopped ?? []) stopped.stop(one);
  const progress = { isOver: false };
  for (const ref of manifest.databases) openDatabase(options, ref, progress);
  for (const shard of manifest.shards) openShard(options, shard);
  // So far they are as the manifest says.
  shards.takeTouched();
  const { nextFileId, listed, damagedLogs, unsyncedLogs } = replayLog(options, manifest);
  // Series in segments that cannot be opened seem to have no data, but repair may bring them back.
  const hidden = new Set(
    [...shards.all()].flatMap(({ damage, descriptor }) =>
      damage === undefined ? [] : [descriptor.database],
    ),
  );
  for (const { name, stored } of databases.all()) {
    if (stored.isRead && !hidden.has(name)) stored.index.deleteAllEmpty();
  }
  progress.isOver = true;
  const isNamed = ({ descriptor }: ManifestShard): boolean => shards.has(descriptor.id);
  const isServed = ({ name, instance }: ManifestDatabase): boolean =>
    databases.get(name)?.instance === instance;
  const isManifestBehind = !manifest.shards.every(isNamed) || !manifest.databases.every(isServed);
  return {
    storageId: manifest.storageId === '' ? randomUUID() : manifest.storageId,
    walStart: manifest.walStart,
    nextWalFileId: nextFileId,
    listedLogs: listed,
    damagedLogs,
    unsyncedLogs,
    namedIndexes: namedIndexes(manifest),
    isManifestBehind,
  };
}

/** Ids of the index files and checkpoints that are there. */
function indexFileIds(disk: Disk, directory: string): readonly number[] {
  return disk.list(indexDirectory(directory)).flatMap((name) => {
    const id = /^(\d{8,})\.(?:series|checkpoint)$/.exec(name)?.[1];
    return id === undefined ? [] : [Number(id)];
  });
}

/**
 * Removes files that a crash left behind. Call it when the manifest on disk names nothing that the
 * log has dropped: until then only the log records the drops.
 */
export function removeLeftovers(options: RecoveryOptions): void {
  const { contents, indexFiles } = options;
  removeOrphans(options);
  indexFiles.removeOthers(contents.databases.indexFileIds());
}

function openDatabase(
  options: RecoveryOptions,
  ref: ManifestDatabase,
  progress: { readonly isOver: boolean },
): void {
  const { disk, log } = options;
  const { databases, stopped } = options.contents;
  const directory = indexDirectory(options.directory);
  let database = databases.add(ref);
  const { fileId } = database.stored;
  const file = new IndexLog(disk, directory, fileId);
  const path = checkpointPath(directory, fileId);
  if (!disk.exists(path)) {
    const from = { file, known: ref.index, isRecovered: () => progress.isOver };
    if (readIndexLater(options.contents, database, from)) return;
  }
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
    database = databases.add(ref);
  }
  const { stored, index } = database;
  const known = ref.index;
  // An unfinished flush may have appended more; those entries are in the write-ahead log too.
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
  stopped.stop({ database: ref.name, ...damage });
  stored.leaveDamaged(known);
}

function openShard({ contents, segmentFiles, log }: RecoveryOptions, stored: ManifestShard): void {
  const { shards, databases } = contents;
  const { id, database: name } = stored.descriptor;
  const segments: Segment[] = [];
  const unreadable: UnreadableSegment[] = [];
  for (const info of stored.segments) {
    try {
      segments.push(segmentFiles.open(id, info));
    } catch (error) {
      if (REFUSALS.has((error as NodeJS.ErrnoException).code)) throw error;
      const damage = segmentDamage(error, segmentFiles.pathOf(id, info.fileId));
      unreadable.push({ info, damage });
      log('error', 'segment cannot be opened', { ...damage });
    }
  }
  const { descriptor, seriesFileBytes } = stored;
  const tombstones = withSharedSeries(stored.tombstones);
  const shard = shards.make(descriptor, { segments, tombstones, unreadable, seriesFileBytes });
  shards.adopt(shard);
  const database = databases.get(name);
  if (database === undefined) return;
  const needsIndex = tombstones.length > 0 || segments.some((one) => !hasSeriesOf(database, one));
  const index = needsIndex || database.stored.isRead ? database.index : undefined;
  for (const segment of segments) registerSegment(shards, { shard, index }, segment);
}

/** Errors that do not mean damage: they fail the start, instead of leaving shards out. */
const REFUSALS: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EACCES', 'EPERM']);

function segmentDamage(error: unknown, file: string): Damage {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
    return { file, offset: 0, message: 'segment is missing' };
  }
  return damageOf(error, file);
}

/** Removes files that a crash left behind: written, but not named by the manifest. */
function removeOrphans({ contents, disk, directory }: RecoveryOptions): void {
  const root = shardsDirectory(directory);
  for (const name of disk.list(root)) {
    const shard = contents.shards.get(Number(name));
    if (shard === undefined) {
      disk.removeDirectory(`${root}/${name}`);
      continue;
    }
    // The files of a damaged shard stay: repair needs them.
    if (shard.damage !== undefined) continue;
    const used = new Set(shard.segments.map((segment) => segment.path));
    used.add(`${root}/${name}/${SHARD_FILE_NAME}`).add(seriesFilePath(directory, Number(name)));
    for (const file of disk.list(`${root}/${name}`)) {
      if (!used.has(`${root}/${name}/${file}`)) disk.remove(`${root}/${name}/${file}`);
    }
  }
}

/**
 * Applies the records of files from `walStart` on; a damaged file stops the databases whose records
 * it lost.
 */
function replayLog(options: RecoveryOptions, manifest: Manifest): Replayed {
  const { contents, disk, directory, log } = options;
  const { databases, stopped } = contents;
  const { walStart } = manifest;
  const replay = new Replay(contents, options.clock.monotonicMs());
  const damagedLogs = new Set<number>();
  const note = ({ databases: names, ...damage }: LogFault): void => {
    const { file, offset } = damage;
    log('error', damage.message, { file, offset, databases: names });
    if (names === undefined) stopped.stop(damage);
    else for (const database of names) stopped.stop({ database, ...damage });
  };
  removeOldLogs(options, manifest);
  const check = checkLog({
    disk,
    directory,
    walStart,
    isListed: manifest.hasLogList ?? false,
    knows: ({ name, instance }) => databases.get(name)?.instance === instance,
  });
  if (check.damagedCopy !== undefined)
    log('error', check.damagedCopy.message, { ...check.damagedCopy });
  check.faults.forEach(note);
  let nextFileId = Math.max(1, walStart);
  const unsyncedLogs: UnsyncedEnd[] = [];
  const files: LogFileEntry[] = [];
  for (const { id, path, entry, scan, tornBytes, syncedBytes, faults } of check.files) {
    faults.forEach(note);
    if (entry === undefined && faults.length === 0 && isUnbegun(scan)) {
      // The file is used again: a second one after it would make it look damaged while neither is
      // listed.
      nextFileId = Math.max(nextFileId, id);
      continue;
    }
    nextFileId = Math.max(nextFileId, id + 1);
    const owners = new Set<string>();
    let isGood = faults.length === 0;
    for (const payload of scan?.payloads ?? []) {
      const fault = replay.apply(payload, { path, entry, databases: owners });
      if (fault === undefined) continue;
      isGood = false;
      note(fault);
    }
    if (isGood && tornBytes > 0) {
      log('warn', 'the log ends in a write that was not acknowledged', { file: path, tornBytes });
    }
    if (!isGood) damagedLogs.add(id);
    // A damaged file stays listed with its proper length, so that the next start notices it too.
    const bytes = scan?.goodBytes;
    if (bytes !== undefined && entry?.bytes === undefined) {
      unsyncedLogs.push({ path, from: Math.min(syncedBytes, bytes), to: bytes });
    }
    files.push(isGood ? { id, bytes, databases: [...owners] } : damagedEntry(id, entry, scan));
  }
  for (const database of databases.all()) database.markLogged();
  const listed = { entries: files, isExpected: check.isListed, isHeld: check.faults.length > 0 };
  return { nextFileId, listed, damagedLogs, unsyncedLogs };
}

/** Whether the process ended before the first record of a file. */
function isUnbegun(scan: FrameScan | undefined): boolean {
  return scan !== undefined && scan.fileBytes <= FRAME_FILE_HEADER_BYTES;
}

type Replayed = {
  readonly nextFileId: number;
  readonly listed: ListedLogs;
  readonly damagedLogs: Set<number>;
  readonly unsyncedLogs: readonly UnsyncedEnd[];
};

function damagedEntry(
  id: number,
  entry: LogFileEntry | undefined,
  scan: FrameScan | undefined,
): LogFileEntry {
  return { id, bytes: entry?.bytes ?? scan?.fileBytes, databases: entry?.databases };
}

/**
 * Removes files that a crash left after the manifest released them; files with lost records are
 * kept aside.
 */
function removeOldLogs(
  { disk, directory }: RecoveryOptions,
  { walStart, stopped }: Manifest,
): void {
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
  readonly #contents: Contents;
  readonly #nowMs: number;
  /** Writes that were under way during a drop may come after it in the log; they are skipped. */
  readonly #droppedShards = new Set<number>();
  readonly #droppedInstances = new Set<number>();

  constructor(contents: Contents, nowMs: number) {
    this.#contents = contents;
    this.#nowMs = nowMs;
  }

  /** Applies a record and notes its database. Returns what is lost when it cannot be applied. */
  apply(payload: Uint8Array, from: RecordPlace): LogFault | undefined {
    const { path, entry, databases } = from;
    let record: WalRecord;
    try {
      record = decodeRecord(payload);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      const message = `a record of the log cannot be decoded: ${error.message}`;
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
        applyDelete(this.#contents, record, new Deletion(record.timeRange, record.rows));
        finish(releaseDeleted(this.#contents, record));
        break;
      case 'drop':
        for (const id of record.shardIds) {
          const name = this.#contents.shards.get(id)?.descriptor.database;
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
    const { databases, shards } = this.#contents;
    let database = databases.get(name);
    // The manifest has a later database of this name, so this one was dropped before the manifest
    // was written.
    if (database !== undefined && database.instance > instance) return;
    if (database?.instance !== instance) database = databases.add(record.database);
    const { index } = database;
    applyAdditions(index, record.additions);
    for (const { tables } of record.parts) for (const table of tables) padFor(index, table);
    for (const { shard: descriptor, tables } of record.parts) {
      if (this.#droppedShards.has(descriptor.id)) continue;
      const shard = shards.get(descriptor.id) ?? shards.add(descriptor);
      for (const logged of tables) {
        const table = ofKnownSeries(index, logged);
        if (table === undefined) continue;
        const { measurementId } = table;
        for (const { name: field, type } of table.columns) {
          shards.setField(shard, { measurementId, field }, type);
        }
        applyRows(this.#contents, { shard, index, nowMs: this.#nowMs }, table);
      }
    }
  }

  #applyDrop(shardIds: readonly number[]): void {
    const { databases } = this.#contents;
    const before = [...databases.all()];
    for (const id of shardIds) {
      this.#droppedShards.add(id);
      // The id is not reused, even if no rows of the shard have reached the log.
      this.#contents.shards.reserveIds(id + 1);
    }
    finish(releaseDropped(applyDrop(this.#contents, { kind: 'drop', shardIds })));
    for (const database of before) {
      if (databases.get(database.name) === undefined) this.#droppedInstances.add(database.instance);
    }
  }
}

/** Where a record was read. */
type RecordPlace = {
  readonly path: string;
  readonly entry: LogFileEntry | undefined;
  /** The databases of applied records are added here. */
  readonly databases: Set<string>;
};

/**
 * The rows whose series the index has; `undefined` when there are none. The index files may be
 * ahead of this record: they lack series that a later record has deleted.
 */
function ofKnownSeries(index: SeriesIndex, table: RowBlock): RowBlock | undefined {
  const { series, rows } = table;
  if (runStarts(series, rows).every((start) => index.has(series[start]!))) return table;
  const known: number[] = [];
  for (let row = 0; row < rows; row++) if (index.has(series[row]!)) known.push(row);
  return known.length === 0 ? undefined : table.select(known);
}

/** Adds placeholders for series that a damaged record lost, to keep their rows. */
function padFor(index: SeriesIndex, { measurementId, series, rows }: RowBlock): void {
  let largest = -1;
  for (let row = 0; row < rows; row++) if (series[row]! > largest) largest = series[row]!;
  padIndex(index, { measurements: measurementId + 1, series: largest + 1 });
}
