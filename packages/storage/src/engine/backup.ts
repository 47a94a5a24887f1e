// Online backup: flushes, pins a snapshot, and copies its segments while writes go on.
import { LIMITS } from '../limits.ts';
import type { Manifest } from '../manifest/manifest.ts';
import type { BackupRequest, BackupSummary } from '../storage-engine.ts';
import { BackupWriter, PIECE_BYTES, readBackup } from '../tools/backup-file.ts';
import type { Engine } from './engine.ts';
import { Pacer } from './pacer.ts';
import { segmentPath } from './paths.ts';
import { takeSnapshot } from './snapshot.ts';

export async function backup(
  engine: Engine,
  request: BackupRequest,
  currentManifest: () => Manifest,
): Promise<BackupSummary> {
  const { disk, clock } = engine.environment;
  const known =
    request.since === undefined ? new Set<string>() : await namesOf(engine, request.since);
  await engine.flush();
  const snapshot = takeSnapshot(engine);
  const temporary = `${request.path}.tmp`;
  disk.remove(temporary);
  const writer = new BackupWriter(disk, temporary);
  try {
    const manifest = selected(currentManifest(), request);
    const series = new Map(
      [...engine.databases.values()]
        .filter(({ instance }) => manifest.databases.some((d) => d.instance === instance))
        .map((database) => [database.instance, database.allAdditions()]),
    );
    const segments = manifest.shards.flatMap(({ descriptor, segments: infos }) =>
      infos.map((info) => ({ shardId: descriptor.id, info })),
    );
    const copied = segments.filter(({ shardId, info }) => !known.has(`${shardId}/${info.fileId}`));
    const includes = copied.map(({ shardId, info }) => `${shardId}/${info.fileId}`);
    writer.contents({ manifest, series, includes });
    const pacer = new Pacer(clock, LIMITS.sliceMs.value);
    for (const { shardId, info } of copied) {
      const path = segmentPath(engine.directory, shardId, info.fileId);
      writer.beginFile(path.slice(engine.directory.length + 1), info.sizeBytes);
      const file = disk.open(path, 'read');
      try {
        for (let at = 0; at < info.sizeBytes; at += PIECE_BYTES) {
          const piece = new Uint8Array(Math.min(PIECE_BYTES, info.sizeBytes - at));
          file.read(piece, at);
          writer.bytes(piece);
          await pacer.pause();
        }
      } finally {
        file.close();
      }
      await engine.fault('backup:segment-copied');
    }
    const sizeBytes = await writer.finish();
    disk.rename(temporary, request.path);
    await disk.syncDirectory(request.path.slice(0, request.path.lastIndexOf('/')) || '/');
    return {
      sizeBytes,
      segments: copied.length,
      segmentsOfEarlierBackups: segments.length - copied.length,
    };
  } catch (error) {
    writer.close();
    disk.remove(temporary);
    throw error;
  } finally {
    snapshot.release();
  }
}

function selected(manifest: Manifest, { databases, timeRange }: BackupRequest): Manifest {
  const wanted = databases === undefined ? undefined : new Set(databases);
  const isWanted = (name: string): boolean => wanted === undefined || wanted.has(name);
  return {
    ...manifest,
    databases: manifest.databases.filter(({ name }) => isWanted(name)),
    shards: manifest.shards.filter(({ descriptor: d }) => {
      if (!isWanted(d.database)) return false;
      return timeRange === undefined || (d.start <= timeRange.end && d.end > timeRange.start);
    }),
  };
}

/** Segments that the previous backup (with its own predecessors) holds. */
async function namesOf(engine: Engine, path: string): Promise<Set<string>> {
  const names = new Set<string>();
  await readBackup(engine.environment.disk, path, {
    onContents: ({ manifest }) => {
      for (const { descriptor, segments } of manifest.shards) {
        for (const { fileId } of segments) names.add(`${descriptor.id}/${fileId}`);
      }
    },
    onFile: () => undefined,
    onBytes: () => undefined,
  });
  return names;
}
