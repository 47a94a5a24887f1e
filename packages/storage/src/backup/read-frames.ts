// Reads backups: turns portions of bytes into frames, and verifies every checksum.
import { Corruption, Unavailable } from '@tidemark/core';

import { ByteReader, DecodeError } from '../columns/bytes.ts';
import type { Disk } from '../disk/disk.ts';
import { frameRecord } from '../disk/frames.ts';
import {
  BACKUP_HEADER_BYTES,
  decodeFrames,
  FRAME_HEAD_BYTES,
  MAX_FRAME_BYTES,
  PIECE_BYTES,
  readBackupHeader,
} from './format.ts';
import type { BackupContents, BackupFrame } from './format.ts';

type Portions = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** The frames of a backup; `place` names its origin in errors. */
export type ReadBackup = { readonly place: string; readonly frames: AsyncIterable<BackupFrame> };

/**
 * The frames of a backup; `end` is the last. Throws `Corruption` with `place` and the offset when
 * something is damaged or missing, and `Unavailable` with the sender's reason when the sender gave
 * up.
 */
export async function* readFrames(portions: Portions, place: string): AsyncGenerator<BackupFrame> {
  const bytes = new PortionReader(portions);
  try {
    yield* framesOf(bytes, place);
    if ((await bytes.take(1)) !== undefined) throw damagedAt(bytes, place)('bytes after the end');
  } finally {
    await bytes.close();
  }
}

/**
 * Reads several backups from one stream. Each has to be read completely before the next. Throws as
 * `readFrames`.
 */
export async function* readBackups(portions: Portions, place: string): AsyncGenerator<ReadBackup> {
  const bytes = new PortionReader(portions);
  try {
    do yield { place, frames: framesOf(bytes, place) };
    while (!(await bytes.isAtEnd()));
  } finally {
    await bytes.close();
  }
}

async function* framesOf(bytes: PortionReader, place: string): AsyncGenerator<BackupFrame> {
  const damaged = damagedAt(bytes, place);
  try {
    const header = await bytes.take(BACKUP_HEADER_BYTES);
    if (header === undefined) throw damaged('cut off');
    const version = readBackupHeader(header, place);
    for (;;) {
      const payload = await readPayload(bytes, damaged);
      for (const frame of decodeFrames(payload, version, place)) {
        if (frame.kind === 'failure') {
          throw new Unavailable(`backup was not finished: ${frame.reason}`);
        }
        yield frame;
        if (frame.kind === 'end') return;
      }
    }
  } catch (error) {
    if (error instanceof DecodeError || error instanceof SyntaxError) throw damaged(error.message);
    throw error;
  }
}

function damagedAt(bytes: PortionReader, place: string): (what: string) => Corruption {
  return (what) =>
    new Corruption(`backup is damaged: ${what}`, { file: place, offset: bytes.position });
}

/** Reads the contents of a backup, which are at its beginning. */
export async function readContents(portions: Portions, place: string): Promise<BackupContents> {
  for await (const frame of readFrames(portions, place)) {
    if (frame.kind === 'contents') return frame;
    break;
  }
  throw new Corruption('backup is damaged: no contents', { file: place, offset: 0 });
}

/** The bytes of a file in portions. */
export function* fileBytes(disk: Disk, path: string): Generator<Uint8Array> {
  const file = disk.open(path, 'read');
  try {
    for (let at = 0; ;) {
      const piece = new Uint8Array(PIECE_BYTES);
      const count = file.read(piece, at);
      if (count === 0) return;
      at += count;
      yield count === piece.length ? piece : piece.subarray(0, count);
    }
  } finally {
    file.close();
  }
}

async function readPayload(
  bytes: PortionReader,
  damaged: (what: string) => Corruption,
): Promise<Uint8Array> {
  const head = await bytes.take(FRAME_HEAD_BYTES);
  if (head === undefined) throw damaged('cut off');
  const length = new ByteReader(head, 4).u32();
  if (length > MAX_FRAME_BYTES) throw damaged('length of a frame');
  const payload = await bytes.take(length);
  if (payload === undefined) throw damaged('cut off');
  // Encoding the payload again gives the same head (mark, length, checksum) if it is intact.
  if (Buffer.compare(head, frameRecord(payload).subarray(0, FRAME_HEAD_BYTES)) !== 0) {
    throw damaged('checksum');
  }
  return payload;
}

/** Takes exact numbers of bytes out of portions of any size. */
class PortionReader {
  readonly #portions: AsyncIterator<Uint8Array> | Iterator<Uint8Array>;
  #held: Uint8Array = new Uint8Array(0);
  position = 0;

  constructor(portions: Portions) {
    this.#portions =
      Symbol.asyncIterator in portions
        ? portions[Symbol.asyncIterator]()
        : portions[Symbol.iterator]();
  }

  async isAtEnd(): Promise<boolean> {
    return !(await this.#hold(1));
  }

  /** Returns a view; `undefined` when fewer bytes are left. */
  async take(count: number): Promise<Uint8Array | undefined> {
    if (!(await this.#hold(count))) return undefined;
    const taken = this.#held.subarray(0, count);
    this.#held = this.#held.subarray(count);
    this.position += count;
    return taken;
  }

  /** Reads portions until `count` bytes are there. Returns false when the stream ends first. */
  async #hold(count: number): Promise<boolean> {
    if (this.#held.length >= count) return true;
    const parts = [this.#held];
    let { length } = this.#held;
    while (length < count) {
      const step = await this.#portions.next();
      if (step.done === true) break;
      parts.push(step.value);
      length += step.value.length;
    }
    this.#held = Buffer.concat(parts);
    return length >= count;
  }

  async close(): Promise<void> {
    await this.#portions.return?.();
  }
}
