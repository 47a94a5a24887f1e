// Marks in log files: a mark says that everything before a position in the file was synced. So
// damage before it is damage of acknowledged records, while bytes after the last mark may be a
// write that a power cut interrupted. Format: docs/formats/wal.md.
import { ByteReader, ByteWriter, DecodeError } from '../columns/bytes.ts';
import { frameRecord } from '../disk/frames.ts';

/** Kind of the payload; kinds of records are smaller (`wal-record.ts`). */
const MARK_KIND = 3;

/** No mark is longer, with its frame. */
export const MARK_BYTES_MAX = 32;

/** The frame of a mark for everything before `end`. */
export function syncMark(end: number): Uint8Array {
  const out = new ByteWriter(16);
  out.u8(MARK_KIND);
  out.varint(end);
  return frameRecord(out.finish());
}

/** The end of what a mark says was synced; `undefined` for the payload of a record. */
export function markedEnd(payload: Uint8Array): number | undefined {
  if (payload[0] !== MARK_KIND) return undefined;
  try {
    return new ByteReader(payload, 1).varint();
  } catch (error) {
    // The checksum is right, so another program wrote it; decoding it as a record reports it.
    if (!(error instanceof DecodeError)) throw error;
    return undefined;
  }
}
