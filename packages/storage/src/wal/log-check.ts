// Reads the files of the log in order and compares them with the list of log files. Only bytes
// after the last mark (`sync-mark.ts`) of a file that was not finished may be an incomplete write;
// anything else that is missing or damaged had been acknowledged, so it is reported as damage.
import type { Damage } from '@tidemark/storage-api';

import { ByteReader, DecodeError } from '../columns/bytes.ts';
import type { Disk, DiskFile } from '../disk/disk.ts';
import { walDirectory } from '../disk/paths.ts';
import { logStatePath, readLogState } from './log-state.ts';
import type { LogFileEntry } from './log-state.ts';
import {
  FRAME_BYTES,
  LISTED_VERSION,
  MARKED_VERSION,
  scanFrames,
  FRAME_FILE_HEADER_BYTES,
} from '../disk/frames.ts';
import type { ByteRange, FrameScan } from '../disk/frames.ts';
import { MARK_BYTES_MAX, markedEnd } from './sync-mark.ts';
import { decodeOwner } from './wal-record.ts';
import type { DatabaseRef } from './wal-record.ts';
import { walFileId, walPath } from './wal.ts';

/** Damage by which records were lost. */
export type LogFault = Damage & {
  /** Databases that may have lost records; `undefined` when that is not known. */
  readonly databases: readonly string[] | undefined;
};

export type CheckedLogFile = {
  readonly id: number;
  readonly path: string;
  /** Its entry in the list of log files. */
  readonly entry: LogFileEntry | undefined;
  /** Its records; `undefined` when the file is missing. */
  readonly scan: FrameScan | undefined;
  /** Bytes after the last record: a write that was not acknowledged. */
  readonly tornBytes: number;
  /** A mark says that it was synced up to here. */
  readonly syncedBytes: number;
  readonly faults: readonly LogFault[];
};

type CheckOptions = {
  readonly disk: Disk;
  /** The engine's directory. */
  readonly directory: string;
  /** Files with smaller ids are not needed any more. */
  readonly walStart: number;
  /** Whether the manifest says that there is a list. */
  readonly isListed: boolean;
  /**
   * Whether the database exists, in this instance: damaged bytes may name a database by chance, but
   * hardly with its instance.
   */
  readonly knows: (database: DatabaseRef) => boolean;
};

export type LogCheck = {
  /** Damage of the list itself. */
  readonly faults: readonly LogFault[];
  /** One of the two copies of the list is damaged; nothing is lost. */
  readonly damagedCopy: Damage | undefined;
  /** There is a list, or there was one. */
  readonly isListed: boolean;
  /** In the order of the log; each file is read when the iterator reaches it. */
  readonly files: Iterable<CheckedLogFile>;
};

export function checkLog(options: CheckOptions): LogCheck {
  const { disk, walStart } = options;
  const directory = walDirectory(options.directory);
  const { entries, fault } = readLogState(disk, directory);
  const present = new Set<number>();
  for (const name of disk.list(directory)) {
    const id = walFileId(name);
    if (id !== undefined && id >= walStart) present.add(id);
  }
  const faults: LogFault[] = [];
  const isListed =
    entries !== undefined ||
    fault !== undefined ||
    options.isListed ||
    hasListedRecords(disk, directory, present);
  if (entries === undefined) {
    const file = logStatePath(directory);
    if (fault !== undefined) faults.push({ ...fault, databases: undefined });
    else if (isListed) {
      const message = 'the list of log files is missing';
      faults.push({ file, offset: 0, message, databases: undefined });
    }
  }
  const files = checkedFiles(options, { directory, entries, present });
  return { faults, damagedCopy: entries === undefined ? undefined : fault, isListed, files };
}

/** Before the first manifest, the version of a file tells whether it was listed. */
function hasListedRecords(disk: Disk, directory: string, ids: Iterable<number>): boolean {
  for (const id of ids) {
    const file = disk.open(walPath(directory, id), 'read');
    try {
      // After a crash between creating a file and listing it, the file is empty.
      const isUsed = file.size() > FRAME_FILE_HEADER_BYTES;
      if (isUsed && scanFrames(file, { to: FRAME_FILE_HEADER_BYTES }).version >= LISTED_VERSION)
        return true;
    } finally {
      file.close();
    }
  }
  return false;
}

type Files = {
  readonly directory: string;
  readonly entries: readonly LogFileEntry[] | undefined;
  readonly present: ReadonlySet<number>;
};

function* checkedFiles(
  options: CheckOptions,
  { directory, entries, present }: Files,
): Generator<CheckedLogFile> {
  const listed = new Map(
    (entries ?? []).filter(({ id }) => id >= options.walStart).map((entry) => [entry.id, entry]),
  );
  const ids = [...new Set([...present, ...listed.keys()])];
  // Without a list there are no gaps.
  const first = options.walStart > 0 ? options.walStart : Math.min(...ids);
  const last = Math.max(...ids);
  if (entries === undefined) for (let id = first; id < last; id++) ids.push(id);
  for (const id of [...new Set(ids)].sort((a, b) => a - b)) {
    const path = walPath(directory, id);
    const entry = listed.get(id);
    if (present.has(id)) {
      yield checkFile(options, {
        id,
        path,
        entry,
        isLast: id === last,
        isListed: entries !== undefined,
      });
      continue;
    }
    const message = 'a file of the log is missing';
    const faults = [{ file: path, offset: 0, message, databases: entry?.databases }];
    yield { id, path, entry, scan: undefined, tornBytes: 0, syncedBytes: 0, faults };
  }
}

type Place = {
  readonly id: number;
  readonly path: string;
  readonly entry: LogFileEntry | undefined;
  readonly isLast: boolean;
  readonly isListed: boolean;
};

function checkFile(
  { disk, knows }: CheckOptions,
  { id, path, entry, isLast, isListed }: Place,
): CheckedLogFile {
  const file = disk.open(path, 'read');
  try {
    const whole = scanFrames(file, { to: entry?.bytes });
    const syncedBytes = lastMark(whole);
    const isFinished = entry?.bytes !== undefined;
    const scan = withoutUnsynced(whole, isFinished ? whole.fileBytes : syncedBytes);
    const faults = scan.damaged.map((range): LogFault => {
      const databases = ownerOf(file, range, { entry, knows });
      const message = 'a record of the log is damaged';
      return { file: path, offset: range.offset, message, databases };
    });
    const { goodBytes, fileBytes } = scan;
    // A file without an entry was just begun when the process ended.
    const mayBeTorn = isLast || (isListed && entry?.bytes === undefined);
    const neededBytes =
      entry?.bytes ?? (mayBeTorn ? 0 : Math.max(fileBytes, FRAME_FILE_HEADER_BYTES));
    if (goodBytes < neededBytes) {
      const message = `a file of the log has ${goodBytes} readable bytes instead of ${neededBytes}`;
      faults.push({ file: path, offset: goodBytes, message, databases: entry?.databases });
    }
    const tornBytes = endsInMark(file, goodBytes) ? 0 : file.size() - goodBytes;
    return { id, path, entry, scan, tornBytes, syncedBytes, faults };
  } finally {
    file.close();
  }
}

/** Whether only the mark follows that was written when the log was at rest. */
export function endsInMark(file: DiskFile, from: number): boolean {
  const sizeBytes = file.size();
  if (from < FRAME_FILE_HEADER_BYTES || sizeBytes - from > MARK_BYTES_MAX) return false;
  const { payloads, goodBytes } = scanFrames(file, { from });
  return goodBytes === sizeBytes && payloads.every((one) => markedEnd(one) !== undefined);
}

/** How much of a file a mark says was synced. */
function lastMark({ payloads }: FrameScan): number {
  let synced = 0;
  for (const payload of payloads) synced = Math.max(synced, markedEnd(payload) ?? 0);
  return synced;
}

/**
 * The scan without marks. In a file that was not finished, writes after the last mark may have
 * survived a power cut in any order: nothing is read after the first one that did not.
 */
function withoutUnsynced(scan: FrameScan, synced: number): FrameScan {
  if (scan.version < MARKED_VERSION) return scan;
  const records = scan.payloads.filter((payload) => markedEnd(payload) === undefined);
  const torn = scan.damaged.find(({ offset }) => offset >= synced);
  if (torn === undefined) return { ...scan, payloads: records };
  return {
    ...scan,
    payloads: records.filter((payload) => payload.byteOffset < torn.offset),
    damaged: scan.damaged.filter(({ offset }) => offset < torn.offset),
    goodBytes: torn.offset,
  };
}

/**
 * The database of a damaged record: the one that it still names, or the only one in the file.
 */
function ownerOf(
  file: { read(target: Uint8Array, offset: number): number },
  { offset, end }: ByteRange,
  { entry, knows }: { readonly entry: LogFileEntry | undefined } & Pick<CheckOptions, 'knows'>,
): readonly string[] | undefined {
  const bytes = new Uint8Array(end - offset);
  file.read(bytes, offset);
  const isSingle =
    bytes.length > FRAME_BYTES && new ByteReader(bytes, 4).u32() === bytes.length - FRAME_BYTES;
  if (!isSingle) return entry?.databases;
  try {
    const owner = decodeOwner(bytes.subarray(FRAME_BYTES));
    if (owner !== undefined && knows(owner)) return [owner.name];
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
  }
  return entry?.databases;
}
