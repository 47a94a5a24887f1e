// Compaction: merges segments of a shard, so that there are few, and removes deleted rows from
// them. One runs at a time.
import type { Clock } from '@tidemark/core';

import { Pacer } from '../schedule/pacer.ts';
import type { Turns } from '../schedule/turns.ts';
import type { Segment } from '../segment/segment.ts';
import type { ShardKeys } from '../shard/shard-keys.ts';
import type { FilesOfShard, Shard } from '../shard/shard.ts';
import { tombstoneBytes } from '../shard/tombstone.ts';
import type { Tombstone } from '../shard/tombstone.ts';
import type { SegmentFiles } from '../state/segment-files.ts';
import type { State } from '../state/state.ts';
import { planCompaction } from './compaction-plan.ts';
import { mergeSegments } from './merge-segments.ts';

/** A shard without writes for this long is at rest and becomes one segment. */
const REST_MS = 5000;
/** With larger tombstones, its deleted rows are removed though it is still written to. */
const TOMBSTONE_BYTES_MAX = 16 << 20;

export type CompactionOptions = {
  readonly state: State;
  readonly segmentFiles: SegmentFiles;
  readonly shardKeys: ShardKeys;
  readonly turns: Turns;
  readonly clock: Clock;
  /** Aborted when the engine closes. */
  readonly signal: AbortSignal;
  readonly fault: (point: string) => Promise<void>;
};

export class Compaction {
  readonly #options: CompactionOptions;
  #running: Promise<void> = Promise.resolve();
  readonly counters = { compactions: 0, tombstonesRemoved: 0 };

  constructor(options: CompactionOptions) {
    this.#options = options;
  }

  /** Merges segments until nothing is left to merge. `all` treats every shard as one at rest. */
  run(options: { readonly all: boolean }): Promise<void> {
    const next = this.#running.then(() => this.#compactAll(options.all));
    this.#running = next.catch(() => undefined);
    return next;
  }

  /** Resolves when no compaction is running. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #compactAll(all: boolean): Promise<void> {
    const { state, clock } = this.#options;
    const now = clock.monotonicMs();
    for (const shard of state.shards.all()) {
      const lastWriteMs = state.memtables.lastWriteMs(shard.descriptor.id);
      for (;;) {
        const isAtRest =
          all ||
          now - lastWriteMs > REST_MS ||
          tombstoneBytes(shard.tombstones) > TOMBSTONE_BYTES_MAX;
        const hasTombstones = shard.tombstones.some(
          (tombstone) => !concernsFrozen(shard, tombstone),
        );
        const inputs = planCompaction(shard.segments, { isAtRest, hasTombstones });
        if (inputs === undefined || shard.damage !== undefined || !state.has(shard)) break;
        const release = state.keepFiles();
        try {
          await this.#compactShard(shard, inputs);
        } finally {
          release();
        }
      }
    }
  }

  async #compactShard(shard: Shard, inputs: readonly Segment[]): Promise<void> {
    const { state, segmentFiles, shardKeys, turns, fault } = this.#options;
    const { id, database } = shard.descriptor;
    const { tombstones } = shard;
    const merged = new Set(tombstones);
    const output = await this.#merge(shard, inputs);
    if (shard.seriesFileBytes === undefined && state.has(shard)) {
      const index = state.databases.get(database)?.index;
      if (index !== undefined)
        await shardKeys.update(shard, [], { index, pacer: new Pacer(turns) });
    }
    const files = (): FilesOfShard => {
      const at = shard.segments.indexOf(inputs[0]!);
      const behind = shard.segments.slice(at + inputs.length);
      const segments = [...shard.segments.slice(0, at), output, ...behind];
      // A tombstone is removed when neither an older segment nor the rows that a flush is writing
      // can hold rows that it covers.
      const isDone = (tombstone: Tombstone): boolean =>
        at === 0 &&
        merged.has(tombstone) &&
        !covers(tombstone, segments.slice(1)) &&
        !concernsFrozen(shard, tombstone);
      return { segments, tombstones: shard.tombstones.filter((one) => !isDone(one)) };
    };
    const before = shard.tombstones.length;
    const { gone } = await state.commit({ files: new Map([[shard, files]]) });
    this.counters.compactions++;
    this.counters.tombstonesRemoved += Math.max(0, before - shard.tombstones.length);
    // The manifest may name the file: the drop removes it after writing the next manifest.
    if (gone.has(shard)) output.close();
    else segmentFiles.retire(id, inputs);
    await fault('compaction:committed');
  }

  async #merge({ descriptor, tombstones }: Shard, inputs: readonly Segment[]): Promise<Segment> {
    const { state, segmentFiles, turns, signal, fault } = this.#options;
    const { id } = descriptor;
    const fileId = state.ids.takeFileId();
    const sizeBytes = await mergeSegments(inputs, tombstones, {
      target: await segmentFiles.target(id, fileId),
      pacer: new Pacer(turns, { signal }),
    });
    await fault('compaction:segment-written');
    await segmentFiles.sync(id);
    const sequence = Math.max(...inputs.map((segment) => segment.info.sequence));
    const level = Math.max(...inputs.map((segment) => segment.info.level)) + 1;
    return segmentFiles.open(id, { fileId, sequence, level, sizeBytes });
  }
}

/** Whether the tombstone may cover rows that a flush is writing. */
function concernsFrozen({ frozenSequence }: Shard, tombstone: Tombstone): boolean {
  return frozenSequence !== undefined && frozenSequence < tombstone.sequence;
}

function covers(tombstone: Tombstone, segments: readonly Segment[]): boolean {
  return segments.some((segment) => segment.info.sequence < tombstone.sequence);
}
