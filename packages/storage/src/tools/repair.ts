// Repairs a directory: rewrites damaged files with what can be read of them, and lists what is
// lost. The damaged files are kept aside.
import type { Column } from '@tidemark/core';
import type { Damage } from '@tidemark/storage-api';

import { seriesOfRows } from '../columns/series-rows.ts';
import { DecodeError } from '../columns/bytes.ts';
import { damageOf } from '../damage.ts';
import { copyAside, damagedDirectory, moveAside, writeFile } from '../disk/keep-aside.ts';
import { segmentPath, shardDirectory, walDirectory } from '../disk/paths.ts';
import type { Run } from '../columns/run.ts';
import { IndexedManifest } from '../manifest/manifest-change.ts';
import { manifestFiles, replaceManifest } from '../manifest/manifest-file.ts';
import type { Manifest, ManifestDatabase, ManifestShard } from '../manifest/manifest.ts';
import { ShardFiles } from '../manifest/shard-file.ts';
import type { ChunkMeta, SegmentMeasurement } from '../segment/format.ts';
import type { Segment, SegmentInfo } from '../segment/segment.ts';
import { SegmentWriter } from '../segment/writer.ts';
import { readSeriesFile, seriesFilePath } from '../shard/series-file.ts';
import { LogState } from '../wal/log-state.ts';
import type { LogFileEntry } from '../wal/log-state.ts';
import { frameRecord, LISTED_VERSION, frameFileHeader } from '../disk/frames.ts';
import { walFileId } from '../wal/wal.ts';
import { decodeRecord, encodeFramed } from '../wal/wal-record.ts';
import type { WalRecord } from '../wal/wal-record.ts';
import { checkpointDamage, HeldSeries } from './index-contents.ts';
import { repairIndex, rewriteSeriesFile } from './repair-index.ts';
import { openLog, openSegment, withDirectory } from './directory.ts';
import type { OpenDirectory, ToolOptions } from './directory.ts';
import { findOrphans, LoggedShards } from './orphans.ts';
import type { Orphan } from './orphans.ts';

export type RepairReport = {
  readonly segmentsChecked: number;
  readonly segmentsRewritten: number;
  /** The manifest could not be read, and was rebuilt from the files of the shards. */
  readonly isManifestRebuilt: boolean;
  /** Segments of which nothing could be read. */
  readonly segmentsLost: number;
  readonly rowsKept: number;
  /** Files of the log that were missing, or were rewritten without damaged records. */
  readonly logsRewritten: number;
  /**
   * Series indexes that were rebuilt from what is left of them and from the keys beside segments.
   */
  readonly indexesRewritten: number;
  /**
   * Rewritten files of series keys and of shards' parts of the manifest. Nothing is lost with
   * these.
   */
  readonly seriesFilesRewritten: number;
  readonly shardFilesRewritten: number;
  /** The lost data. `rows` is known when the directory of the segment can be read. */
  readonly lost: readonly (Damage & { readonly rows: number | undefined })[];
  /** Shards that belonged to no policy or database. Their files are in `movedTo`. */
  readonly setAside: readonly Orphan[];
  /** The folder with the damaged files. */
  readonly movedTo: string | undefined;
};

type Work = {
  segmentsChecked: number;
  segmentsRewritten: number;
  segmentsLost: number;
  rowsKept: number;
  logsRewritten: number;
  lost: (Damage & { rows: number | undefined })[];
  indexesRewritten: number;
  seriesFilesRewritten: number;
  nextFileId: number;
  nextInstance: number;
  moved: string[];
};

/** Repairs a directory that no engine has open. */
export function repairDirectory(options: ToolOptions): Promise<RepairReport> {
  return withDirectory(options, async (open) => {
    const { disk, directory, manifest } = open;
    const work: Work = {
      segmentsChecked: 0,
      segmentsRewritten: 0,
      segmentsLost: 0,
      rowsKept: 0,
      logsRewritten: 0,
      lost: [],
      indexesRewritten: 0,
      seriesFilesRewritten: 0,
      nextFileId: manifest.nextFileId,
      nextInstance: manifest.nextInstance,
      moved: [],
    };
    if (open.rebuilt !== undefined) {
      const { damage, lost, leftOut } = open.rebuilt;
      for (const one of [damage, ...lost]) work.lost.push({ ...one, rows: undefined });
      work.moved.push(...leftOut);
      for (const path of manifestFiles(disk, directory)) await copyAside(open, path);
    }
    const setAside = findOrphans(open, loggedShards(open), options.policies);
    const orphanIds = new Set(setAside.map(({ shardId }) => shardId));
    for (const { file } of setAside) {
      work.moved.push(...disk.list(file).map((name) => `${file}/${name}`));
    }
    const present = manifest.shards.filter(({ descriptor }) => !orphanIds.has(descriptor.id));
    const shards: ManifestShard[] = [];
    const held = new Map<string, HeldSeries>();
    const totalBytes = present
      .flatMap((shard) => shard.segments)
      .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    let doneBytes = 0;
    for (const shard of present) {
      const segments: SegmentInfo[] = [];
      const heldHere = held.get(shard.descriptor.database) ?? new HeldSeries();
      held.set(shard.descriptor.database, heldHere);
      for (const info of shard.segments) {
        const path = segmentPath(directory, shard.descriptor.id, info.fileId);
        options.onProgress?.({ doneBytes, totalBytes, file: path });
        doneBytes += info.sizeBytes;
        const repaired = await repairSegment(open, { shard, info, path, held: heldHere }, work);
        if (repaired !== info) work.moved.push(path);
        if (repaired !== undefined) segments.push(repaired);
      }
      shards.push({ ...shard, segments });
    }
    const indexes = await repairIndexes(open, { shards, held }, work);
    const repairedShards = await repairSeriesFiles(open, { shards, indexes }, work);
    const repaired: Manifest = {
      ...manifest,
      nextFileId: work.nextFileId,
      nextInstance: work.nextInstance,
      databases: indexes,
      shards: repairedShards,
      stopped: undefined,
    };
    const isChanged = work.moved.length > 0 || work.seriesFilesRewritten > 0;
    if (
      isChanged ||
      open.hasDamagedCopy ||
      open.rebuilt !== undefined ||
      manifest.stopped !== undefined
    ) {
      await replaceManifest(disk, directory, repaired);
    }
    const shardFilesRewritten = await new ShardFiles(open).updateAll(new IndexedManifest(repaired));
    if (work.moved.length > 0) await moveAside(open, work.moved);
    await repairLog(open, setAside, work);
    const { nextFileId: _nextFileId, nextInstance: _nextInstance, moved, ...report } = work;
    const hasMoved =
      moved.length > 0 ||
      setAside.length > 0 ||
      work.logsRewritten > 0 ||
      work.seriesFilesRewritten > 0 ||
      open.rebuilt !== undefined;
    return {
      ...report,
      setAside,
      shardFilesRewritten,
      isManifestRebuilt: open.rebuilt !== undefined,
      movedTo: hasMoved ? damagedDirectory(directory) : undefined,
    };
  });
}

/** Rebuilds damaged indexes. Returns the databases for the new manifest. */
async function repairIndexes(
  open: OpenDirectory,
  {
    shards,
    held,
  }: { readonly shards: readonly ManifestShard[]; readonly held: ReadonlyMap<string, HeldSeries> },
  work: Work,
): Promise<readonly ManifestDatabase[]> {
  const databases: ManifestDatabase[] = [];
  for (const database of open.manifest.databases) {
    const repaired = await repairIndex(open, database, {
      shards: shards.filter(({ descriptor }) => descriptor.database === database.name),
      held: held.get(database.name) ?? new HeldSeries(),
      fileId: work.nextInstance,
    });
    databases.push(repaired?.database ?? database);
    if (repaired === undefined) {
      const checkpoint = checkpointDamage(open, database);
      if (checkpoint !== undefined) work.moved.push(checkpoint.file);
      continue;
    }
    work.nextInstance++;
    work.indexesRewritten++;
    work.moved.push(...repaired.replaced);
    if (repaired.lostKeys === 0) continue;
    const message = `${repaired.damage.message}; the keys of ${repaired.lostKeys} series are lost`;
    work.lost.push({ ...repaired.damage, message, rows: undefined });
  }
  return databases;
}

/**
 * Rewrites damaged files of series keys from the indexes. Returns the shards for the new manifest.
 */
async function repairSeriesFiles(
  open: OpenDirectory,
  {
    shards,
    indexes,
  }: { readonly shards: readonly ManifestShard[]; readonly indexes: readonly ManifestDatabase[] },
  work: Work,
): Promise<readonly ManifestShard[]> {
  const repaired: ManifestShard[] = [];
  for (const shard of shards) {
    const { id, database: name } = shard.descriptor;
    const path = seriesFilePath(open.directory, id);
    const { fault } = readSeriesFile(open.disk, path, shard.seriesFileBytes ?? 0);
    const database = indexes.find((one) => one.name === name);
    if (fault === undefined || database === undefined) {
      repaired.push(shard);
      continue;
    }
    await copyAside(open, path);
    const seriesFileBytes = await rewriteSeriesFile(open, shard, database);
    repaired.push({ ...shard, seriesFileBytes });
    work.seriesFilesRewritten++;
  }
  return repaired;
}

/** The shards of all records that can be decoded; `verify` reports the others. */
function loggedShards(open: OpenDirectory): LoggedShards {
  const logged = new LoggedShards();
  for (const { path, scan } of openLog(open).files) {
    for (const payload of scan?.payloads ?? []) {
      try {
        logged.add(decodeRecord(payload), path);
      } catch (error) {
        if (!(error instanceof DecodeError)) throw error;
      }
    }
  }
  return logged;
}

/**
 * Rewrites damaged log files without the damaged records, then the list of log files. A file with
 * rows of orphans ends with a drop of them.
 */
async function repairLog(
  open: OpenDirectory,
  orphans: readonly Orphan[],
  work: Work,
): Promise<void> {
  const { disk, directory, manifest } = open;
  const logged = orphans.filter(({ logFiles }) => logFiles.length > 0);
  const withOrphans = new Set(logged.flatMap(({ logFiles }) => logFiles));
  const drop: WalRecord = { kind: 'drop', shardIds: logged.map(({ shardId }) => shardId) };
  const { damagedCopy, faults, files } = openLog(open);
  const entries: LogFileEntry[] = [];
  let isChanged = damagedCopy !== undefined || faults.length > 0;
  for (const { file, offset, message } of faults) {
    work.lost.push({ file, offset, message, rows: undefined });
  }
  for (const { id, path, entry, scan, faults: own } of files) {
    for (const { offset, message } of own) {
      work.lost.push({ file: path, offset, message, rows: undefined });
    }
    const good = { id, bytes: scan?.goodBytes, databases: entry?.databases };
    const hasOrphans = withOrphans.has(path);
    if (own.length === 0 && !hasOrphans) {
      entries.push(good);
      continue;
    }
    isChanged = true;
    if (own.length > 0) work.logsRewritten++;
    if (scan === undefined) continue;
    const records = scan.payloads.map(frameRecord);
    if (hasOrphans) records.push(encodeFramed(drop));
    const bytes = await rewriteLogFile(open, path, records);
    entries.push({ ...good, bytes });
  }
  const folder = walDirectory(directory);
  // Records of log files that are not needed any more.
  for (const { file, offset, message } of manifest.stopped ?? []) {
    if (!file.startsWith(`${folder}/`) || work.lost.some((one) => one.file === file)) continue;
    work.lost.push({ file, offset, message, rows: undefined });
  }
  // Log files that are not needed any more, but were kept because they are damaged.
  const old = disk.list(folder).filter((name) => (walFileId(name) ?? Infinity) < manifest.walStart);
  if (old.length > 0)
    await moveAside(
      open,
      old.map((name) => `${folder}/${name}`),
    );
  if (isChanged)
    await new LogState(disk, folder, { entries, isExpected: true, isHeld: false }).write();
}

/** Returns the new size of the file. */
async function rewriteLogFile(
  open: OpenDirectory,
  path: string,
  records: readonly Uint8Array[],
): Promise<number> {
  const { disk } = open;
  await copyAside(open, path);
  const repaired = `${path}.repaired`;
  const parts = [frameFileHeader(LISTED_VERSION), ...records];
  await writeFile(disk, repaired, parts);
  disk.rename(repaired, path);
  await disk.syncDirectory(path.slice(0, path.lastIndexOf('/')));
  return parts.reduce((sum, { length }) => sum + length, 0);
}

type Place = {
  readonly shard: ManifestShard;
  readonly info: SegmentInfo;
  readonly path: string;
  /** Collects the series of the segment. */
  readonly held: HeldSeries;
};

/**
 * The segment's info if it is intact, the info of its replacement if it is not, and `undefined` if
 * nothing can be read.
 */
async function repairSegment(
  open: OpenDirectory,
  { shard, info, path, held }: Place,
  work: Work,
): Promise<SegmentInfo | undefined> {
  work.segmentsChecked++;
  let segment: Segment;
  try {
    segment = openSegment(open, shard, info);
  } catch (error) {
    work.segmentsLost++;
    work.lost.push({ ...damageOf(error, path), rows: undefined });
    return undefined;
  }
  held.add(segment);
  const before = work.lost.length;
  const { id } = shard.descriptor;
  const fileId = work.nextFileId;
  const target = segmentPath(open.directory, id, fileId);
  const writer = new SegmentWriter(open.disk, target, id);
  try {
    for (const measurement of segment.footer.measurements) {
      copyReadable(segment, measurement, writer, work);
    }
    if (work.lost.length === before) {
      writer.abort();
      return info;
    }
    const sizeBytes = await writer.finish();
    await open.disk.syncDirectory(shardDirectory(open.directory, id));
    work.nextFileId++;
    work.segmentsRewritten++;
    return { ...info, fileId, sizeBytes };
  } finally {
    segment.close();
  }
}

function copyReadable(
  segment: Segment,
  measurement: SegmentMeasurement,
  writer: SegmentWriter,
  work: Work,
): void {
  writer.beginMeasurement(measurement.measurementId, measurement.fields);
  for (const page of measurement.pages) {
    try {
      for (const { series, ends, chunks } of segment.pageEntries(measurement, page)) {
        const runs = chunks.flatMap((chunk) => readableRun(segment, { measurement, chunk }, work));
        if (ends === undefined) {
          for (const run of runs) writer.addRun(run);
          writer.endSeries(series[0]!);
        } else {
          const ofRows = seriesOfRows(series, ends);
          for (const run of runs) writer.addSeriesRows({ ...run, series: ofRows });
        }
      }
    } catch (error) {
      work.lost.push({ ...damageOf(error, segment.path), rows: undefined });
    }
  }
  writer.endMeasurement();
}

/**
 * The rows of a chunk, without columns that cannot be read. There are none when its times, or all
 * of its columns, cannot be read.
 */
function readableRun(
  segment: Segment,
  { measurement, chunk }: { readonly measurement: SegmentMeasurement; readonly chunk: ChunkMeta },
  work: Work,
): Run[] {
  const columns: (Column | undefined)[] = measurement.fields.map(() => undefined);
  let times: BigInt64Array;
  try {
    times = segment.times(chunk);
  } catch (error) {
    work.lost.push({ ...damageOf(error, segment.path), rows: chunk.rows });
    return [];
  }
  for (const meta of chunk.columns) {
    try {
      columns[meta.field] = segment.column(measurement, chunk, meta);
    } catch (error) {
      work.lost.push({ ...damageOf(error, segment.path), rows: meta.count });
    }
  }
  if (columns.every((column) => column === undefined)) return [];
  work.rowsKept += times.length;
  return [{ times, columns }];
}
