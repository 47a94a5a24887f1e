// The manifest: which files are part of the engine's state. Replaced atomically; format in docs/formats/manifest.md.
import { Corruption } from '@tidemark/core';

import { ByteReader, ByteWriter, utf8, utf8Text } from '../bytes.ts';
import { codecs, crc32c } from '../codecs.ts';
import type { Disk } from '../disk/disk.ts';
import type { SegmentInfo } from '../segment/segment.ts';
import type { ShardDescriptor } from '../shard/shard.ts';
import type { Tombstone } from '../shard/tombstone.ts';

export type ManifestShard = {
  readonly descriptor: ShardDescriptor;
  /** Oldest writes first. */
  readonly segments: readonly SegmentInfo[];
  readonly tombstones: readonly Tombstone[];
};

export type ManifestDatabase = { readonly name: string; readonly instance: number };

export type Manifest = {
  /** Tells this directory from all others; empty in manifests from before there was one. */
  readonly storageId: string;
  /** Log files with smaller ids are in segments. */
  readonly walStart: number;
  readonly nextFileId: number;
  readonly nextSequence: number;
  readonly nextShardId: number;
  readonly nextInstance: number;
  readonly databases: readonly ManifestDatabase[];
  readonly shards: readonly ManifestShard[];
};

export const EMPTY_MANIFEST: Manifest = {
  storageId: '',
  walStart: 0,
  nextFileId: 1,
  nextSequence: 1,
  nextShardId: 1,
  nextInstance: 1,
  databases: [],
  shards: [],
};

/** "TDMMAN" little-endian, then the version in the upper 16 bits. */
const MAGIC = 0x4e414d4d4454n | (1n << 48n);
const HEADER_BYTES = 16;
const NAME = 'MANIFEST';

/** The manifest of a directory; the empty one when there is none yet. */
export function readManifest(disk: Disk, directory: string): Manifest {
  const path = `${directory}/${NAME}`;
  disk.remove(`${path}.tmp`);
  if (!disk.exists(path)) return EMPTY_MANIFEST;
  const file = disk.open(path, 'read');
  try {
    const bytes = new Uint8Array(file.size());
    file.read(bytes, 0);
    return decodeManifest(bytes, path);
  } finally {
    file.close();
  }
}

/** Durable when it resolves. */
export async function writeManifest(
  disk: Disk,
  directory: string,
  manifest: Manifest,
): Promise<void> {
  const path = `${directory}/${NAME}`;
  await replaceFile(disk, { directory, path }, encodeManifest(manifest));
}

/** Replaces a file as a whole: written under another name, synced, renamed, the directory synced. */
export async function replaceFile(
  disk: Disk,
  place: { readonly directory: string; readonly path: string },
  bytes: Uint8Array,
): Promise<void> {
  const temporary = `${place.path}.tmp`;
  disk.remove(temporary);
  const file = disk.open(temporary, 'create');
  try {
    file.write(bytes, 0);
    await file.sync();
  } finally {
    file.close();
  }
  disk.rename(temporary, place.path);
  await disk.syncDirectory(place.directory);
}

export function encodeManifest(manifest: Manifest): Uint8Array {
  const body = utf8(JSON.stringify({ ...manifest, shards: manifest.shards.map(shardToJson) }));
  const out = new ByteWriter(HEADER_BYTES + body.length);
  out.i64(MAGIC);
  out.u32(body.length);
  out.u32(crc32c(body));
  out.raw(body);
  return out.finish();
}

export function decodeManifest(bytes: Uint8Array, path: string): Manifest {
  const damaged = (what: string): Corruption =>
    new Corruption(`manifest is damaged: ${what}`, { file: path, offset: 0 });
  if (bytes.length < HEADER_BYTES) throw damaged('too short');
  const reader = new ByteReader(bytes);
  if (reader.i64() !== MAGIC) throw damaged('not a manifest of this version');
  const length = reader.u32();
  const checksum = reader.u32();
  if (length !== reader.remaining) throw damaged('length');
  const body = reader.raw(length);
  if (crc32c(body) !== checksum) throw damaged('checksum');
  try {
    const json = JSON.parse(utf8Text(body)) as ManifestJson;
    const storageId = json.storageId ?? '';
    return { ...json, storageId, shards: json.shards.map(shardFromJson) };
  } catch (error) {
    // The checksum fits, so another program wrote this.
    throw damaged(String(error));
  }
}

type TombstoneJson = {
  sequence: number;
  measurementId: number;
  series: string | null;
  start: string;
  end: string;
  freesTypes: boolean;
};

type ShardJson = {
  descriptor: Omit<ShardDescriptor, 'start' | 'end'> & { start: string; end: string };
  segments: SegmentInfo[];
  tombstones: TombstoneJson[];
};

type ManifestJson = Omit<Manifest, 'shards' | 'storageId'> & {
  storageId?: string;
  shards: ShardJson[];
};

function shardToJson({ descriptor, segments, tombstones }: ManifestShard): ShardJson {
  return {
    descriptor: { ...descriptor, start: String(descriptor.start), end: String(descriptor.end) },
    segments: [...segments],
    tombstones: tombstones.map((t) => ({
      sequence: t.sequence,
      measurementId: t.measurementId,
      series: t.series === undefined ? null : idsToText(t.series),
      start: String(t.timeRange.start),
      end: String(t.timeRange.end),
      freesTypes: t.freesTypes,
    })),
  };
}

function shardFromJson({ descriptor, segments, tombstones }: ShardJson): ManifestShard {
  return {
    descriptor: {
      ...descriptor,
      start: BigInt(descriptor.start),
      end: BigInt(descriptor.end),
    },
    segments,
    tombstones: tombstones.map((t) => ({
      sequence: t.sequence,
      measurementId: t.measurementId,
      series: t.series === null ? undefined : idsFromText(t.series),
      timeRange: { start: BigInt(t.start), end: BigInt(t.end) },
      freesTypes: t.freesTypes,
    })),
  };
}

function idsToText(ids: Uint32Array): string {
  const block = codecs().encodeIntegers(BigInt64Array.from(ids, BigInt), 'small');
  return Buffer.from(block).toString('base64');
}

function idsFromText(text: string): Uint32Array {
  return Uint32Array.from(codecs().decodeIntegers(Buffer.from(text, 'base64')), Number);
}
