// The metadata file: how it is opened, how its owner is identified, and how a file from before
// encryption is replaced.
import { PRIVATE_FILE } from '@tidemark/process';
import { chmodSync, existsSync } from 'node:fs';
import { chmod, copyFile, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { InvalidRequest } from '@tidemark/core';
import { open } from 'lmdb';
import type { RootDatabase } from 'lmdb';
import { MetadataRoom } from './metadata-room.ts';
import { KEY_FILE } from './store-cipher.ts';

/** Name of the file inside the data directory, and of the backup that clients download. */
export const METADATA_FILE = 'engine.mdb';

/** How an operator makes an engine begin with nothing. */
export const START_EMPTY_HINT =
  'start once with --start-empty true (up: --engine-start-empty true)';

/** Increases with every change of the tables that an older engine would misread. */
export const FORMAT_VERSION = 2;

/** The one entry of the table `identity`. */
export type Identity = {
  readonly formatVersion: number;
  readonly clusterId: string;
  readonly serverId: string;
  /** Identifies the key of the values; absent in files older than the key. */
  readonly keyCheck?: string | undefined;
};

/**
 * Throws when the file of a directory is gone: LMDB would create a new one, and tasks, handlers and
 * secrets would be gone without notice.
 */
export function checkUnused(directory: string): void {
  const traces = [`${METADATA_FILE}-lock`, KEY_FILE].filter((name) =>
    existsSync(join(directory, name)),
  );
  if (traces.length === 0) return;
  throw new InvalidRequest(
    `${METADATA_FILE} is missing in ${directory}, where it existed before: restore it from a backup, or ${START_EMPTY_HINT}`,
  );
}

/** An open file. */
export type StoreFile = {
  readonly root: RootDatabase;
  /** The space for its writes. */
  readonly room: Pick<MetadataRoom, 'take' | 'close'>;
  /** A consistent copy of the whole file. */
  readonly backup: () => Promise<Buffer>;
};

export function openFile(file: string): StoreFile {
  const root = open({
    path: file,
    noSubdir: true,
    maxDbs: 32,
    // Its own batches create promises without handlers, and the process would end when the disk is
    // full.
    eventTurnBatching: false,
    // A committed transaction is on disk; with overlapping syncs it would only be in progress.
    overlappingSync: false,
  });
  // LMDB creates them readable by others.
  for (const path of [file, `${file}-lock`]) if (existsSync(path)) chmodSync(path, PRIVATE_FILE);
  return { root, room: new MetadataRoom(root, file), backup: () => bytesOf(root, file) };
}

/** Replaces the file by a copy without unused pages, which have earlier contents. */
export async function forgetOldPages(root: RootDatabase, file: string): Promise<void> {
  const copy = `${file}.sealed`;
  await rm(copy, { recursive: true, force: true });
  const path = await copyTo(root, copy);
  await chmod(path, PRIVATE_FILE);
  await rename(path, file);
  await rm(copy, { recursive: true, force: true });
}

/**
 * Copies the file as it is at one moment; returns the path of the copy. Depending on how the
 * environment was opened it is the file of this name, or one in a directory of this name.
 */
async function copyTo(root: RootDatabase, path: string): Promise<string> {
  await root.backup(path, true);
  try {
    await copyFile(join(path, 'data.mdb'), `${path}.copy`);
    await rm(`${path}.copy`);
    return join(path, 'data.mdb');
  } catch {
    // Not a directory: the copy is the file itself.
    return path;
  }
}

async function bytesOf(root: RootDatabase, file: string): Promise<Buffer> {
  const path = join(dirname(file), `backup-${randomUUID()}.mdb`);
  try {
    return await readFile(await copyTo(root, path));
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}
