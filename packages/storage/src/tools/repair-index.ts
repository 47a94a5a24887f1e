// Rebuilds a series index from what can be read of it, and from the keys that shards store beside
// their segments.
import type { Damage } from '@tidemark/storage-api';

import { utf8 } from '../columns/bytes.ts';
import { copyAside } from '../disk/keep-aside.ts';
import { indexDirectory } from '../disk/paths.ts';
import type { ManifestDatabase, ManifestShard } from '../manifest/manifest.ts';
import { IndexLog } from '../series/index-log.ts';
import { checkpointPath } from '../series/checkpoint.ts';
import type { SeriesId } from '../columns/series-id.ts';
import { encodeSeriesEntries } from '../series/series-list.ts';
import type { SeriesEntry } from '../series/series-list.ts';
import { encodeSeriesKeys, readSeriesFile, seriesFilePath } from '../shard/series-file.ts';
import { SeriesSet } from '../series/series-set.ts';
import { appendFrames, FRAMED_START } from '../disk/framed-file.ts';
import type { IndexAdditions } from '../series/index-additions.ts';
import { openSegment } from './directory.ts';
import type { OpenDirectory } from './directory.ts';
import { HeldSeries, missingEntry, readIndex } from './index-contents.ts';

export type RepairedIndex = {
  /** The database's entry for the new manifest. */
  readonly database: ManifestDatabase;
  readonly damage: Damage;
  /** Series with rows whose key is in no file. */
  readonly lostKeys: number;
  /** Files that are not needed any more. */
  readonly replaced: readonly string[];
};

type Keys = ReadonlyMap<SeriesId, Key>;
type Key = { readonly measurementId: number; readonly tags: Uint8Array };

/**
 * Rebuilds the index of a database; `undefined` when it is not damaged. The new file is durable
 * when this resolves; the old one is still there.
 */
export async function repairIndex(
  open: OpenDirectory,
  database: ManifestDatabase,
  options: {
    readonly shards: readonly ManifestShard[];
    readonly held: HeldSeries;
    /** Id of the new file. */
    readonly fileId: number;
  },
): Promise<RepairedIndex | undefined> {
  const names = new Map<number, string>();
  const keys = new Map<SeriesId, Key>();
  const known = new SeriesSet();
  const { damage: found, path } = readIndex(open, database, {
    measurement: (id, name) => void names.set(id, name),
    entry: (entry) => {
      if ('noSeries' in entry) {
        for (let i = 0; i < entry.noSeries; i++) known.add(entry.id + i);
        return;
      }
      known.add(entry.id);
      keys.set(entry.id, entry);
    },
  });
  const damage = found ?? missingEntry(path, known, options.held);
  if (damage === undefined) return undefined;
  for (const shard of options.shards) addKeysOf(open, shard, { names, keys });
  const lostKeys = addPlaceholders(keys, options.held);
  const index = await writeIndex(open, database, { names, keys, fileId: options.fileId });
  const { instance, indexFile = instance } = database;
  const checkpoint = checkpointPath(indexDirectory(open.directory), indexFile);
  return {
    database: { ...database, indexFile: options.fileId, index },
    damage,
    lostKeys,
    replaced: [path, checkpoint],
  };
}

/** Keys beside segments take precedence: they certainly belong to the rows. */
function addKeysOf(
  { disk, directory }: OpenDirectory,
  { descriptor, seriesFileBytes }: ManifestShard,
  { names, keys }: { readonly names: Map<number, string>; readonly keys: Map<SeriesId, Key> },
): void {
  if (seriesFileBytes === undefined) return;
  const file = readSeriesFile(disk, seriesFilePath(directory, descriptor.id), seriesFileBytes);
  for (const { measurementId, name, ids, tags } of file.keys) {
    if (!isLostName(name)) names.set(measurementId, name);
    tags.forEach((one, i) => keys.set(ids[i]!, { measurementId, tags: one }));
  }
}

/** Whether a name is a placeholder for one lost by damage (`padIndex`). */
function isLostName(name: string): boolean {
  return name === '' || name.startsWith('\0');
}

/**
 * Gives series without a key a placeholder, so that their rows can be read. It has a tag that no
 * client can write.
 */
function addPlaceholders(keys: Map<SeriesId, Key>, { measurements }: HeldSeries): number {
  let count = 0;
  for (const [measurementId, ids] of measurements) {
    for (const id of ids) {
      if (keys.has(id)) continue;
      keys.set(id, { measurementId, tags: utf8(`,\0lost=${id}`) });
      count++;
    }
  }
  return count;
}

const PORTION_SERIES = 1 << 13;

async function writeIndex(
  open: OpenDirectory,
  { index: known }: ManifestDatabase,
  what: {
    readonly names: ReadonlyMap<number, string>;
    readonly keys: ReadonlyMap<SeriesId, Key>;
    readonly fileId: number;
  },
): Promise<ManifestDatabase['index']> {
  const { names, keys, fileId } = what;
  let measurements = known?.measurements ?? 0;
  let series = known?.series ?? 0;
  for (const id of names.keys()) measurements = Math.max(measurements, id + 1);
  for (const [id, { measurementId }] of keys) {
    series = Math.max(series, id + 1);
    measurements = Math.max(measurements, measurementId + 1);
  }
  const allNames = Array.from({ length: measurements }, (_, id) => names.get(id) ?? `\0lost ${id}`);
  function* portions(): Generator<IndexAdditions> {
    let first = 0;
    do {
      const end = Math.min(series, first + PORTION_SERIES);
      const list = encodeSeriesEntries(entriesBetween(keys, first, end));
      yield {
        firstMeasurementId: first === 0 ? 0 : measurements,
        measurements: first === 0 ? allNames : [],
        firstSeriesId: first,
        series: list,
      };
      first = end;
    } while (first < series);
  }
  const file = new IndexLog(open.disk, indexDirectory(open.directory), fileId);
  file.remove();
  const { logBytes: bytes, checksum } = await file.append(portions(), {
    end: FRAMED_START,
    pause: () => Promise.resolve(),
    keep: (path) => copyAside(open, path),
  });
  return { bytes, measurements, series, checksum };
}

function* entriesBetween(
  keys: ReadonlyMap<SeriesId, Key>,
  first: SeriesId,
  end: SeriesId,
): Generator<SeriesEntry> {
  for (let id = first; id < end; id++) {
    const key = keys.get(id);
    yield key === undefined ? { id, noSeries: 1 } : { id, ...key };
  }
}

/**
 * Writes a shard's file of keys again from the index, and returns its size. Replaces the old file.
 */
export async function rewriteSeriesFile(
  open: OpenDirectory,
  shard: ManifestShard,
  database: ManifestDatabase,
): Promise<number> {
  const held = new HeldSeries();
  for (const info of shard.segments) {
    const segment = openSegment(open, shard, info);
    held.add(segment);
    segment.close();
  }
  const names = new Map<number, string>();
  const keys = new Map<SeriesId, Key>();
  readIndex(open, database, {
    measurement: (id, name) => void names.set(id, name),
    entry: (entry) => {
      if ('noSeries' in entry) return;
      if (held.measurements.get(entry.measurementId)?.has(entry.id) === true) {
        keys.set(entry.id, entry);
      }
    },
  });
  const path = seriesFilePath(open.directory, shard.descriptor.id);
  open.disk.remove(path);
  const { logBytes } = await appendFrames(open.disk, path, {
    payloads: keyRecords(held, { names, keys }),
    end: FRAMED_START,
    pause: () => Promise.resolve(),
    keep: (file) => copyAside(open, file),
  });
  return logBytes;
}

function* keyRecords(
  { measurements }: HeldSeries,
  { names, keys }: { readonly names: ReadonlyMap<number, string>; readonly keys: Keys },
): Iterable<Uint8Array> {
  for (const [measurementId, set] of measurements) {
    const name = names.get(measurementId);
    if (name === undefined) continue;
    const tagsOf = (id: SeriesId): Uint8Array | undefined =>
      isStandIn(keys, id) ? undefined : keys.get(id)?.tags;
    const ids = Uint32Array.from(set).sort();
    for (let at = 0; at < ids.length; at += PORTION_SERIES) {
      const portion = ids.subarray(at, at + PORTION_SERIES);
      yield encodeSeriesKeys({ measurementId, name, ids: portion, tagsOf });
    }
  }
}

function isStandIn(keys: Keys, id: SeriesId): boolean {
  return keys.get(id)?.tags[1] === 0;
}
