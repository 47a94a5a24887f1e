// The manifest: the list of files that make up the engine's state, and its form in JSON.
// docs/formats/manifest.md describes the format, `manifest-file.ts` how it is stored.
import { Corruption, utf8Text } from '@tidemark/core';
import type { Damage, ShardDescriptor } from '@tidemark/storage-api';

import { utf8 } from '../columns/bytes.ts';
import { codecs } from '../columns/codecs.ts';
import { decodeChecked, encodeChecked } from '../disk/checked-file.ts';
import type { CheckedFormat } from '../disk/checked-file.ts';
import type { SegmentInfo } from '../segment/segment.ts';
import type { IndexEnd } from '../series/index-damage.ts';
import type { Tombstone } from '../shard/tombstone.ts';

export type ManifestShard = {
  readonly descriptor: ShardDescriptor;
  /** In the order of writes, oldest first. */
  readonly segments: readonly SegmentInfo[];
  readonly tombstones: readonly Tombstone[];
  /** Length of the file of series keys; absent when there is none. */
  readonly seriesFileBytes?: number | undefined;
};

export type ManifestDatabase = {
  readonly name: string;
  readonly instance: number;
  /** Id of the index files; absent while it is the instance, that is until the first rebuild. */
  readonly indexFile?: number | undefined;
  /** Length of the index file at the commit; absent in manifests of older versions. */
  readonly index?: IndexEnd | undefined;
};

/** A database that is not served because some of its data is lost, until `repair` has run. */
export type StoppedDatabase = Damage & {
  /** `undefined` when it is not known which one: then none is served. */
  readonly database?: string | undefined;
};

export type Manifest = {
  /** Identifies this directory and its copies; empty in manifests of older versions. */
  readonly storageId: string;
  /** Log files with smaller ids are not needed: their rows are in segments. */
  readonly walStart: number;
  readonly nextFileId: number;
  readonly nextSequence: number;
  readonly nextShardId: number;
  readonly nextInstance: number;
  readonly databases: readonly ManifestDatabase[];
  readonly shards: readonly ManifestShard[];
  /** Whether there is a list of log files; absent in manifests of older versions. */
  readonly hasLogList?: boolean | undefined;
  /** Absent when there are none. */
  readonly stopped?: readonly StoppedDatabase[] | undefined;
};

/** What a commit changes; other keys are those of the whole manifest. */
export type ManifestChange = Omit<Manifest, 'databases' | 'shards'> & {
  /** New ones, and those that are different now. */
  readonly databases: readonly ManifestDatabase[];
  readonly goneDatabases: readonly string[];
  readonly shards: readonly ManifestShard[];
  readonly goneShards: readonly number[];
};

/** Ids of the index files that a manifest names. */
export function namedIndexes({ databases }: Pick<Manifest, 'databases'>): number[] {
  return databases.map(({ instance, indexFile = instance }) => indexFile);
}

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

export const MANIFEST_NAME = 'MANIFEST';
/** In backups a manifest has no journal. */
const BACKUP_FORMAT: CheckedFormat = { magic: 'TDMMAN', version: 4 };

/** A manifest as bytes, for a backup. */
export function encodeManifest(manifest: Manifest): Uint8Array {
  return encodeChecked(printManifest(manifest), BACKUP_FORMAT);
}

export function decodeManifest(bytes: Uint8Array, path: string): Manifest {
  return parseManifest(decodeChecked(bytes, BACKUP_FORMAT, path).body, path);
}

/** A manifest as JSON. */
export function printManifest(manifest: Manifest): Uint8Array {
  return utf8(JSON.stringify({ ...manifest, shards: manifest.shards.map(shardToJson) }));
}

/** The inverse of `printManifest`. Throws `Corruption`, naming the file. */
export function parseManifest(body: Uint8Array, path: string): Manifest {
  return parseJson<ManifestJson, Manifest>(body, path, (json) => ({
    ...json,
    storageId: json.storageId ?? '',
    shards: json.shards.map(shardFromJson),
  }));
}

/** A change as JSON; parts that did not change are absent. */
export function printChange(change: ManifestChange): Uint8Array {
  return utf8(JSON.stringify({ ...change, shards: change.shards.map(shardToJson) }));
}

/** The inverse of `printChange`. Throws `Corruption`, naming the file. */
export function parseChange(body: Uint8Array, path: string): ManifestChange {
  return parseJson<ManifestChangeJson, ManifestChange>(body, path, (json) => ({
    ...json,
    shards: json.shards.map(shardFromJson),
  }));
}

function parseJson<Json, T>(body: Uint8Array, path: string, from: (json: Json) => T): T {
  try {
    return from(JSON.parse(utf8Text(body)) as Json);
  } catch (error) {
    // The checksum is right, so these bytes were written by another program.
    throw new Corruption(`manifest is damaged: ${String(error)}`, { file: path, offset: 0 });
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

export type ShardJson = {
  descriptor: Omit<ShardDescriptor, 'start' | 'end'> & { start: string; end: string };
  segments: SegmentInfo[];
  tombstones: TombstoneJson[];
  seriesFileBytes?: number | undefined;
};

type ManifestJson = Omit<Manifest, 'shards' | 'storageId'> & {
  storageId?: string;
  shards: ShardJson[];
};

type ManifestChangeJson = Omit<ManifestChange, 'shards'> & { shards: ShardJson[] };

/** A shard as JSON. */
export function shardToJson(shard: ManifestShard): ShardJson {
  const { descriptor, segments, tombstones, seriesFileBytes } = shard;
  return {
    seriesFileBytes,
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

/** The inverse of `shardToJson`. */
export function shardFromJson(shard: ShardJson): ManifestShard {
  const { descriptor, segments, tombstones, seriesFileBytes } = shard;
  return {
    seriesFileBytes,
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
  return Buffer.from(codecs().encodeIds(ids, 'small')).toString('base64');
}

function idsFromText(text: string): Uint32Array {
  return codecs().decodeIds(Buffer.from(text, 'base64'));
}
