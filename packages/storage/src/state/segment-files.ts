// The files of segments: where a new one is written, how they are opened, and their removal after
// the last read.
import type { Disk } from '../disk/disk.ts';
import { segmentPath, shardDirectory, shardsDirectory } from '../disk/paths.ts';
import { SegmentCaches } from '../segment/segment-caches.ts';
import type { ReadKernels } from '../columns/read-kernels.ts';
import { Segment } from '../segment/segment.ts';
import type { SegmentInfo } from '../segment/segment.ts';
import type { Shard } from '../shard/shard.ts';
import type { Reclaimer } from './reclaimer.ts';

/** Where to write a segment. */
export type SegmentTarget = {
  readonly disk: Disk;
  readonly path: string;
  readonly shardId: number;
};

/** Told which segments have no files any more. */
export type RemovedFiles = (segments: readonly Segment[]) => void;

export class SegmentFiles {
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #reclaimer: Reclaimer;
  readonly #caches: SegmentCaches;
  readonly #onRemoved: RemovedFiles;

  /** `directory` is the engine's. */
  constructor(options: {
    readonly disk: Disk;
    readonly directory: string;
    readonly reclaimer: Reclaimer;
    readonly kernels: ReadKernels;
    readonly onRemoved?: RemovedFiles | undefined;
  }) {
    this.#disk = options.disk;
    this.#directory = options.directory;
    this.#reclaimer = options.reclaimer;
    this.#caches = new SegmentCaches(options.kernels);
    this.#onRemoved = options.onRemoved ?? (() => undefined);
  }

  /** Where to write a new segment. Creates the directory of the shard. */
  async target(shardId: number, fileId: number): Promise<SegmentTarget> {
    const directory = shardDirectory(this.#directory, shardId);
    if (!this.#disk.exists(directory)) {
      this.#disk.makeDirectory(directory);
      try {
        await this.#disk.syncDirectory(shardsDirectory(this.#directory));
      } catch (error) {
        // The next attempt makes and syncs it again.
        this.#disk.removeDirectory(directory);
        throw error;
      }
    }
    return { disk: this.#disk, path: this.pathOf(shardId, fileId), shardId };
  }

  pathOf(shardId: number, fileId: number): string {
    return segmentPath(this.#directory, shardId, fileId);
  }

  /** Makes the directory entries of the shard's files durable. */
  sync(shardId: number): Promise<void> {
    return this.#disk.syncDirectory(shardDirectory(this.#directory, shardId));
  }

  open(shardId: number, info: SegmentInfo): Segment {
    const file = this.#disk.open(this.pathOf(shardId, info.fileId), 'read');
    try {
      return Segment.open(info, file, this.#caches);
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /** Removes segments that are not part of the state any more, after the last read of them. */
  retire(shardId: number, segments: readonly Segment[]): void {
    this.#reclaimer.retire(() => {
      for (const segment of segments) {
        segment.close();
        this.#disk.remove(this.pathOf(shardId, segment.info.fileId));
      }
      this.#onRemoved(segments);
    });
  }

  /** Removes all files of dropped shards, after the last read of them. */
  retireShards(shards: readonly Shard[]): void {
    this.#reclaimer.retire(() => {
      for (const { segments, descriptor } of shards) {
        for (const segment of segments) segment.close();
        this.#disk.removeDirectory(shardDirectory(this.#directory, descriptor.id));
        this.#onRemoved(segments);
      }
    });
  }
}
