// The file of a journal: changes in two equal halves, with marks that tell a torn end from damage.
// Format: docs/formats/journal.md.
import { Corruption } from '@tidemark/core';

import { ByteReader, ByteWriter, DecodeError } from '../columns/bytes.ts';
import type { Disk } from './disk.ts';
import { FRAME_BYTES, FRAME_FILE_HEADER_BYTES, frameRecord, scanFrameBytes } from './frames.ts';
import { readFile } from './read-file.ts';

/** A change that may not be durable, and its position in each half. */
export type UnsyncedChange = { readonly at: number; readonly frame: Uint8Array };

export type JournalContents = {
  /** In the order in which they were made. */
  readonly changes: readonly Uint8Array[];
  /** Something in one of the halves is damaged. */
  readonly hasDamagedCopy: boolean;
  /** The last change, if no mark says that it was synced. */
  readonly unsynced: UnsyncedChange | undefined;
  /**
   * Where the next change belongs in each half; `undefined` when there is anything but zeros, so
   * that nothing may be appended.
   */
  readonly end: number | undefined;
};

/** A change as it is written. */
export function changeFrame(sequence: number, change: Uint8Array): Uint8Array {
  const payload = new ByteWriter(change.length + 8);
  payload.varint(sequence);
  payload.raw(change);
  return frameRecord(payload.finish());
}

/** Says that the change and all before it were synced. */
export function markFrame(sequence: number): Uint8Array {
  const payload = new ByteWriter(8);
  payload.varint(sequence);
  return frameRecord(payload.finish());
}

/** Reads a journal. Throws `Corruption` when an acknowledged change is lost. */
export function readJournalFile(disk: Disk, path: string, halfBytes: number): JournalContents {
  if (!disk.exists(path)) throw new Corruption('journal is missing', { file: path, offset: 0 });
  const bytes = readFile(disk, path);
  const halves = [bytes.subarray(0, halfBytes), bytes.subarray(halfBytes)].map((half) =>
    readHalf(half, path),
  );
  const last = Math.max(...halves.map((half) => half.changes.length - 1), 0);
  const synced = Math.max(...halves.map((half) => half.marked), last - 1);
  const changes: Uint8Array[] = [];
  let hasDamagedCopy = halves.some((half) => !half.isHeaderGood);
  let unsynced: UnsyncedChange | undefined;
  for (let sequence = 1; sequence <= Math.max(last, synced); sequence++) {
    const copies = halves.map((half) => half.changes[sequence]);
    const good = copies.find((copy) => copy !== undefined);
    if (good === undefined) throw lost(path, sequence, halves);
    changes.push(good.change);
    if (sequence > synced) unsynced = { at: good.at, frame: changeFrame(sequence, good.change) };
    else if (copies.includes(undefined)) hasDamagedCopy = true;
  }
  if (halves.every((half) => half.changes.length === 0 && !half.isHeaderGood)) {
    throw new Corruption('journal is damaged in both halves', { file: path, offset: 0 });
  }
  const ends = halves.map((half) => half.end);
  const [end = 0] = ends;
  const isContinuable =
    !hasDamagedCopy && unsynced === undefined && ends[1] === end && halves.every(endsInZeros);
  return { changes, hasDamagedCopy, unsynced, end: isContinuable ? end : undefined };
}

type Copy = { readonly change: Uint8Array; readonly at: number };

type Half = {
  readonly bytes: Uint8Array;
  /** By sequence. */
  readonly changes: readonly (Copy | undefined)[];
  /** The largest sequence that a mark names. */
  readonly marked: number;
  readonly isHeaderGood: boolean;
  /** End of the last good frame. */
  readonly end: number;
};

function readHalf(bytes: Uint8Array, path: string): Half {
  const scan = scanFrameBytes(bytes, path);
  const changes: (Copy | undefined)[] = [];
  let marked = 0;
  for (const payload of scan.payloads) {
    const at = payload.byteOffset - bytes.byteOffset - FRAME_BYTES;
    const { sequence, change } = decodePayload(payload, { path, at });
    // Changes are not larger in number than bytes.
    if (sequence > bytes.length) throw notUnderstood(path, at);
    if (change === undefined) {
      marked = Math.max(marked, sequence);
      continue;
    }
    while (changes.length < sequence) changes.push(undefined);
    changes[sequence] = { change, at };
  }
  // Damage between the changes concerns marks, which a power failure may take from before a change.
  return { bytes, changes, marked, isHeaderGood: scan.version > 0, end: scan.goodBytes };
}

/** A payload without a change is a mark. */
function decodePayload(
  payload: Uint8Array,
  { path, at }: { readonly path: string; readonly at: number },
): { readonly sequence: number; readonly change: Uint8Array | undefined } {
  try {
    const reader = new ByteReader(payload);
    const sequence = reader.varint();
    const change = reader.remaining === 0 ? undefined : reader.raw(reader.remaining);
    return { sequence, change };
  } catch (error) {
    if (error instanceof DecodeError) throw notUnderstood(path, at);
    throw error;
  }
}

/** The checksum is right, so another program wrote it. */
function notUnderstood(file: string, offset: number): Corruption {
  return new Corruption('a record of the journal is not understood', { file, offset });
}

function endsInZeros({ bytes, end }: Half): boolean {
  for (let at = end; at < bytes.length; at++) if (bytes[at] !== 0) return false;
  return true;
}

function lost(path: string, sequence: number, halves: readonly Half[]): Corruption {
  const before = halves[0]?.changes[sequence - 1];
  const message = `both copies of change ${sequence} of the journal are damaged`;
  const offset = before === undefined ? FRAME_FILE_HEADER_BYTES : before.at;
  return new Corruption(message, { file: path, offset });
}
