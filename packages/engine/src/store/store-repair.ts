// Checks the metadata file before the engine opens it. A damaged one is replaced by a new one with
// everything that can still be read, from both ends of every table; the damaged file is kept under
// another name, and losses are reported per table. A separate process does the reading, because
// LMDB ends a process that reads a damaged page.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { InvalidRequest } from '@tidemark/core';
import { open } from 'lmdb';
import type { RootDatabase } from 'lmdb';
import { FORMAT_VERSION, METADATA_FILE, START_EMPTY_HINT } from './metadata-file.ts';
import type { Identity } from './metadata-file.ts';
import { MetadataRoom, PAGE_BYTES } from './metadata-room.ts';
import type { LogSink } from '../observability/log-hub.ts';
import { existingKey } from './store-cipher.ts';
import type { KeyLocation, StoreCipher } from './store-cipher.ts';
import { TABLES } from './tables.ts';

const READER = fileURLToPath(new URL('../../read-store.mjs', import.meta.url));

/** Tables whose values are not JSON; the reader needs their names. */
const BINARY_TABLES = TABLES.filter((declared) => 'isBinary' in declared)
  .map(({ name }) => name)
  .join(',');

type Take = (line: unknown) => void;
type Read = (args: readonly string[], take: Take) => Promise<boolean>;

type Summary = {
  readonly table: string;
  /** The number of entries according to the table. */
  readonly entryCount: number;
  /** The number found; absent if the reader did not reach the table's end. */
  readonly count?: number;
  readonly isGood?: boolean;
};
type Entry = {
  readonly table: string;
  readonly key: string | number | (string | number)[];
  readonly value: string;
  readonly isGood: boolean;
};

/**
 * How many entries of a table were kept; `of` is `undefined` if the file no longer has their
 * number.
 */
type Kept = { readonly table: string; readonly kept: number; readonly of: number | undefined };

/**
 * Checks the file of a directory and repairs it if necessary. It must not be open. Throws
 * `InvalidRequest` for one that was cut short or is not that of an engine: it would start with a
 * part of its definitions, or none. With `startsEmpty` it is moved aside instead.
 */
export async function repairStore(
  location: KeyLocation & { readonly startsEmpty: boolean },
  log: LogSink,
): Promise<void> {
  const { directory } = location;
  // Without it sealed values cannot be checked; opening the store reports that it is missing.
  const cipher = existingKey(location);
  let key = cipher?.hex ?? '';
  const read = (args: readonly string[], take: Take): Promise<boolean> =>
    runReader({ args, key }, take);
  const file = join(directory, METADATA_FILE);
  if (!existsSync(file)) return;
  const { found, usedBytes, isRead, isGood } = await check(file, read);
  const { size } = statSync(file);
  const isCut = usedBytes === undefined || size < usedBytes;
  // An engine that was ended at its very first start has no entry yet.
  const isUnknown = !(found.get('identity')?.isGood ?? (isRead && found.size === 0));
  if (isCut || isUnknown) {
    const reason = isCut && usedBytes !== undefined ? cutShort(size, usedBytes) : NOT_OURS;
    if (!location.startsEmpty) throw unusable(file, reason);
    const damagedFile = putAside(file);
    log.error({ file, damagedFile }, `metadata ${reason}; the engine starts empty`);
    return;
  }
  if (isRead && isGood) return;
  if (cipher !== undefined && !isWrittenWith(cipher, await identityOf(file, read))) key = '';
  const kept = await salvage(file, found, read);
  const damagedFile = putAside(file);
  renameSync(`${file}.salvaged`, file);
  removeLock(`${file}.salvaged`);
  log.error({ file, damagedFile }, 'metadata is damaged; the readable part is kept');
  for (const { table, kept: count, of } of kept) {
    if (of === count) continue;
    if (of !== undefined) {
      log.error({ table, kept: count, lost: of - count }, `entries of ${table} are lost`);
    } else if (!isRead) {
      log.error({ table, kept: count }, `entries of ${table}, if there were more, are lost`);
    }
  }
}

const NOT_OURS = 'is not the file of a task engine, or its beginning is damaged';

function cutShort(size: number, usedBytes: number): string {
  return `was cut short: it has ${size} bytes of at least ${usedBytes}`;
}

function unusable(file: string, reason: string): InvalidRequest {
  return new InvalidRequest(
    `${file} ${reason}: put a backup in its place, or ${START_EMPTY_HINT}, which keeps it beside a new one`,
  );
}

/** The new name of a damaged file. */
function putAside(file: string): string {
  const damagedFile = unusedName(`${file}.damaged`);
  renameSync(file, damagedFile);
  removeLock(file);
  return damagedFile;
}

async function check(
  file: string,
  read: Read,
): Promise<{
  readonly found: ReadonlyMap<string, Summary>;
  /** The length that the file must have; `undefined` if its beginning cannot be read. */
  readonly usedBytes: number | undefined;
  readonly isRead: boolean;
  readonly isGood: boolean;
}> {
  const found = new Map<string, Summary>();
  let usedBytes: number | undefined;
  const isRead = await read([file, 'check'], (line) => {
    const summary = line as Summary | { readonly usedBytes: number };
    if ('usedBytes' in summary) usedBytes = summary.usedBytes;
    else found.set(summary.table, summary);
  });
  const isGood = [...found.values()].every(
    (summary) => summary.isGood === true && summary.count === summary.entryCount,
  );
  return { found, usedBytes, isRead, isGood };
}

/**
 * The contents of a file that an engine can be opened on: entries by table. Throws `InvalidRequest`
 * for one that is damaged, is something else, was written by a newer version, or with another key
 * than that of `location`.
 */
export async function inspectStore(
  file: string,
  location: KeyLocation,
): Promise<Readonly<Record<string, number>>> {
  const cipher = existingKey(location);
  const read: Read = (args, take) => runReader({ args, key: cipher?.hex ?? '' }, take);
  try {
    const { found, isRead, isGood } = await check(file, read);
    if (!isRead || !isGood || !found.has('identity')) {
      throw new InvalidRequest('this is not a backup of a task engine, or it is damaged');
    }
    const identity = await identityOf(file, read);
    if (identity !== undefined && identity.formatVersion > FORMAT_VERSION) {
      throw new InvalidRequest(
        `the backup was made by a newer version: it has format ${identity.formatVersion}, and this version reads up to ${FORMAT_VERSION}`,
      );
    }
    if (cipher === undefined || !isWrittenWith(cipher, identity)) {
      throw new InvalidRequest(
        'the backup was made with another engine.key: put that key in its place (secrets-key), then restore',
      );
    }
    return Object.fromEntries([...found].map(([table, { entryCount }]) => [table, entryCount]));
  } finally {
    removeLock(file);
  }
}

/** The identity in a file. */
async function identityOf(file: string, read: Read): Promise<Identity | undefined> {
  let identity: Identity | undefined;
  await read([file, 'first', 'identity'], (line) => {
    const { key, value, isGood } = line as Entry;
    if (key !== 'engine' || !isGood) return;
    identity = JSON.parse(Buffer.from(value, 'base64').toString('utf8')) as Identity;
  });
  return identity;
}

/** Whether a file was written with a key. */
function isWrittenWith(cipher: StoreCipher, identity: Identity | undefined): boolean {
  return identity !== undefined && identity.keyCheck === cipher.check(identity.clusterId);
}

async function salvage(
  file: string,
  found: ReadonlyMap<string, Summary>,
  read: Read,
): Promise<Kept[]> {
  const target = `${file}.salvaged`;
  rmSync(target, { force: true });
  removeLock(target);
  const root = open({ path: target, noSubdir: true, maxDbs: 32, overlappingSync: false });
  const room = new MetadataRoom(root, target);
  try {
    // The kept entries take no more space than their file.
    const { size } = statSync(file);
    const release = room.take({ entries: Math.ceil(size / PAGE_BYTES), bytes: size });
    const kept: Kept[] = [];
    // Read even when the list of tables is damaged. Others are found in that list.
    for (const table of new Set([...TABLES.map(({ name }) => name), ...found.keys()])) {
      kept.push(await salvageTable({ file, root, table, of: found.get(table)?.entryCount, read }));
    }
    await root.flushed;
    release();
    return kept;
  } finally {
    room.close();
    await root.close();
  }
}

async function salvageTable(job: {
  readonly file: string;
  readonly root: RootDatabase;
  readonly table: string;
  readonly of: number | undefined;
  readonly read: Read;
}): Promise<Kept> {
  const { file, root, table, read } = job;
  let of = job.of;
  const database = root.openDB<Buffer, Entry['key']>({ name: table, encoding: 'binary' });
  const take = (line: unknown): void => {
    if ('entryCount' in (line as object)) {
      of = (line as Summary).entryCount;
      return;
    }
    const { key, value, isGood } = line as Entry;
    if (isGood) void database.put(key, Buffer.from(value, 'base64'));
  };
  // The reader ends at a damaged page; from the other end it reaches what is beyond that.
  const isWhole = await read([file, 'first', table], take);
  await root.flushed;
  if (!isWhole || database.getKeysCount() !== of) await read([file, 'last', table], take);
  await root.flushed;
  return { table, kept: database.getKeysCount(), of };
}

/** Runs the reader and passes on its lines; returns whether it completed. */
async function runReader(
  { args, key }: { readonly args: readonly string[]; readonly key: string },
  take: Take,
): Promise<boolean> {
  const child = spawn(process.execPath, [READER, BINARY_TABLES, ...args], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  // It may end before it has read the key.
  child.stdin.on('error', () => undefined).end(key);
  const closed = once(child, 'close') as Promise<[number | null]>;
  for await (const line of createInterface({ input: child.stdout })) {
    // The last line of a process that was ended may be incomplete.
    if (line.endsWith('}')) take(JSON.parse(line));
  }
  const [status] = await closed;
  return status === 0;
}

/** The name with the first number after it that no file has. */
export function unusedName(path: string): string {
  for (let i = 1; ; i++) if (!existsSync(`${path}-${i}`)) return `${path}-${i}`;
}

/** Removes the lock file that LMDB keeps beside an open file; it does not fit another file. */
export function removeLock(file: string): void {
  rmSync(`${file}-lock`, { force: true });
}
