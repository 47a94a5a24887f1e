// Repair: rewrites damaged segments with what can be read, and lists what can not. Damaged files are kept aside.
import type { Column } from '@tidemark/core';

import { damageOf } from '../damage.ts';
import type { Damage } from '../damage.ts';
import type { Disk } from '../disk/disk.ts';
import { segmentPath, shardDirectory } from '../engine/paths.ts';
import { writeManifest } from '../manifest/manifest.ts';
import type { ManifestShard } from '../manifest/manifest.ts';
import { ShardFiles } from '../manifest/shard-file.ts';
import type { ChunkMeta, SegmentMeasurement } from '../segment/format.ts';
import type { Segment, SegmentInfo } from '../segment/segment.ts';
import { SegmentWriter } from '../segment/writer.ts';
import { frameRecord, scanWalFile, walHeader } from '../wal/wal-file.ts';
import type { WalScan } from '../wal/wal-file.ts';
import { indexFiles, logFiles, manifestPath, openSegment, withDirectory } from './directory.ts';
import type { OpenDirectory, ToolOptions } from './directory.ts';

export type RepairReport = {
  readonly segmentsChecked: number;
  readonly segmentsRewritten: number;
  /** The manifest could not be read: a new one was made of the files of the shards. */
  readonly isManifestRebuilt: boolean;
  /** Segments of which nothing could be read. */
  readonly segmentsLost: number;
  readonly rowsKept: number;
  /** Files of the log and the series index that were written anew without damaged records. */
  readonly logsRewritten: number;
  /** What is lost; rows are counted where the directory still tells. */
  readonly lost: readonly (Damage & { readonly rows: number | undefined })[];
  /** Where the damaged files are now. */
  readonly movedTo: string | undefined;
};

type Work = {
  segmentsChecked: number;
  segmentsRewritten: number;
  segmentsLost: number;
  rowsKept: number;
  logsRewritten: number;
  lost: (Damage & { rows: number | undefined })[];
  nextFileId: number;
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
      nextFileId: manifest.nextFileId,
      moved: [],
    };
    if (open.rebuilt !== undefined) {
      const { damage, lost, leftOut } = open.rebuilt;
      for (const one of [damage, ...lost]) work.lost.push({ ...one, rows: undefined });
      work.moved.push(...leftOut);
      await copyAside(open, manifestPath(directory));
    }
    const shards: ManifestShard[] = [];
    const totalBytes = manifest.shards
      .flatMap((shard) => shard.segments)
      .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    let doneBytes = 0;
    for (const shard of manifest.shards) {
      const segments: SegmentInfo[] = [];
      for (const info of shard.segments) {
        const path = segmentPath(directory, shard.descriptor.id, info.fileId);
        options.onProgress?.({ doneBytes, totalBytes, file: path });
        doneBytes += info.sizeBytes;
        const repaired = await repairSegment(open, { shard, info, path }, work);
        if (repaired !== info) work.moved.push(path);
        if (repaired !== undefined) segments.push(repaired);
      }
      shards.push({ ...shard, segments });
    }
    const movedTo = work.moved.length === 0 ? undefined : damagedDirectory(directory);
    if (movedTo !== undefined || open.isMended || open.rebuilt !== undefined) {
      const repaired = { ...manifest, nextFileId: work.nextFileId, shards };
      await writeManifest(disk, directory, repaired);
      await new ShardFiles(disk, directory).update(repaired);
    }
    if (movedTo !== undefined) await moveAside(open, work.moved, movedTo);
    for (const path of [...logFiles(open), ...indexFiles(open)]) {
      await repairFrames(open, path, work);
    }
    const { nextFileId: _nextFileId, moved: _moved, ...report } = work;
    const hasMoved = movedTo !== undefined || work.logsRewritten > 0 || open.rebuilt !== undefined;
    return {
      ...report,
      isManifestRebuilt: open.rebuilt !== undefined,
      movedTo: hasMoved ? damagedDirectory(directory) : undefined,
    };
  });
}

async function moveAside(
  { disk }: OpenDirectory,
  paths: readonly string[],
  to: string,
): Promise<void> {
  disk.makeDirectory(to);
  for (const path of paths) {
    if (disk.exists(path)) disk.rename(path, `${to}/${path.split('/').slice(-2).join('-')}`);
  }
  await disk.syncDirectory(to);
}

function damagedDirectory(directory: string): string {
  return `${directory}/damaged`;
}

/** Writes a file of the log or of the index anew, without its damaged records; the old one is kept aside. */
async function repairFrames(open: OpenDirectory, path: string, work: Work): Promise<void> {
  const { disk } = open;
  const file = disk.open(path, 'read');
  let scan: WalScan;
  try {
    scan = scanWalFile(file);
  } finally {
    file.close();
  }
  if (scan.damagedAt.length === 0) return;
  for (const offset of scan.damagedAt) {
    work.lost.push({ file: path, offset, message: 'damaged record', rows: undefined });
  }
  await copyAside(open, path);
  const repaired = `${path}.repaired`;
  await writeFile(disk, repaired, [walHeader(), ...scan.payloads.map(frameRecord)]);
  disk.rename(repaired, path);
  await disk.syncDirectory(path.slice(0, path.lastIndexOf('/')));
  work.logsRewritten++;
}

/** Keeps a copy of a file in the folder for damaged ones, before another one takes its place. */
async function copyAside({ disk, directory }: OpenDirectory, path: string): Promise<void> {
  if (!disk.exists(path)) return;
  const file = disk.open(path, 'read');
  let bytes: Uint8Array;
  try {
    bytes = new Uint8Array(file.size());
    file.read(bytes, 0);
  } finally {
    file.close();
  }
  const aside = damagedDirectory(directory);
  disk.makeDirectory(aside);
  await writeFile(disk, `${aside}/${path.split('/').at(-1) ?? ''}`, [bytes]);
  await disk.syncDirectory(aside);
}

async function writeFile(disk: Disk, path: string, parts: readonly Uint8Array[]): Promise<void> {
  disk.remove(path);
  const file = disk.open(path, 'create');
  try {
    let at = 0;
    for (const part of parts) {
      file.write(part, at);
      at += part.length;
    }
    await file.sync();
  } finally {
    file.close();
  }
}

type Place = { readonly shard: ManifestShard; readonly info: SegmentInfo; readonly path: string };

/** The segment's info when it is whole, that of its replacement, or `undefined` when nothing can be read. */
async function repairSegment(
  open: OpenDirectory,
  { shard, info, path }: Place,
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
      for (const [series, chunks] of segment.pageEntries(measurement, page)) {
        for (const chunk of chunks) copyChunk(segment, { measurement, chunk }, writer, work);
        writer.endSeries(series);
      }
    } catch (error) {
      work.lost.push({ ...damageOf(error, segment.path), rows: undefined });
    }
  }
  writer.endMeasurement();
}

/** Columns that can not be read are left out; without its times the whole chunk is. */
function copyChunk(
  segment: Segment,
  { measurement, chunk }: { readonly measurement: SegmentMeasurement; readonly chunk: ChunkMeta },
  writer: SegmentWriter,
  work: Work,
): void {
  const columns: (Column | undefined)[] = measurement.fields.map(() => undefined);
  let times: BigInt64Array;
  try {
    times = segment.times(chunk);
  } catch (error) {
    work.lost.push({ ...damageOf(error, segment.path), rows: chunk.rows });
    return;
  }
  for (const meta of chunk.columns) {
    try {
      columns[meta.field] = segment.column(measurement, chunk, meta);
    } catch (error) {
      work.lost.push({ ...damageOf(error, segment.path), rows: meta.count });
    }
  }
  if (columns.every((column) => column === undefined)) return;
  work.rowsKept += times.length;
  writer.addRun({ times, columns });
}
