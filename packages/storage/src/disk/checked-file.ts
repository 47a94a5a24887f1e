// Small files on which everything depends (manifest, catalog). They are replaced as a whole, and
// hold their contents twice, so that damage in one place loses nothing. Format:
// docs/formats/checked-file.md.
import { Corruption } from '@tidemark/core';

import { ByteReader, ByteWriter } from '../columns/bytes.ts';
import { crc32c } from '../columns/codecs.ts';
import { NewerFormat } from '../damage.ts';
import type { Disk } from './disk.ts';
import { nodeDisk } from './node-disk.ts';
import { readFile } from './read-file.ts';

/** Six characters that begin every file of the kind, and the version that is written. */
export type CheckedFormat = { readonly magic: string; readonly version: number };

export type CheckedContents = {
  readonly version: number;
  readonly body: Uint8Array;
  /** One of the two copies is damaged; the next write of the file repairs it. */
  readonly hasDamagedCopy: boolean;
};

const HEADER_BYTES = 16;

/**
 * The contents; `undefined` when the file is missing. Throws `Corruption` when no copy is sound.
 */
export function readCheckedFile(
  path: string,
  format: CheckedFormat,
  disk: Disk = nodeDisk(),
): CheckedContents | undefined {
  if (!disk.exists(path)) return undefined;
  return decodeChecked(readFile(disk, path), format, path);
}

/** Replaces the file; durable when it resolves. A crash before leaves the previous contents. */
export async function writeCheckedFile(
  path: string,
  options: {
    readonly format: CheckedFormat;
    readonly body: Uint8Array;
    readonly disk?: Disk | undefined;
  },
): Promise<void> {
  const { format, body, disk = nodeDisk() } = options;
  const temporary = `${path}.tmp`;
  disk.remove(temporary);
  const file = disk.open(temporary, 'create');
  try {
    file.write(encodeChecked(body, format), 0);
    await file.sync();
  } catch (error) {
    // On a full disk the incomplete file would take space that others need.
    disk.remove(temporary);
    throw error;
  } finally {
    file.close();
  }
  disk.rename(temporary, path);
  await disk.syncDirectory(path.slice(0, path.lastIndexOf('/')) || '/');
}

/** The bytes of a file: two equal copies of header and body. */
export function encodeChecked(body: Uint8Array, { magic, version }: CheckedFormat): Uint8Array {
  const out = new ByteWriter(2 * (HEADER_BYTES + body.length));
  for (let copy = 0; copy < 2; copy++) {
    const head = new ByteWriter(HEADER_BYTES);
    head.i64(magicNumber(magic) | (BigInt(version) << 48n));
    head.u32(body.length);
    const begin = head.finish();
    out.raw(begin);
    out.u32(crc32c(body, crc32c(begin)));
    out.raw(body);
  }
  return out.finish();
}

/** Reads a file of two copies, or of one as version 1 wrote it. Throws `Corruption`. */
export function decodeChecked(
  bytes: Uint8Array,
  format: CheckedFormat,
  path: string,
): CheckedContents {
  const first = decodeCopy(bytes, format, path);
  const hasSecond = first === undefined || first.version > 1;
  const second = hasSecond
    ? decodeCopy(bytes.subarray(Math.floor(bytes.length / 2)), format, path)
    : undefined;
  const copy = first ?? second;
  if (copy === undefined) {
    throw new Corruption(`${format.magic} file is damaged in all copies`, {
      file: path,
      offset: 0,
    });
  }
  const lacksOne = hasSecond && (first === undefined || second === undefined);
  // The file is longer than its copies, or its second copy is cut off.
  const sizeBytes = (hasSecond ? 2 : 1) * (HEADER_BYTES + copy.body.length);
  return { ...copy, hasDamagedCopy: lacksOne || bytes.length !== sizeBytes };
}

/** The copy that begins here; `undefined` when it is damaged. */
function decodeCopy(
  bytes: Uint8Array,
  { magic, version: newest }: CheckedFormat,
  path: string,
): { readonly version: number; readonly body: Uint8Array } | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  const reader = new ByteReader(bytes);
  const begin = reader.i64();
  const length = reader.u32();
  const checksum = reader.u32();
  if ((begin & 0xffffffffffffn) !== magicNumber(magic) || length > reader.remaining)
    return undefined;
  const body = reader.raw(length);
  const version = Number(begin >> 48n);
  const expected = version === 1 ? crc32c(body) : crc32c(body, crc32c(bytes.subarray(0, 12)));
  if (checksum !== expected) return undefined;
  if (version > newest) throw new NewerFormat(path, { version, newest });
  return { version, body };
}

/** The characters as a little-endian number of 48 bits. */
function magicNumber(magic: string): bigint {
  let number = 0n;
  for (let i = magic.length - 1; i >= 0; i--) {
    number = (number << 8n) | BigInt(magic.charCodeAt(i));
  }
  return number;
}
