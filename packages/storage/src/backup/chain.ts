// Backup files: storing a backup, and joining a full backup with incremental ones.
import { Conflict, Corruption, InvalidRequest } from '@tidemark/core';
import type { BackupSummary } from '@tidemark/storage-api';

import type { Disk } from '../disk/disk.ts';
import { nodeDisk } from '../disk/node-disk.ts';
import { backupHeader, encodeFrame } from './format.ts';
import type { BackupContents, BackupFrame } from './format.ts';
import { selectFromContents } from './select.ts';
import { fileBytes, readContents, readFrames } from './read-frames.ts';
import type { ReadBackup } from './read-frames.ts';

export type BackupProgress = { readonly doneBytes: number; readonly totalBytes: number };

type FileOptions = {
  readonly disk?: Disk | undefined;
  /** Called with the bytes of segments done so far. */
  readonly onProgress?: ((progress: BackupProgress) => void) | undefined;
};

/**
 * Writes a backup to a file, checking every frame; durable when it resolves. The file appears under
 * its name when it is complete. Throws `Conflict` when the file exists, and `Corruption` when the
 * bytes are not a backup.
 */
export async function storeBackup(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  { disk = nodeDisk(), onProgress }: FileOptions = {},
): Promise<BackupSummary> {
  if (disk.exists(path)) throw new Conflict(`file exists already. file=\`${path}\``);
  const temporary = `${path}.partial`;
  disk.remove(temporary);
  const file = disk.open(temporary, 'create');
  let sizeBytes = 0;
  const stored = async function* (): AsyncGenerator<Uint8Array> {
    for await (const portion of bytes) {
      file.write(portion, sizeBytes);
      sizeBytes += portion.length;
      yield portion;
    }
  };
  try {
    const counts = await check(stored(), path, onProgress);
    await file.sync();
    file.close();
    disk.rename(temporary, path);
    await disk.syncDirectory(path.slice(0, path.lastIndexOf('/')) || '/');
    return { ...counts, sizeBytes };
  } catch (error) {
    file.close();
    disk.remove(temporary);
    throw error;
  }
}

async function check(
  bytes: AsyncIterable<Uint8Array>,
  path: string,
  onProgress: FileOptions['onProgress'],
): Promise<Omit<BackupSummary, 'sizeBytes'>> {
  let contents: BackupContents | undefined;
  let totalBytes = 0;
  let doneBytes = 0;
  for await (const frame of readFrames(bytes, path)) {
    if (frame.kind === 'contents') {
      contents = frame;
      totalBytes = includedBytes(frame);
    } else if (frame.kind === 'bytes') doneBytes += frame.bytes.length;
    onProgress?.({ doneBytes, totalBytes });
  }
  if (contents === undefined) throw noContents(path);
  const { segments, includes, manifest } = contents;
  return {
    databases: manifest.databases.map(({ name }) => name).sort(),
    segments: includes.length,
    segmentsOfEarlierBackups: segments.length - includes.length,
  };
}

function includedBytes({ manifest, segments, includes }: BackupContents): number {
  const included = new Set(includes);
  const infos = manifest.shards.flatMap((shard) => shard.segments);
  return infos.reduce(
    (sum, info, i) => sum + (included.has(segments[i] ?? '') ? info.sizeBytes : 0),
    0,
  );
}

/** Reads the contents of a backup file. */
export function describeBackup(path: string, disk: Disk = nodeDisk()): Promise<BackupContents> {
  return readContents(fileBytes(disk, path), path);
}

type JoinOptions = Pick<FileOptions, 'onProgress'> & {
  /** All databases by default. */
  readonly databases?: readonly string[] | undefined;
};

/**
 * Joins a full backup with the incremental ones after it, oldest first, into the bytes of one full
 * backup. Throws `Corruption` when they do not belong together.
 */
export async function* joinBackups(
  files: readonly string[],
  { disk = nodeDisk(), ...options }: FileOptions & JoinOptions = {},
): AsyncGenerator<Uint8Array> {
  const newestFirst = async function* (): AsyncGenerator<ReadBackup> {
    for (const place of files.toReversed()) {
      yield { place, frames: readFrames(fileBytes(disk, place), place) };
    }
  };
  yield* bytesOf(joinFrames(newestFirst(), options));
}

/** Encodes a backup. */
export async function* bytesOf(frames: AsyncIterable<BackupFrame>): AsyncGenerator<Uint8Array> {
  yield backupHeader();
  for await (const frame of frames) yield encodeFrame(frame);
}

/**
 * Joins the newest backup with the earlier ones, in this order, into the frames of a full backup.
 * Throws as `joinBackups`.
 */
export async function* joinFrames(
  newestFirst: AsyncIterable<ReadBackup>,
  { databases, onProgress }: JoinOptions,
): AsyncGenerator<BackupFrame> {
  let newest: Joined | undefined;
  let bytes = 0;
  for await (const { place, frames } of newestFirst) {
    const isNewest = newest === undefined;
    let isWanted = false;
    for await (const frame of frames) {
      if (frame.kind === 'contents') {
        if (isNewest) {
          newest = joined(selectFromContents(frame, { databases }), place);
          const { contents, totalBytes } = newest;
          yield { ...contents, kind: 'contents' };
          onProgress?.({ doneBytes: 0, totalBytes });
        } else if (frame.manifest.storageId !== newest?.contents.manifest.storageId) {
          throw new InvalidRequest(
            `backup is of another database than the last one. file=\`${place}\``,
          );
        }
        continue;
      }
      if (newest === undefined) throw noContents(place);
      if (frame.kind === 'attachment') {
        // Attachments belong to all databases together, so a part of the databases gets none.
        if (isNewest && databases === undefined) yield frame;
      } else if (frame.kind === 'series') {
        if (isNewest && newest.instances.has(frame.instance)) yield frame;
      } else if (frame.kind === 'file') {
        // A segment never changes, so it can be taken from any backup of the chain.
        isWanted = newest.missing.delete(frame.name);
        if (isWanted) yield frame;
      } else if (frame.kind === 'bytes' && isWanted) {
        bytes += frame.bytes.length;
        yield frame;
        onProgress?.({ doneBytes: bytes, totalBytes: newest.totalBytes });
      }
    }
  }
  if (newest === undefined) throw new InvalidRequest('no backup to read');
  const [missing] = newest.missing;
  if (missing !== undefined) {
    throw new Corruption(
      `backup chain is incomplete: \`${missing}\` is in none of the files; add the earlier backups, back to a full one`,
      { file: newest.place, offset: 0 },
    );
  }
  yield { kind: 'end', files: newest.contents.segments.length, bytes };
}

/** Backups that are being joined. */
type Joined = {
  readonly place: string;
  /** Contents as of a full backup: it includes all segments. */
  readonly contents: BackupContents;
  readonly totalBytes: number;
  readonly instances: ReadonlySet<number>;
  /** Names of segments that no backup has brought yet. */
  readonly missing: Set<string>;
};

function joined(selected: BackupContents, place: string): Joined {
  const contents = { ...selected, includes: selected.segments };
  return {
    place,
    contents,
    totalBytes: includedBytes(contents),
    instances: new Set(contents.manifest.databases.map(({ instance }) => instance)),
    missing: new Set(contents.segments),
  };
}

/** The error when a backup does not begin with its contents. */
export function noContents(path: string): Corruption {
  return new Corruption('backup is damaged: no contents', { file: path, offset: 0 });
}
