// Frames: the form of records in log files, index files and files of keys. Each has a mark, a
// length and a checksum. A scan reads all good ones back and reports damaged ranges between them
// (docs/formats/wal.md).
import { ByteReader, ByteWriter } from '../columns/bytes.ts';
import { crc32c } from '../columns/codecs.ts';
import { NewerFormat } from '../damage.ts';
import type { DiskFile } from './disk.ts';

const MAGIC = 0x4c41574d4454n; // "TDMWAL" little-endian
/** Version of index files, files of keys, and log files from before there was a list of them. */
const FRAMED_VERSION = 1;
/** Version of log files that are listed in `FILES` (`log-state.ts`) before their first record. */
export const LISTED_VERSION = 2;
/** Version of log files that are listed, and say in marks how much of them was synced. */
export const MARKED_VERSION = 3;
export const FRAME_FILE_HEADER_BYTES = 16;
/** Size of the frame in front of each record. */
export const FRAME_BYTES = 12;
/** Begins every frame, so that a reader finds the next record behind a damaged one. */
const FRAME_MARK = 0x9e4c4157;
/**
 * No record is larger than this: a bound on what a reader allocates because of a damaged length.
 */
const MAX_RECORD_BYTES = 1 << 30;

/** Header of a file of frames. */
export function frameFileHeader(version = FRAMED_VERSION): Uint8Array {
  const out = new ByteWriter(FRAME_FILE_HEADER_BYTES);
  out.i64(MAGIC | (BigInt(version) << 48n));
  out.u32(0);
  const head = out.finish();
  const whole = new ByteWriter(FRAME_FILE_HEADER_BYTES);
  whole.raw(head);
  whole.u32(crc32c(head));
  return whole.finish();
}

/** A record with its frame: mark, length, checksum, payload. */
export function frameRecord(payload: Uint8Array): Uint8Array {
  const framed = new Uint8Array(FRAME_BYTES + payload.length);
  framed.set(payload, FRAME_BYTES);
  fillFrame(framed);
  return framed;
}

/** Writes the frame into the first `FRAME_BYTES` of a record, which were left free for it. */
export function fillFrame(framed: Uint8Array): void {
  const view = new DataView(framed.buffer, framed.byteOffset);
  view.setUint32(0, FRAME_MARK, true);
  view.setUint32(4, framed.length - FRAME_BYTES, true);
  view.setUint32(8, frameChecksum(framed), true);
}

// The checksum covers the length too, so that a damaged length cannot match an intact payload.
function frameChecksum(framed: Uint8Array): number {
  return crc32c(framed.subarray(FRAME_BYTES), crc32c(framed.subarray(0, 8)));
}

/** Bytes [offset, end) of a file. */
export type ByteRange = { readonly offset: number; readonly end: number };

export type FrameScan = {
  /** Version in the file's header; 0 when that is damaged. */
  readonly version: number;
  /** Payloads of the good records, in order. */
  readonly payloads: readonly Uint8Array[];
  /** Damaged ranges with good records behind them: acknowledged data is lost there. */
  readonly damaged: readonly ByteRange[];
  /** End of the last good record; what follows was being written when the process ended. */
  readonly goodBytes: number;
  /** End of what was read. */
  readonly fileBytes: number;
};

/**
 * Part of a file. `from` is the start of a record, by default the beginning of the file; `to` is
 * the end of a record, by default the end of the file.
 */
export type ScanRange = { readonly from?: number | undefined; readonly to?: number | undefined };

/**
 * Reads the good records of a range. Never throws for damage, only for a version that is not known.
 */
export function scanFrames(file: DiskFile, { from = 0, to }: ScanRange = {}): FrameScan {
  const fileBytes = Math.min(file.size(), to ?? Number.POSITIVE_INFINITY);
  if (from > FRAME_FILE_HEADER_BYTES && from <= fileBytes) return scanTail(file, from, fileBytes);
  const buffer = new Uint8Array(fileBytes);
  const bytes = buffer.subarray(0, file.read(buffer, 0));
  return { ...scanFrameBytes(bytes, file.path), fileBytes };
}

/** As `scanFrames`, of the bytes of a whole file, or of a part with a header of its own. */
export function scanFrameBytes(bytes: Uint8Array, path: string): FrameScan {
  const version = headerVersion(bytes, path);
  const isHeaderGood = version > 0 || bytes.length === 0;
  const at = Math.min(FRAME_FILE_HEADER_BYTES, bytes.length);
  return { ...framesIn(bytes, at, isHeaderGood), version, fileBytes: bytes.length };
}

function scanTail(file: DiskFile, from: number, fileBytes: number): FrameScan {
  const header = new Uint8Array(FRAME_FILE_HEADER_BYTES);
  file.read(header, 0);
  const version = headerVersion(header, file.path);
  const buffer = new Uint8Array(fileBytes - from);
  const scan = framesIn(buffer.subarray(0, file.read(buffer, from)), 0, true);
  return {
    version,
    payloads: scan.payloads,
    damaged: scan.damaged.map(({ offset, end }) => ({ offset: offset + from, end: end + from })),
    goodBytes: scan.goodBytes + from,
    fileBytes,
  };
}

function framesIn(
  bytes: Uint8Array,
  start: number,
  isHeaderGood: boolean,
): Pick<FrameScan, 'payloads' | 'damaged' | 'goodBytes'> {
  const payloads: Uint8Array[] = [];
  const damaged: ByteRange[] = [];
  let at = start;
  let suspect = isHeaderGood ? -1 : 0;
  let goodBytes = isHeaderGood ? at : 0;
  while (at + FRAME_BYTES <= bytes.length) {
    const end = frameEnd(bytes, at);
    if (end < 0) {
      if (suspect < 0) suspect = at;
      at = findMark(bytes, at + 1);
      continue;
    }
    if (suspect >= 0) damaged.push({ offset: suspect, end: at });
    suspect = -1;
    payloads.push(bytes.subarray(at + FRAME_BYTES, end));
    at = end;
    goodBytes = end;
  }
  return { payloads, damaged, goodBytes };
}

/** End of the good frame at `at`, or -1. */
function frameEnd(bytes: Uint8Array, at: number): number {
  const reader = new ByteReader(bytes, at);
  const mark = reader.u32();
  const size = reader.u32();
  const checksum = reader.u32();
  const end = at + FRAME_BYTES + size;
  if (mark !== FRAME_MARK || size > MAX_RECORD_BYTES || end > bytes.length) return -1;
  return frameChecksum(bytes.subarray(at, end)) === checksum ? end : -1;
}

function findMark(bytes: Uint8Array, from: number): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const mark = Buffer.alloc(4);
  mark.writeUInt32LE(FRAME_MARK);
  const at = buffer.indexOf(mark, from);
  return at < 0 ? bytes.length : at;
}

/** Version of a good header, 0 of another. Throws `NewerFormat`. */
function headerVersion(bytes: Uint8Array, path: string): number {
  if (bytes.length < FRAME_FILE_HEADER_BYTES) return 0;
  const reader = new ByteReader(bytes);
  const magic = reader.i64();
  const reserved = reader.u32();
  if (reader.u32() !== crc32c(bytes.subarray(0, 12))) return 0;
  if ((magic & 0xffffffffffffn) !== MAGIC || reserved !== 0) return 0;
  const version = Number(magic >> 48n);
  if (version > MARKED_VERSION) throw new NewerFormat(path, { version, newest: MARKED_VERSION });
  return version;
}
