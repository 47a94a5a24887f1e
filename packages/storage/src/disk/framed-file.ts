// Append-only files of checksummed records, framed like log files: series indexes, and the keys of
// shards. The manifest records the end of each; bytes beyond it were left by an append that failed
// or was cut short by a crash.
import { Corruption } from '@tidemark/core';

import { ByteWriter } from '../columns/bytes.ts';
import { crc32c } from '../columns/codecs.ts';
import type { Disk } from './disk.ts';
import { noteShortLived } from '../columns/short-lived.ts';
import { frameRecord, FRAME_FILE_HEADER_BYTES, frameFileHeader } from './frames.ts';
import { sizeOf } from './read-file.ts';

/** How much of a file is known to be durable. */
export type FramedEnd = {
  readonly logBytes: number;
  /**
   * CRC-32C of these bytes; `undefined` for files from before the manifest recorded it.
   */
  readonly checksum: number | undefined;
};

/** Small records are written together. */
const WRITE_BYTES = 64 << 10;

export const FRAMED_START: FramedEnd = { logBytes: 0, checksum: 0 };

/**
 * Appends records after `end` and resolves with the new end when they are durable. When it fails,
 * none of them stay. Throws `Corruption` when the file is shorter than its end.
 */
export async function appendFrames(
  disk: Disk,
  path: string,
  options: {
    readonly payloads: Iterable<Uint8Array>;
    readonly end: FramedEnd;
    readonly pause: () => Promise<void>;
    /** Called before bytes are cut off the file, to keep a copy of it. */
    readonly keep: (path: string) => Promise<void>;
  },
): Promise<FramedEnd> {
  const { logBytes } = options.end;
  const isNew = !disk.exists(path);
  const sizeBytes = isNew ? 0 : sizeOf(disk, path);
  if (sizeBytes < logBytes) {
    const message = `file has ${sizeBytes} bytes instead of ${logBytes}`;
    throw new Corruption(message, { file: path, offset: sizeBytes });
  }
  if (sizeBytes > Math.max(logBytes, FRAME_FILE_HEADER_BYTES)) await options.keep(path);
  const file = disk.open(path, isNew ? 'create' : 'modify');
  let end = logBytes;
  let { checksum } = options.end;
  const put = (bytes: Uint8Array): void => {
    file.write(bytes, end);
    end += bytes.length;
    if (checksum !== undefined) checksum = crc32c(bytes, checksum);
    // Three copies: the caller's bytes, the record and the frame.
    noteShortLived(bytes.length * 3);
  };
  try {
    if (sizeBytes > logBytes) file.truncate(logBytes);
    try {
      if (end === 0) put(frameFileHeader());
      const frames = new ByteWriter(WRITE_BYTES);
      for (const payload of options.payloads) {
        if (frames.length > 0 && frames.length + payload.length > WRITE_BYTES) put(frames.drain());
        frames.raw(frameRecord(payload));
        await options.pause();
      }
      if (frames.length > 0) put(frames.drain());
      await file.sync();
    } catch (error) {
      // A part may have been written; the next append must not follow it.
      file.truncate(logBytes);
      throw error;
    }
  } finally {
    file.close();
  }
  // The file may have been made by an append that failed before this.
  if (logBytes === 0) await disk.syncDirectory(path.slice(0, path.lastIndexOf('/')));
  return { logBytes: end, checksum };
}
