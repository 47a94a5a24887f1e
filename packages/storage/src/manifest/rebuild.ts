// Rebuilds a lost manifest from the other files on disk, for `verify` and `repair`: the files of
// shards, the segments beside them, and the log. Only reads.
import { Corruption, messageOf } from '@tidemark/core';
import type { Damage } from '@tidemark/storage-api';

import type { Disk } from '../disk/disk.ts';
import {
  indexDirectory,
  segmentPath,
  shardDirectory,
  shardsDirectory,
  walDirectory,
} from '../disk/paths.ts';
import { SegmentCaches } from '../segment/segment-caches.ts';
import { Segment } from '../segment/segment.ts';
import type { SegmentInfo } from '../segment/segment.ts';
import { walFileId } from '../wal/wal.ts';
import { EMPTY_MANIFEST } from './manifest.ts';
import type { Manifest, ManifestDatabase, ManifestShard } from './manifest.ts';
import { readShardFile } from './shard-file.ts';

export type RebuiltManifest = {
  readonly manifest: Manifest;
  readonly lost: readonly Damage[];
  /** Files in folders of shards that are not part of the manifest. */
  readonly leftOut: readonly string[];
};

/**
 * Whether the manifest is lost: there is none although there is data. Before the first manifest is
 * written, all data is in the first log file; segments of an interrupted first flush are written
 * again from it.
 */
export function lacksManifest(disk: Disk, directory: string): boolean {
  const hasSegments = disk
    .list(shardsDirectory(directory))
    .some((name) => segmentIds(disk, directory, Number(name)).length > 0);
  const isFirstLog = disk.list(walDirectory(directory)).some((name) => walFileId(name) === 1);
  return hasSegments && !isFirstLog;
}

/** A manifest with all databases, shards and segments that can be found. */
export function rebuildManifest(disk: Disk, directory: string): RebuiltManifest {
  const lost: Damage[] = [];
  const leftOut: string[] = [];
  const owned: { readonly shard: ManifestShard; readonly owner: ManifestDatabase }[] = [];
  const databases = new Map<string, ManifestDatabase>();
  let largestId = 0;
  for (const name of disk.list(shardsDirectory(directory))) {
    const id = Number(name);
    if (!Number.isSafeInteger(id)) continue;
    largestId = Math.max(largestId, id);
    const found = findShard(disk, directory, id);
    lost.push(...found.lost);
    leftOut.push(...found.leftOut);
    if (found.shard === undefined || found.database === undefined) continue;
    const known = databases.get(found.database.name);
    // When a database was dropped and created again, the later instance counts.
    if (known === undefined || isNewer(found.database, known)) {
      databases.set(found.database.name, found.database);
    }
    owned.push({ shard: found.shard, owner: found.database });
  }
  const shards = owned
    .filter(({ owner }) => databases.get(owner.name)?.instance === owner.instance)
    .map(({ shard }) => shard);
  const all = shards.flatMap((shard) => shard.segments);
  const files = all.map(({ fileId }) => fileId);
  const sequences = [
    ...all.map(({ sequence }) => sequence),
    ...shards.flatMap(({ tombstones }) => tombstones.map(({ sequence }) => sequence)),
  ];
  const indexes = disk.list(indexDirectory(directory)).map((name) => Number.parseInt(name, 10));
  const instances = [...databases.values()].flatMap((one) => [one.instance, one.indexFile ?? 0]);
  return {
    manifest: {
      ...EMPTY_MANIFEST,
      nextFileId: 1 + largest([...files, ...leftOutIds(leftOut)]),
      nextSequence: 1 + largest(sequences),
      nextShardId: 1 + largestId,
      nextInstance: 1 + largest([...instances, ...indexes.filter(Number.isSafeInteger)]),
      databases: [...databases.values()],
      shards,
    },
    lost,
    leftOut,
  };
}

type FoundShard = {
  readonly shard: ManifestShard | undefined;
  readonly database: ManifestDatabase | undefined;
  readonly lost: readonly Damage[];
  readonly leftOut: readonly string[];
};

function findShard(disk: Disk, directory: string, id: number): FoundShard {
  const folder = shardDirectory(directory, id);
  const present = segmentIds(disk, directory, id);
  const nothing = (message: string): FoundShard => {
    const isEmpty = present.length === 0;
    const loss = { file: folder, offset: 0, message };
    const paths = disk.list(folder).map((name) => `${folder}/${name}`);
    return { shard: undefined, database: undefined, lost: isEmpty ? [] : [loss], leftOut: paths };
  };
  try {
    const stored = readShardFile(disk, directory, id);
    if (stored === undefined) return nothing('the database of the shard is unknown');
    return { ...withPresent(disk, directory, { ...stored, present }), database: stored.database };
  } catch (error) {
    if (!(error instanceof Corruption)) throw error;
    return nothing(`the database of the shard is unknown: ${messageOf(error)}`);
  }
}

/**
 * The segments of a shard by its file and by its folder. Those newer than the file have not been
 * listed yet; older ones that it does not list were merged and are left out.
 */
function withPresent(
  disk: Disk,
  directory: string,
  stored: { readonly shard: ManifestShard; readonly present: readonly number[] },
): Omit<FoundShard, 'database'> {
  const { shard, present } = stored;
  const { id } = shard.descriptor;
  const lost: Damage[] = [];
  const leftOut: string[] = [];
  const segments: SegmentInfo[] = [];
  for (const info of shard.segments) {
    const path = segmentPath(directory, id, info.fileId);
    if (present.includes(info.fileId)) segments.push(info);
    else lost.push({ file: path, offset: 0, message: 'segment is missing' });
  }
  const newestListed = largest(shard.segments.map(({ fileId }) => fileId));
  let sequence = largest([
    ...shard.segments.map((info) => info.sequence),
    ...shard.tombstones.map((tombstone) => tombstone.sequence),
  ]);
  for (const fileId of present) {
    const path = segmentPath(directory, id, fileId);
    if (shard.segments.some((info) => info.fileId === fileId)) continue;
    const sizeBytes = fileId > newestListed ? sizeOfWhole(disk, path) : undefined;
    if (sizeBytes === undefined) leftOut.push(path);
    else segments.push({ fileId, sequence: ++sequence, level: 0, sizeBytes });
  }
  return { shard: { ...shard, segments }, lost, leftOut };
}

/** Size of a complete segment; `undefined` for an incomplete one, which no manifest has named. */
function sizeOfWhole(disk: Disk, path: string): number | undefined {
  const file = disk.open(path, 'read');
  try {
    const sizeBytes = file.size();
    Segment.open({ fileId: 0, sequence: 0, level: 0, sizeBytes }, file, new SegmentCaches());
    return sizeBytes;
  } catch (error) {
    if (error instanceof Corruption) return undefined;
    throw error;
  } finally {
    file.close();
  }
}

/** Ids of the segments in a shard's folder, ascending. */
function segmentIds(disk: Disk, directory: string, id: number): number[] {
  const names = disk.list(shardDirectory(directory, id));
  const ids = names.map((name) => /^(\d{8,})\.seg$/.exec(name)?.[1]);
  return ids.flatMap((digits) => (digits === undefined ? [] : [Number(digits)])).sort(ascending);
}

function ascending(a: number, b: number): number {
  return a - b;
}

function isNewer(a: ManifestDatabase, b: ManifestDatabase): boolean {
  if (a.instance !== b.instance) return a.instance > b.instance;
  return (a.indexFile ?? a.instance) > (b.indexFile ?? b.instance);
}

function leftOutIds(paths: readonly string[]): number[] {
  const names = paths.map((path) => Number.parseInt(path.split('/').at(-1) ?? '', 10));
  return names.filter(Number.isSafeInteger);
}

function largest(numbers: readonly number[]): number {
  return numbers.reduce((max, number) => Math.max(max, number), 0);
}
