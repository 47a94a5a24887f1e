// Verifies a directory: reads every block of every file and reports damage.
import type { Damage } from '@tidemark/storage-api';

import { damageOf } from '../damage.ts';
import { decodeRecord } from '../wal/wal-record.ts';
import { sizeOf } from '../disk/read-file.ts';
import { indexDirectory, segmentPath } from '../disk/paths.ts';
import type { ManifestDatabase, ManifestShard } from '../manifest/manifest.ts';
import { manifestPath } from '../manifest/manifest-file.ts';
import { lacksShardFile, shardFileFault, shardFilePath } from '../manifest/shard-file.ts';
import type { Segment } from '../segment/segment.ts';
import { IndexLog } from '../series/index-log.ts';
import { readSeriesFile, seriesFilePath } from '../shard/series-file.ts';
import { SeriesSet } from '../series/series-set.ts';
import { logFiles, openLog, openSegment, withDirectory } from './directory.ts';
import { checkpointDamage, HeldSeries, missingEntry, readIndex } from './index-contents.ts';
import type { OpenDirectory, ToolOptions } from './directory.ts';
import { findOrphans, LoggedShards } from './orphans.ts';
import type { Orphan } from './orphans.ts';

export type VerifyReport = {
  readonly files: number;
  readonly bytes: number;
  readonly blocks: number;
  readonly rows: number;
  /**
   * Bytes after the last good record of the log: a write that was not finished when the process
   * ended.
   */
  readonly tornBytes: number;
  readonly damage: readonly Damage[];
  /**
   * Files that had not been written when the process ended, and are written again: nothing is lost.
   */
  readonly unwritten: readonly Damage[];
  /** Shards that belong to no policy or database. */
  readonly orphans: readonly Orphan[];
};

type Tally = {
  files: number;
  bytes: number;
  blocks: number;
  rows: number;
  tornBytes: number;
  damage: Damage[];
  unwritten: Damage[];
};

/** Verifies a directory that no engine has open. */
export function verifyDirectory(options: ToolOptions): Promise<VerifyReport> {
  return withDirectory(options, async (open) => {
    const tally: Tally = {
      files: 1,
      bytes: 0,
      blocks: 1,
      rows: 0,
      tornBytes: 0,
      damage: [],
      unwritten: [],
    };
    if (open.hasDamagedCopy) {
      const file = manifestPath(open.directory);
      tally.damage.push({
        file,
        offset: 0,
        message: 'one copy of the manifest, or of a change in its journal, is damaged',
      });
    }
    if (open.rebuilt !== undefined) {
      const { damage, lost } = open.rebuilt;
      const message = `${damage.message}; repair makes a new one of the files of the shards`;
      tally.damage.push({ ...damage, message }, ...lost);
    }
    tally.damage.push(...(open.manifest.stopped ?? []));
    const totalBytes = totalSize(open);
    const report = (file: string): void =>
      options.onProgress?.({ doneBytes: tally.bytes, totalBytes, file });
    const held = new Map(open.manifest.databases.map(({ name }) => [name, new HeldSeries()]));
    for (const shard of open.manifest.shards) {
      const heldHere = held.get(shard.descriptor.database);
      for (const info of shard.segments) {
        const path = segmentPath(open.directory, shard.descriptor.id, info.fileId);
        report(path);
        tally.files++;
        tally.bytes += info.sizeBytes;
        try {
          const segment = openSegment(open, shard, info);
          verifySegment(segment, tally);
          heldHere?.add(segment);
          segment.close();
        } catch (error) {
          tally.damage.push(damageOf(error, path));
        }
      }
      verifyShardFiles(open, shard, tally);
    }
    for (const database of open.manifest.databases) {
      verifyIndex(open, database, { held: held.get(database.name), tally });
    }
    const logged = verifyLog(open, tally, report);
    report('');
    return { ...tally, orphans: findOrphans(open, logged, options.policies) };
  });
}

/** Verifies the files of a shard: its part of the manifest, and the keys of its series. */
function verifyShardFiles(open: OpenDirectory, shard: ManifestShard, tally: Tally): void {
  const { disk, directory } = open;
  // A rebuilt manifest was made from these files and cannot tell whether they are damaged.
  if (open.rebuilt === undefined) {
    const file = shardFilePath(directory, shard.descriptor.id);
    const damage = shardFileFault(disk, file);
    if (damage !== undefined) tally.damage.push(damage);
    if (lacksShardFile(disk, directory, shard)) {
      const message = 'the file of a shard is missing; the next write of the manifest writes it';
      tally.unwritten.push({ file, offset: 0, message });
    }
  }
  const path = seriesFilePath(directory, shard.descriptor.id);
  const knownBytes = shard.seriesFileBytes ?? 0;
  const { fault, fileBytes, records } = readSeriesFile(disk, path, knownBytes);
  tally.files += 2;
  tally.bytes += fileBytes;
  tally.blocks += records;
  tally.tornBytes += Math.max(0, fileBytes - knownBytes);
  if (fault !== undefined) tally.damage.push({ file: path, ...fault });
}

/**
 * Verifies the index of a database, its checkpoint, and whether it has all series of the segments.
 */
function verifyIndex(
  open: OpenDirectory,
  database: ManifestDatabase,
  { held, tally }: { readonly held: HeldSeries | undefined; readonly tally: Tally },
): void {
  const known = new SeriesSet();
  const index = readIndex(open, database, {
    measurement: () => undefined,
    entry: (entry) => {
      const count = 'noSeries' in entry ? entry.noSeries : 1;
      for (let i = 0; i < count; i++) known.add(entry.id + i);
    },
  });
  tally.files++;
  tally.bytes += index.fileBytes;
  tally.blocks += index.records;
  tally.tornBytes += index.tornBytes;
  const damage = index.damage ?? (held && missingEntry(index.path, known, held));
  if (damage !== undefined) tally.damage.push(damage);
  const checkpoint = checkpointDamage(open, database);
  if (checkpoint !== undefined) tally.damage.push(checkpoint);
}

function verifySegment(segment: Segment, tally: Tally): void {
  for (const measurement of segment.footer.measurements) {
    for (const page of measurement.pages) {
      try {
        tally.blocks++;
        for (const { chunks } of segment.pageEntries(measurement, page)) {
          for (const chunk of chunks) {
            try {
              tally.blocks += 1 + chunk.columns.length;
              segment.readChunk(measurement, chunk, chunk.columns);
              tally.rows += chunk.rows;
            } catch (error) {
              tally.damage.push(damageOf(error, segment.path));
            }
          }
        }
      } catch (error) {
        tally.damage.push(damageOf(error, segment.path));
      }
    }
  }
}

function verifyLog(
  open: OpenDirectory,
  tally: Tally,
  report: (file: string) => void,
): LoggedShards {
  const logged = new LoggedShards();
  const { damagedCopy, faults, files } = openLog(open);
  tally.files++;
  if (damagedCopy !== undefined) tally.damage.push(damagedCopy);
  tally.damage.push(...faults.map(asDamage));
  for (const { path, scan, tornBytes, faults: own } of files) {
    report(path);
    tally.damage.push(...own.map(asDamage));
    if (scan === undefined) continue;
    tally.files++;
    tally.bytes += scan.goodBytes + tornBytes;
    tally.blocks += scan.payloads.length;
    tally.tornBytes += tornBytes;
    for (const payload of scan.payloads) {
      try {
        logged.add(decodeRecord(payload), path);
      } catch (error) {
        tally.damage.push({ ...damageOf(error, path), offset: payload.byteOffset });
      }
    }
  }
  return logged;
}

function asDamage({ file, offset, message }: Damage): Damage {
  return { file, offset, message };
}

function totalSize(open: OpenDirectory): number {
  let bytes = 0;
  for (const shard of open.manifest.shards) {
    for (const info of shard.segments) bytes += info.sizeBytes;
  }
  for (const path of logFiles(open)) bytes += sizeOf(open.disk, path);
  for (const { instance, indexFile = instance } of open.manifest.databases) {
    bytes += new IndexLog(open.disk, indexDirectory(open.directory), indexFile).sizeBytes();
  }
  return bytes;
}
