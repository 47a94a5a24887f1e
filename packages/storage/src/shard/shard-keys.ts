// Keeps the file of series keys (`series-file.ts`) complete: it has the keys of all series in the
// shard's segments, each written once. Most flushes bring no new series and write nothing.
import type { Disk } from '../disk/disk.ts';
import { copyAside } from '../disk/keep-aside.ts';
import type { Segment } from '../segment/segment.ts';
import { encodeSeriesKeys, seriesFilePath } from './series-file.ts';
import { SeriesSet } from '../series/series-set.ts';
import { Uint32List } from '../columns/uint32-list.ts';
import type { Shard } from './shard.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import { portionEnd } from '../series/stored-index.ts';
import type { SeriesId } from '../columns/series-id.ts';
import { appendFrames } from '../disk/framed-file.ts';
import { sizeOf } from '../disk/read-file.ts';
import type { Pacer } from '../schedule/pacer.ts';

/** Series per record; copying their keys takes about two milliseconds. */
const PORTION_SERIES = 1 << 11;
/** Series that are visited between two pauses. */
const STEP_SERIES = 1 << 14;

type UpdateBy = { readonly index: SeriesIndex; readonly pacer: Pacer };

export type ShardKeysOptions = {
  readonly disk: Disk;
  /** Of the engine. */
  readonly directory: string;
  /** The owner of the shards. */
  readonly shards: { seriesFileWritten(shard: Shard, sizeBytes: number): void };
};

export class ShardKeys {
  readonly #options: ShardKeysOptions;
  /**
   * Series whose keys are in the file, for shards that were written to since the engine was opened.
   */
  readonly #written = new WeakMap<Shard, SeriesSet>();

  /** Updates run one after another: flush, compaction and restore may call at the same time. */
  #running: Promise<void> = Promise.resolve();

  constructor(options: ShardKeysOptions) {
    this.#options = options;
  }

  /**
   * Makes the keys of all series in the shard's segments and in `added` durable. Call it before the
   * commit whose manifest names `added`: it sets `seriesFileBytes` of the shard, which the manifest
   * holds.
   */
  update(shard: Shard, added: readonly Segment[], by: UpdateBy): Promise<void> {
    const next = this.#running.then(() => this.#update(shard, added, by));
    this.#running = next.catch(() => undefined);
    return next;
  }

  async #update(
    shard: Shard,
    added: readonly Segment[],
    { index, pacer }: UpdateBy,
  ): Promise<void> {
    const { disk, directory, shards } = this.#options;
    const path = seriesFilePath(directory, shard.descriptor.id);
    // A file that is missing or truncated is written again from the beginning.
    const isWhole =
      shard.seriesFileBytes !== undefined && sizeOf(disk, path) >= shard.seriesFileBytes;
    let written = isWhole ? this.#written.get(shard) : new SeriesSet();
    written ??= await seriesOf(shard.segments, pacer);
    const unlisted = isWhole ? added : [...shard.segments, ...added];
    const missing = await this.#missing(unlisted, written, { index, pacer });
    if (missing.length > 0 || !isWhole) {
      const logBytes = isWhole ? (shard.seriesFileBytes ?? 0) : 0;
      const { logBytes: end } = await appendFrames(disk, path, {
        payloads: recordsOf(missing, index),
        end: { logBytes, checksum: undefined },
        pause: () => pacer.pause(),
        keep: (file) => copyAside({ disk, directory }, file),
      });
      shards.seriesFileWritten(shard, end);
      for (const { ids } of missing) for (const id of ids) written.add(id);
    }
    this.#written.set(shard, written);
  }

  async #missing(
    segments: readonly Segment[],
    written: SeriesSet,
    { index, pacer }: UpdateBy,
  ): Promise<readonly MissingSeries[]> {
    const missing = new Map<number, Uint32List>();
    const found = new SeriesSet();
    for (const { footer } of segments) {
      for (const { measurementId, series } of footer.measurements) {
        for (let i = 0; i < series.length; i++) {
          if (i % STEP_SERIES === STEP_SERIES - 1) await pacer.pause();
          const id = series[i]!;
          if (written.has(id) || !index.has(id) || !found.add(id)) continue;
          let ids = missing.get(measurementId);
          if (ids === undefined) missing.set(measurementId, (ids = new Uint32List()));
          ids.push(id);
        }
      }
    }
    return Array.from(missing, ([measurementId, ids]) => ({
      measurementId,
      ids: ids.toArray().sort(),
    }));
  }
}

type MissingSeries = { readonly measurementId: number; readonly ids: Uint32Array };

async function seriesOf(segments: readonly Segment[], pacer: Pacer): Promise<SeriesSet> {
  const all = new SeriesSet();
  for (const { footer } of segments) {
    for (const { series } of footer.measurements) {
      for (let i = 0; i < series.length; i++) {
        if (i % STEP_SERIES === STEP_SERIES - 1) await pacer.pause();
        all.add(series[i]!);
      }
    }
  }
  return all;
}

function* recordsOf(missing: readonly MissingSeries[], index: SeriesIndex): Iterable<Uint8Array> {
  for (const { measurementId, ids } of missing) {
    // The name may be a placeholder for one lost by damage (`padIndex`); the keys are still right.
    const name = index.measurements[measurementId]?.name ?? '';
    // A placeholder for a series lost by damage (`padIndex`) has no key.
    const tagsOf = (id: SeriesId): Uint8Array | undefined => {
      const tags = index.keys.tags(id);
      return tags[1] === 0 ? undefined : tags;
    };
    for (let at = 0; at < ids.length;) {
      const most = Math.min(ids.length, at + PORTION_SERIES);
      const end = portionEnd(index, { from: at, end: most, idAt: (i) => ids[i]! });
      yield encodeSeriesKeys({ measurementId, name, ids: ids.subarray(at, end), tagsOf });
      at = end;
    }
  }
}
