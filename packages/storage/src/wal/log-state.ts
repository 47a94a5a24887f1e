// FILES, the list of log files: for each that is finished, its length and the databases with
// records in it. Written before the first record of a file, and when the log is closed. With it, a
// missing or truncated file is noticed, and which databases lost records. Format:
// docs/formats/wal.md.
import { Corruption, utf8Text } from '@tidemark/core';
import type { Damage } from '@tidemark/storage-api';

import { utf8 } from '../columns/bytes.ts';
import { NewerFormat } from '../damage.ts';
import { readCheckedFile, writeCheckedFile } from '../disk/checked-file.ts';
import type { CheckedFormat } from '../disk/checked-file.ts';
import type { Disk } from '../disk/disk.ts';

const FORMAT: CheckedFormat = { magic: 'TDMLOG', version: 2 };

export type LogFileEntry = {
  readonly id: number;
  /** Where its last durable record ends; absent while it is written, and where a sync failed. */
  readonly bytes?: number | undefined;
  /** Databases with records in it; absent while it is written. */
  readonly databases?: readonly string[] | undefined;
};

export function logStatePath(directory: string): string {
  return `${directory}/FILES`;
}

export type StoredLogState = {
  /** `undefined` when the list is missing or cannot be read. */
  readonly entries: readonly LogFileEntry[] | undefined;
  readonly fault: Damage | undefined;
};

/** The list in the log's directory. */
export function readLogState(disk: Disk, directory: string): StoredLogState {
  const file = logStatePath(directory);
  try {
    const stored = readCheckedFile(file, FORMAT, disk);
    if (stored === undefined) return { entries: undefined, fault: undefined };
    const { files } = JSON.parse(utf8Text(stored.body)) as { files: LogFileEntry[] };
    const message = 'one copy of the list of log files is damaged';
    return {
      entries: files,
      fault: stored.hasDamagedCopy ? { file, offset: 0, message } : undefined,
    };
  } catch (error) {
    if (error instanceof NewerFormat || !(error instanceof Corruption)) throw error;
    const message = 'the list of log files is damaged in both copies';
    return { entries: undefined, fault: { file, offset: 0, message } };
  }
}

/** The log files that exist when the log is opened. */
export type ListedLogs = {
  readonly entries: readonly LogFileEntry[];
  /** There is a list, or there was one. */
  readonly isExpected: boolean;
  /**
   * The list is missing or damaged, and stays so until `release`, so that a start notices it again.
   */
  readonly isHeld: boolean;
};

/** The list of one log in memory. */
export class LogState {
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #entries = new Map<number, LogFileEntry>();
  #written: string | undefined;
  #isExpected: boolean;
  #isHeld: boolean;

  constructor(disk: Disk, directory: string, { entries, isExpected, isHeld }: ListedLogs) {
    this.#disk = disk;
    this.#directory = directory;
    this.#isExpected = isExpected;
    this.#isHeld = isHeld;
    for (const entry of entries) this.set(entry);
  }

  /**
   * Whether a start that finds no list has lost it: a list exists from before the first record.
   */
  get isExpected(): boolean {
    return this.#isExpected;
  }

  set(entry: LogFileEntry): void {
    this.#entries.set(entry.id, entry);
  }

  /** A manifest was written that records what was lost, and needs no files below `id`. */
  release(id: number): void {
    this.#isHeld = false;
    for (const known of this.#entries.keys()) if (known < id) this.#entries.delete(known);
  }

  /** Durable when it resolves. */
  async write(): Promise<void> {
    const files = [...this.#entries.values()].sort((a, b) => a.id - b.id);
    const text = JSON.stringify({ files });
    if (this.#isHeld || text === this.#written) return;
    const path = logStatePath(this.#directory);
    await writeCheckedFile(path, { format: FORMAT, body: utf8(text), disk: this.#disk });
    this.#written = text;
    this.#isExpected = true;
  }
}
