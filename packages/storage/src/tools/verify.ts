// Reads every block of every file and says what is damaged.
import { damageOf } from '../damage.ts';
import type { Damage } from '../damage.ts';
import { decodeRecord } from '../wal/wal-record.ts';
import { scanWalFile } from '../wal/wal-file.ts';
import { segmentPath } from '../engine/paths.ts';
import type { Segment } from '../segment/segment.ts';
import { indexFiles, logFiles, manifestPath, openSegment, withDirectory } from './directory.ts';
import type { OpenDirectory, ToolOptions } from './directory.ts';

export type VerifyReport = {
  readonly files: number;
  readonly bytes: number;
  readonly blocks: number;
  readonly rows: number;
  /** Bytes behind the last good record of the log: the write that was going on when the process ended. */
  readonly tornBytes: number;
  readonly damage: readonly Damage[];
};

type Tally = {
  files: number;
  bytes: number;
  blocks: number;
  rows: number;
  tornBytes: number;
  damage: Damage[];
};

/** Checks a directory that no engine has open. */
export function verifyDirectory(options: ToolOptions): Promise<VerifyReport> {
  return withDirectory(options, async (open) => {
    const tally: Tally = { files: 1, bytes: 0, blocks: 1, rows: 0, tornBytes: 0, damage: [] };
    if (open.isMended) {
      const file = manifestPath(open.directory);
      tally.damage.push({ file, offset: 0, message: 'one copy of the manifest is damaged' });
    }
    if (open.rebuilt !== undefined) {
      const { damage, lost } = open.rebuilt;
      const message = `${damage.message}; repair makes a new one of the files of the shards`;
      tally.damage.push({ ...damage, message }, ...lost);
    }
    const totalBytes = totalSize(open);
    const report = (file: string): void =>
      options.onProgress?.({ doneBytes: tally.bytes, totalBytes, file });
    for (const shard of open.manifest.shards) {
      for (const info of shard.segments) {
        const path = segmentPath(open.directory, shard.descriptor.id, info.fileId);
        report(path);
        tally.files++;
        tally.bytes += info.sizeBytes;
        try {
          const segment = openSegment(open, shard, info);
          verifySegment(segment, tally);
          segment.close();
        } catch (error) {
          tally.damage.push(damageOf(error, path));
        }
      }
    }
    for (const path of [...logFiles(open), ...indexFiles(open)]) {
      report(path);
      verifyFrames(open, path, tally);
    }
    report('');
    return tally;
  });
}

function verifySegment(segment: Segment, tally: Tally): void {
  for (const measurement of segment.footer.measurements) {
    for (const page of measurement.pages) {
      try {
        tally.blocks++;
        for (const [, chunks] of segment.pageEntries(measurement, page)) {
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

function verifyFrames({ disk }: OpenDirectory, path: string, tally: Tally): void {
  const file = disk.open(path, 'read');
  try {
    const scan = scanWalFile(file);
    tally.files++;
    tally.bytes += scan.fileBytes;
    tally.blocks += scan.payloads.length;
    tally.tornBytes += scan.fileBytes - scan.goodBytes;
    for (const offset of scan.damagedAt) {
      tally.damage.push({ file: path, offset, message: 'damaged record' });
    }
    if (!path.endsWith('.wal')) return;
    for (const payload of scan.payloads) {
      try {
        decodeRecord(payload);
      } catch (error) {
        tally.damage.push({ ...damageOf(error, path), offset: payload.byteOffset });
      }
    }
  } catch (error) {
    tally.damage.push(damageOf(error, path));
  } finally {
    file.close();
  }
}

function totalSize(open: OpenDirectory): number {
  let bytes = 0;
  for (const shard of open.manifest.shards) {
    for (const info of shard.segments) bytes += info.sizeBytes;
  }
  for (const path of [...logFiles(open), ...indexFiles(open)]) {
    const file = open.disk.open(path, 'read');
    bytes += file.size();
    file.close();
  }
  return bytes;
}
