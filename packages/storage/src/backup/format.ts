// The format of a backup (docs/formats/backup.md): a header and frames.
import { deflateRawSync, inflateRawSync } from 'node:zlib';

import { Corruption, utf8Text } from '@tidemark/core';

import { NewerFormat } from '../damage.ts';
import { ByteReader, ByteWriter, DecodeError, utf8 } from '../columns/bytes.ts';
import { crc32c } from '../columns/codecs.ts';
import { decodeManifest, encodeManifest } from '../manifest/manifest.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { frameRecord } from '../disk/frames.ts';
import { decodeAdditions, encodeAdditions } from '../series/index-additions.ts';
import type { IndexAdditions } from '../series/index-additions.ts';

/** "TDMBAK" little-endian; the version is in the upper 16 bits. */
const MAGIC = 0x4b41424d4454n;
export const BACKUP_VERSION = 3;
export const BACKUP_HEADER_BYTES = 16;
export const FRAME_HEAD_BYTES = 12;
/** Files are split into frames of this size. */
export const PIECE_BYTES = 1 << 20;
/** No frame is larger than this: a bound on what a reader allocates because of a damaged length. */
export const MAX_FRAME_BYTES = 1 << 28;
const MAX_INFLATED_BYTES = 1 << 30;

const Kind = {
  Contents: 0,
  File: 1,
  Bytes: 2,
  End: 3,
  Series: 4,
  Failure: 5,
  Attachment: 6,
} as const;

export type BackupContents = {
  /**
   * The databases, shards and segments at the time of the backup, reduced to the requested ones.
   */
  readonly manifest: Manifest;
  /**
   * Names (`segmentName`) of all segments of the manifest. The next incremental backup can leave
   * them out.
   */
  readonly segments: readonly string[];
  /** Names of the segments whose bytes are in this backup. */
  readonly includes: readonly string[];
  /** Definitions of the service (policies, users), which storage does not interpret. */
  readonly metadata: string | undefined;
};

export type BackupFrame =
  | ({ readonly kind: 'contents' } & BackupContents)
  /** A piece of the service's attachment, after the contents. Storage does not interpret it. */
  | { readonly kind: 'attachment'; readonly bytes: Uint8Array }
  /** Index entries of a database instance. Frames of one instance are adjacent. */
  | { readonly kind: 'series'; readonly instance: number; readonly additions: IndexAdditions }
  /** The bytes of a segment follow. `name` is one of `includes`. */
  | { readonly kind: 'file'; readonly name: string; readonly sizeBytes: number }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'end'; readonly files: number; readonly bytes: number }
  /** The sender gave up. A complete backup has no such frame. */
  | { readonly kind: 'failure'; readonly reason: string };

/**
 * The name of a segment, unique for a storage directory. With the checksum it is unique even among
 * copies of the directory that have diverged.
 */
export function segmentName(
  shardId: number,
  segment: { readonly fileId: number; readonly sizeBytes: number; readonly checksum: number },
): string {
  return `${shardId}/${segment.fileId}:${segment.sizeBytes}:${segment.checksum.toString(16)}`;
}

export function backupHeader(): Uint8Array {
  const head = new ByteWriter();
  head.i64(MAGIC | (BigInt(BACKUP_VERSION) << 48n));
  head.u32(0);
  const bytes = head.finish();
  const whole = new ByteWriter();
  whole.raw(bytes);
  whole.u32(crc32c(bytes));
  return whole.finish();
}

/**
 * Checks the header of a backup and returns its version. Throws `Corruption`, also for a newer one.
 */
export function readBackupHeader(header: Uint8Array, place: string): number {
  const damaged = (what: string): Corruption => new Corruption(what, { file: place, offset: 0 });
  const reader = new ByteReader(header);
  const magic = reader.i64();
  const isSound = crc32c(header.subarray(0, 12)) === new ByteReader(header, 12).u32();
  if ((magic & 0xffffffffffffn) !== MAGIC || !isSound) throw damaged('not a backup');
  const version = Number(magic >> 48n);
  if (version > BACKUP_VERSION) {
    throw new NewerFormat(place, { version, newest: BACKUP_VERSION });
  }
  return version;
}

/** Encodes a frame with its head. */
export function encodeFrame(frame: BackupFrame): Uint8Array {
  const out = new ByteWriter(64);
  switch (frame.kind) {
    case 'contents':
      out.u8(Kind.Contents);
      out.raw(deflateRawSync(utf8(contentsToJson(frame))));
      break;
    case 'attachment':
      out.u8(Kind.Attachment);
      out.raw(deflateRawSync(frame.bytes));
      break;
    case 'series': {
      const entries = new ByteWriter(1 << 12);
      encodeAdditions(frame.additions, entries);
      out.u8(Kind.Series);
      out.varint(frame.instance);
      // The fastest level, because this runs in the storage thread between writes.
      out.raw(deflateRawSync(entries.finish(), { level: 1 }));
      break;
    }
    case 'file':
      out.u8(Kind.File);
      out.text(frame.name);
      out.varint(frame.sizeBytes);
      break;
    case 'bytes':
      out.u8(Kind.Bytes);
      out.raw(frame.bytes);
      break;
    case 'end':
      out.u8(Kind.End);
      out.varint(frame.files);
      out.varint(frame.bytes);
      break;
    case 'failure':
      out.u8(Kind.Failure);
      out.text(frame.reason);
      break;
  }
  return frameRecord(out.finish());
}

/** Encodes the end of a backup that failed; its reader gets the reason. */
export function encodeFailure(reason: string): Uint8Array {
  return encodeFrame({ kind: 'failure', reason });
}

/**
 * Decodes the frames of a payload whose checksum is right. There is one, except in version 1, whose
 * contents hold the index too. Throws `DecodeError`, `SyntaxError` or `Corruption`.
 */
export function decodeFrames(payload: Uint8Array, version: number, place: string): BackupFrame[] {
  const body = new ByteReader(payload);
  const kind = body.u8();
  switch (kind) {
    case Kind.Contents: {
      const text = utf8Text(inflate(body.raw(body.remaining)));
      return version === 1 ? contentsOfVersion1(text, place) : [contentsFromJson(text, place)];
    }
    case Kind.Attachment:
      return [{ kind: 'attachment', bytes: inflate(body.raw(body.remaining)) }];
    case Kind.Series: {
      const instance = body.varint();
      const additions = decodeAdditions(new ByteReader(inflate(body.raw(body.remaining))));
      return [{ kind: 'series', instance, additions }];
    }
    case Kind.File: {
      const name = body.text();
      const sizeBytes = body.varint();
      return [{ kind: 'file', name: version === 1 ? nameOfVersion1(name) : name, sizeBytes }];
    }
    case Kind.Bytes:
      return [{ kind: 'bytes', bytes: body.raw(body.remaining) }];
    case Kind.End:
      return [{ kind: 'end', files: body.varint(), bytes: body.varint() }];
    case Kind.Failure:
      return [{ kind: 'failure', reason: body.text() }];
    default:
      throw new DecodeError('unknown kind of frame');
  }
}

function inflate(bytes: Uint8Array): Uint8Array {
  try {
    return inflateRawSync(bytes, { maxOutputLength: MAX_INFLATED_BYTES });
  } catch (error) {
    throw new DecodeError(`cannot be inflated: ${(error as Error).message}`);
  }
}

type ContentsJson = {
  readonly manifest: string;
  readonly segments: readonly string[];
  readonly includes: readonly string[];
  readonly metadata?: string;
};

function contentsToJson({ manifest, segments, includes, metadata }: BackupContents): string {
  const json: ContentsJson = {
    manifest: Buffer.from(encodeManifest(manifest)).toString('base64'),
    segments,
    includes,
    ...(metadata === undefined ? {} : { metadata }),
  };
  return JSON.stringify(json);
}

function contentsFromJson(text: string, place: string): BackupFrame {
  const json = JSON.parse(text) as ContentsJson;
  const { segments, includes, metadata } = json;
  const manifest = decodeManifest(Buffer.from(json.manifest, 'base64'), place);
  const named = manifest.shards.reduce((sum, shard) => sum + shard.segments.length, 0);
  if (segments.length !== named) throw new DecodeError('segments and manifest differ');
  return { kind: 'contents', manifest, segments, includes, metadata };
}

type ContentsJson1 = {
  readonly manifest: string;
  readonly series: Readonly<Record<string, string>>;
  readonly includes: readonly string[];
};

function contentsOfVersion1(text: string, place: string): BackupFrame[] {
  const json = JSON.parse(text) as ContentsJson1;
  const manifest = decodeManifest(Buffer.from(json.manifest, 'base64'), place);
  const segments = manifest.shards.flatMap(({ descriptor, segments: infos }) =>
    infos.map(({ fileId }) => `${descriptor.id}/${fileId}`),
  );
  const { includes } = json;
  const series = Object.entries(json.series).map(([instance, base64]): BackupFrame => {
    const additions = decodeAdditions(new ByteReader(Buffer.from(base64, 'base64')));
    return { kind: 'series', instance: Number(instance), additions };
  });
  return [{ kind: 'contents', manifest, segments, includes, metadata: undefined }, ...series];
}

/** Turns `shards/3/00000012.seg` into `3/12`. */
function nameOfVersion1(path: string): string {
  const match = /^shards\/(\d+)\/(\d+)\.seg$/.exec(path);
  if (match === null) throw new DecodeError('name of a file');
  return `${match[1]}/${Number(match[2])}`;
}
