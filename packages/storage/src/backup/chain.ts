// Backup files: storing one that arrives, and joining a full one with its incremental ones to the
// bytes of a full one.
import { Conflict, Corruption, InvalidRequest } from '@tidemark/core';

import type { Disk } from '../disk/disk.ts';
import { nodeDisk } from '../disk/node-disk.ts';
import type { BackupSummary } from '../storage-engine.ts';
import { backupHeader, encodeFrame } from './format.ts';
import type { BackupContents } from './format.ts';
import { selectFromContents } from './select.ts';
import { fileBytes, readContents, readFrames } from './read-frames.ts';

export type BackupProgress = { readonly doneBytes: number; readonly totalBytes: number };

type FileOptions = {
  readonly disk?: Disk | undefined;
  /** Bytes of segments. */
  readonly onProgress?: ((progress: BackupProgress) => void) | undefined;
};

/**
 * Writes a backup to a file, durable when it resolves; every frame is checked on the way. The file
 * appears under its name when it is complete. Throws `Conflict` when there is one already,
 * `Corruption` when the bytes are not a backup.
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

/** What a backup file says about itself. */
export function describeBackup(path: string, disk: Disk = nodeDisk()): Promise<BackupContents> {
  return readContents(fileBytes(disk, path), path);
}

/**
 * The bytes of a full backup of some databases (default: all), made from a full one and the
 * incremental ones after it, oldest first. Throws `Corruption` when they do not belong together.
 */
export async function* joinBackups(
  files: readonly string[],
  options: FileOptions & { readonly databases?: readonly string[] | undefined } = {},
): AsyncGenerator<Uint8Array> {
  const { disk = nodeDisk(), databases, onProgress } = options;
  const last = files.at(-1);
  if (last === undefined) throw new InvalidRequest('no backup to read');
  const contents = selectFromContents(await describeBackup(last, disk), { databases });
  const instances = new Set(contents.manifest.databases.map(({ instance }) => instance));
  yield backupHeader();
  yield encodeFrame({ ...contents, kind: 'contents', includes: contents.segments });
  const totalBytes = includedBytes({ ...contents, includes: contents.segments });
  onProgress?.({ doneBytes: 0, totalBytes });
  const wanted = new Set(contents.segments);
  let bytes = 0;
  // A segment never changes, so any backup of the chain that has it will do.
  for (const path of files.toReversed()) {
    const { manifest } = await describeBackup(path, disk);
    if (manifest.storageId !== contents.manifest.storageId) {
      throw new InvalidRequest(`backup is of another database than the last one. file=\`${path}\``);
    }
    let isWanted = false;
    for await (const frame of readFrames(fileBytes(disk, path), path)) {
      if (frame.kind === 'series' && path === last) {
        if (instances.has(frame.instance)) yield encodeFrame(frame);
      } else if (frame.kind === 'file') {
        isWanted = wanted.delete(frame.name);
        if (isWanted) yield encodeFrame(frame);
      } else if (frame.kind === 'bytes' && isWanted) {
        bytes += frame.bytes.length;
        yield encodeFrame(frame);
        onProgress?.({ doneBytes: bytes, totalBytes });
      }
    }
  }
  const [missing] = wanted;
  if (missing !== undefined) {
    throw new Corruption(`backup chain is incomplete: \`${missing}\` is in none of the files`, {
      file: last,
      offset: 0,
    });
  }
  yield encodeFrame({ kind: 'end', files: contents.segments.length, bytes });
}

/** Bytes that were looked into; `return` ends their source, whether they were read or not. */
export type PeekedBytes = AsyncIterableIterator<Uint8Array> & { return(): Promise<unknown> };

/**
 * The contents of a backup that arrives, and its bytes from the begin on. The bytes must be read or
 * returned.
 */
export async function peekBackup(
  bytes: AsyncIterable<Uint8Array>,
  place: string,
): Promise<{ readonly contents: BackupContents; readonly bytes: PeekedBytes }> {
  const source = bytes[Symbol.asyncIterator]();
  const seen: Uint8Array[] = [];
  const remember = async (): Promise<IteratorResult<Uint8Array>> => {
    const step = await source.next();
    if (step.done !== true) seen.push(step.value);
    return step;
  };
  let at = 0;
  const all: PeekedBytes = {
    next: async () => {
      const value = seen[at++];
      return value === undefined ? source.next() : { done: false, value };
    },
    return: async () => {
      await source.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => all,
  };
  try {
    const peeked = { [Symbol.asyncIterator]: () => ({ next: remember }) };
    return { contents: await readContents(peeked, place), bytes: all };
  } catch (error) {
    await all.return();
    throw error;
  }
}

function noContents(path: string): Corruption {
  return new Corruption('backup is damaged: no contents', { file: path, offset: 0 });
}
