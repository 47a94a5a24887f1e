// Writing and reading backup files (docs/formats/backup.md).
import { deflateRawSync, inflateRawSync } from 'node:zlib';

import { Corruption } from '@tidemark/core';

import { ByteReader, ByteWriter, DecodeError, utf8, utf8Text } from '../bytes.ts';
import { crc32c } from '../codecs.ts';
import type { Disk, DiskFile } from '../disk/disk.ts';
import { decodeManifest, encodeManifest } from '../manifest/manifest.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { frameRecord } from '../wal/wal-file.ts';
import { decodeAdditions, encodeAdditions } from '../wal/wal-record.ts';
import type { IndexAdditions } from '../wal/wal-record.ts';

/** "TDMBAK" little-endian, then the version in the upper 16 bits. */
const MAGIC = 0x4b41424d4454n | (1n << 48n);
const HEADER_BYTES = 16;
const FRAME_BYTES = 12;
export const PIECE_BYTES = 1 << 20;
const MAX_FRAME_BYTES = 1 << 30;

const Kind = { Contents: 0, File: 1, Bytes: 2, End: 3 } as const;

export type BackupContents = {
  readonly manifest: Manifest;
  /** Index entries by database instance. */
  readonly series: ReadonlyMap<number, IndexAdditions>;
  /** Segments whose bytes are in this file, as `shard/file`. */
  readonly includes: readonly string[];
};

export class BackupWriter {
  readonly #file: DiskFile;
  #position = HEADER_BYTES;
  #files = 0;
  #bytes = 0;

  constructor(disk: Disk, path: string) {
    this.#file = disk.open(path, 'create');
    const head = new ByteWriter();
    head.i64(MAGIC);
    head.u32(0);
    const bytes = head.finish();
    const whole = new ByteWriter();
    whole.raw(bytes);
    whole.u32(crc32c(bytes));
    this.#file.write(whole.finish(), 0);
  }

  contents({ manifest, series, includes }: BackupContents): void {
    const entries = [...series].map(([instance, additions]) => {
      const out = new ByteWriter();
      encodeAdditions(additions, out);
      return [String(instance), Buffer.from(out.finish()).toString('base64')];
    });
    const text = JSON.stringify({
      manifest: Buffer.from(encodeManifest(manifest)).toString('base64'),
      series: Object.fromEntries(entries),
      includes,
    });
    this.#frame(Kind.Contents, deflateRawSync(utf8(text)));
  }

  beginFile(path: string, sizeBytes: number): void {
    const out = new ByteWriter();
    out.text(path);
    out.varint(sizeBytes);
    this.#frame(Kind.File, out.finish());
    this.#files++;
  }

  bytes(piece: Uint8Array): void {
    this.#frame(Kind.Bytes, piece);
    this.#bytes += piece.length;
  }

  /** Durable when it resolves; returns the size of the file. */
  async finish(): Promise<number> {
    const out = new ByteWriter();
    out.varint(this.#files);
    out.varint(this.#bytes);
    this.#frame(Kind.End, out.finish());
    await this.#file.sync();
    this.#file.close();
    return this.#position;
  }

  close(): void {
    this.#file.close();
  }

  #frame(kind: number, body: Uint8Array): void {
    const payload = new Uint8Array(1 + body.length);
    payload[0] = kind;
    payload.set(body, 1);
    const framed = frameRecord(payload);
    this.#file.write(framed, this.#position);
    this.#position += framed.length;
  }
}

export type BackupVisitor = {
  onContents(contents: BackupContents): void | Promise<void>;
  onFile(path: string, sizeBytes: number): void | Promise<void>;
  onBytes(piece: Uint8Array): void | Promise<void>;
};

/** Reads a backup from beginning to end, every frame checked. Throws `Corruption`. */
export async function readBackup(disk: Disk, path: string, visitor: BackupVisitor): Promise<void> {
  const file = disk.open(path, 'read');
  let at = HEADER_BYTES;
  const damaged = (what: string): Corruption =>
    new Corruption(`backup is damaged: ${what}`, { file: path, offset: at });
  try {
    const header = new Uint8Array(HEADER_BYTES);
    file.read(header, 0);
    const reader = new ByteReader(header);
    if (
      reader.i64() !== MAGIC ||
      crc32c(header.subarray(0, 12)) !== new ByteReader(header, 12).u32()
    ) {
      throw damaged('not a backup of this version');
    }
    for (;;) {
      const payload = readFrame(file, at, damaged);
      at += FRAME_BYTES + payload.length;
      const body = new ByteReader(payload);
      const kind = body.u8();
      if (kind === Kind.End) return;
      if (kind === Kind.Contents) await visitor.onContents(parseContents(body, path));
      else if (kind === Kind.File) await visitor.onFile(body.text(), body.varint());
      else if (kind === Kind.Bytes) await visitor.onBytes(body.raw(body.remaining));
      else throw damaged('unknown kind of frame');
    }
  } catch (error) {
    if (error instanceof DecodeError || error instanceof SyntaxError) throw damaged(error.message);
    throw error;
  } finally {
    file.close();
  }
}

function readFrame(file: DiskFile, at: number, damaged: (what: string) => Corruption): Uint8Array {
  const head = new Uint8Array(FRAME_BYTES);
  if (file.read(head, at) < FRAME_BYTES) throw damaged('cut off');
  const length = new ByteReader(head, 4).u32();
  if (length > MAX_FRAME_BYTES || at + FRAME_BYTES + length > file.size()) throw damaged('cut off');
  const payload = new Uint8Array(length);
  file.read(payload, at + FRAME_BYTES);
  // A frame that is made again from its payload has the same mark, length and checksum.
  const expected = frameRecord(payload).subarray(0, FRAME_BYTES);
  if (Buffer.compare(head, expected) !== 0) throw damaged('checksum');
  return payload;
}

function parseContents(body: ByteReader, path: string): BackupContents {
  let text: string;
  try {
    text = utf8Text(inflateRawSync(body.raw(body.remaining)));
  } catch (cause) {
    throw new DecodeError('contents can not be decompressed', { cause });
  }
  const json = JSON.parse(text) as {
    manifest: string;
    series: Record<string, string>;
    includes: string[];
  };
  const series = new Map(
    Object.entries(json.series).map(([instance, additions]) => [
      Number(instance),
      decodeAdditions(new ByteReader(Buffer.from(additions, 'base64'))),
    ]),
  );
  const manifest = decodeManifest(Buffer.from(json.manifest, 'base64'), path);
  return { manifest, series, includes: json.includes };
}
