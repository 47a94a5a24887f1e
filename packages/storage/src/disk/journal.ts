// A state on disk as a checkpoint and a journal of the changes since, so that a change costs what
// it changes. Used for the manifest and the catalog. Format and order of writes:
// docs/formats/journal.md.
import { Corruption } from '@tidemark/core';

import { ByteReader, ByteWriter } from '../columns/bytes.ts';
import { NewerFormat } from '../damage.ts';
import { readCheckedFile, writeCheckedFile } from './checked-file.ts';
import type { CheckedFormat } from './checked-file.ts';
import type { Disk } from './disk.ts';
import { FRAME_FILE_HEADER_BYTES, frameFileHeader } from './frames.ts';
import { changeFrame, markFrame, readJournalFile } from './journal-file.ts';
import type { UnsyncedChange } from './journal-file.ts';

/** What is kept, and where. */
export type JournalPlace = {
  readonly disk: Disk;
  /** The checkpoint; the journal is beside it. Its folder exists. */
  readonly path: string;
  /** Versions of the checkpoint from `firstVersion` on have a journal. */
  readonly format: CheckedFormat & { readonly firstVersion: number };
};

/** A state as it was read. */
export type StoredState = {
  /** Version of the checkpoint. */
  readonly version: number;
  /** The state at the checkpoint. */
  readonly checkpoint: Uint8Array;
  /** What changed since, in order. */
  readonly changes: readonly Uint8Array[];
  /** A copy of something is damaged; the next change repairs it. */
  readonly hasDamagedCopy: boolean;
  /** `undefined` for checkpoints that have no journal. */
  readonly journal: StoredJournal | undefined;
};

type StoredJournal = {
  readonly number: number;
  readonly halfBytes: number;
  readonly unsynced: UnsyncedChange | undefined;
  /** See `JournalContents.end`. */
  readonly end: number | undefined;
};

/** A journal that takes changes. */
type OpenJournal = {
  readonly number: number;
  readonly halfBytes: number;
  readonly end: number;
  readonly sequence: number;
};

/** Of a half: some fifty changes of the smallest states. */
const LEAST_HALF_BYTES = 32 << 10;
/** The journal of a checkpoint holds so many times its state. */
const STATES_PER_JOURNAL = 2;
const PAGE_BYTES = 4096;
const PREFIX_BYTES = 8;
/** Room for the marks and frames of one change. */
const FRAMING_BYTES = 64;

/**
 * Reads a state; `undefined` when there is none. Throws `Corruption` when an acknowledged change,
 * or the checkpoint, is lost. Nothing may depend on the state before `Journal.settle`.
 */
export function readState({ disk, path, format }: JournalPlace): StoredState | undefined {
  const stored = readCheckedFile(path, format, disk);
  if (stored === undefined) return undefined;
  const { version, body, hasDamagedCopy } = stored;
  if (version < format.firstVersion) {
    return { version, checkpoint: body, changes: [], hasDamagedCopy, journal: undefined };
  }
  const { number, halfBytes, state } = splitBody(body, path);
  const contents = readJournalFile(disk, journalPath(path, number), halfBytes);
  return {
    version,
    checkpoint: state,
    changes: contents.changes,
    hasDamagedCopy: hasDamagedCopy || contents.hasDamagedCopy,
    journal: { number, halfBytes, unsynced: contents.unsynced, end: contents.end },
  };
}

/** Files of a state: the checkpoint and all journals, also those that do not count. */
export function stateFiles({ disk, path }: Pick<JournalPlace, 'disk' | 'path'>): string[] {
  const journals = journalNumbers(disk, path).map((number) => journalPath(path, number));
  return disk.exists(path) ? [path, ...journals] : journals;
}

/** Appends changes of a state that was read. One change at a time. */
export class Journal {
  readonly #place: JournalPlace;
  readonly #stored: StoredJournal | undefined;
  /** `undefined`: the next change needs a checkpoint first. */
  #open: OpenJournal | undefined;
  /** The journal of the last durable checkpoint. */
  #number: number | undefined;
  /** The last checkpoint failed, after whatever step. */
  #hasFailed = false;

  constructor(place: JournalPlace, stored: StoredState | undefined) {
    this.#place = place;
    const journal = stored?.journal;
    this.#stored = journal;
    this.#number = journal?.number;
    if (journal?.end === undefined || stored?.hasDamagedCopy !== false) return;
    const { number, halfBytes, end } = journal;
    this.#open = { number, halfBytes, end, sequence: stored.changes.length };
  }

  /** Makes durable what was read, which a kill or a failed sync may have left undone. */
  async settle(): Promise<void> {
    const { disk, path } = this.#place;
    if (this.#stored !== undefined) {
      const { number, halfBytes, unsynced } = this.#stored;
      const file = disk.open(journalPath(path, number), 'modify');
      try {
        if (unsynced !== undefined) {
          for (const half of [0, halfBytes]) file.write(unsynced.frame, half + unsynced.at);
        }
        await file.sync();
      } finally {
        file.close();
      }
    }
    await disk.syncDirectory(folderOf(path));
  }

  /**
   * Appends a change, which is not empty; durable when it resolves. `state` prints the state
   * without the change, for a checkpoint. When it rejects, the next start does not find the change,
   * unless the power fails before the disk has taken that back.
   */
  async append(change: Uint8Array, state: () => Uint8Array): Promise<void> {
    if (!this.#hasRoom(change)) await this.checkpoint(state(), change.length);
    const { number, halfBytes, end, sequence: before } = this.#open!;
    // Whatever fails from here on, a checkpoint precedes the next change.
    this.#open = undefined;
    const sequence = before + 1;
    const frame = changeFrame(sequence, change);
    const mark = markFrame(sequence);
    const { disk, path } = this.#place;
    const file = disk.open(journalPath(path, number), 'modify');
    const putTwice = (bytes: Uint8Array, at: number): void => {
      for (const half of [0, halfBytes]) file.write(bytes, half + at);
    };
    try {
      try {
        putTwice(frame, end);
        await file.sync();
      } catch (error) {
        // A best effort: the error of the write is the one to report.
        try {
          putTwice(new Uint8Array(frame.length), end);
          await file.sync();
        } catch {}
        throw error;
      }
      try {
        putTwice(mark, end + frame.length);
      } catch {
        // The change is durable. The checkpoint that precedes the next one does without the mark.
        return;
      }
    } finally {
      file.close();
    }
    this.#open = { number, halfBytes, end: end + frame.length + mark.length, sequence };
  }

  /** Writes a checkpoint, with a journal that has room for a change of the given size. */
  async checkpoint(state: Uint8Array, changeBytes = 0): Promise<void> {
    const { disk, path, format } = this.#place;
    this.#open = undefined;
    // Attempts that failed have left journals. The one that is visible now may have to be read.
    if (this.#hasFailed) this.#removeOthers(this.#number, this.#visibleNumber());
    this.#hasFailed = true;
    const number = 1 + Math.max(0, this.#number ?? 0, ...journalNumbers(disk, path));
    const wanted = Math.max(
      LEAST_HALF_BYTES,
      STATES_PER_JOURNAL * state.length,
      FRAME_FILE_HEADER_BYTES + changeBytes + FRAMING_BYTES,
    );
    const halfBytes = PAGE_BYTES * Math.ceil(wanted / PAGE_BYTES);
    const file = disk.open(journalPath(path, number), 'create');
    try {
      for (const half of [0, halfBytes]) file.write(frameFileHeader(), half);
      await file.sync();
    } finally {
      file.close();
    }
    await writeCheckedFile(path, { format, body: joinBody({ number, halfBytes, state }), disk });
    this.#number = number;
    this.#hasFailed = false;
    this.#removeOthers(number);
    this.#open = { number, halfBytes, end: FRAME_FILE_HEADER_BYTES, sequence: 0 };
  }

  #hasRoom(change: Uint8Array): boolean {
    if (this.#open === undefined) return false;
    const { end, halfBytes } = this.#open;
    return end + change.length + FRAMING_BYTES <= halfBytes;
  }

  /** Removes all other journals. */
  #removeOthers(...kept: readonly (number | undefined)[]): void {
    const { disk, path } = this.#place;
    for (const number of journalNumbers(disk, path)) {
      if (!kept.includes(number)) disk.remove(journalPath(path, number));
    }
  }

  /** The number in the checkpoint as it can be read now; a failed write may have replaced it. */
  #visibleNumber(): number | undefined {
    const { disk, path, format } = this.#place;
    try {
      const stored = readCheckedFile(path, format, disk);
      return stored === undefined || stored.version < format.firstVersion
        ? undefined
        : splitBody(stored.body, path).number;
    } catch (error) {
      if (error instanceof NewerFormat || !(error instanceof Corruption)) throw error;
      return undefined;
    }
  }
}

function journalPath(path: string, number: number): string {
  return `${path}.${number}`;
}

function journalNumbers(disk: Disk, path: string): number[] {
  const prefix = `${path.slice(path.lastIndexOf('/') + 1)}.`;
  return disk
    .list(folderOf(path))
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)));
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

type Body = { readonly number: number; readonly halfBytes: number; readonly state: Uint8Array };

function joinBody({ number, halfBytes, state }: Body): Uint8Array {
  const out = new ByteWriter(PREFIX_BYTES + state.length);
  out.u32(number);
  out.u32(halfBytes);
  out.raw(state);
  return out.finish();
}

function splitBody(body: Uint8Array, path: string): Body {
  if (body.length < PREFIX_BYTES) {
    throw new Corruption('checkpoint is too short', { file: path, offset: 0 });
  }
  const reader = new ByteReader(body);
  return {
    number: reader.u32(),
    halfBytes: reader.u32(),
    state: body.subarray(PREFIX_BYTES),
  };
}
