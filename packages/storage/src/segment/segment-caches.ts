// The caches that all segments of one engine share.
import type { Column } from '@tidemark/core';

import { ReadKernels } from '../columns/read-kernels.ts';
import type { ChunkMeta } from './format.ts';
import type { LargeTexts } from './large-texts.ts';
import { PageCache } from './page-cache.ts';
import type { Segment } from './segment.ts';

/** The decoded parts of a shared chunk; columns by their field. */
export type DecodedShared = {
  readonly chunk: ChunkMeta;
  times?: BigInt64Array;
  readonly columns: Map<number, Column | LargeTexts>;
};

export class SegmentCaches {
  /** Pages of their directories. */
  readonly pages = new PageCache();
  /** Decoded columns, and their kernels. */
  readonly kernels: ReadKernels;
  /**
   * The shared chunks read last, of a few segments: series are read one after another, each from
   * all segments of its shard.
   */
  readonly #shared = new Map<Segment, DecodedShared>();

  constructor(kernels = new ReadKernels()) {
    this.kernels = kernels;
  }

  /** The shared chunk that was read last in a segment, with the parts that are decoded. */
  sharedOf(segment: Segment, chunk: ChunkMeta): DecodedShared {
    const last = this.#shared.get(segment);
    if (last?.chunk === chunk) return last;
    const decoded = { chunk, columns: new Map<number, Column | LargeTexts>() };
    this.#shared.delete(segment);
    this.#shared.set(segment, decoded);
    if (this.#shared.size > SHARED_CHUNKS) {
      for (const oldest of this.#shared.keys()) {
        this.#shared.delete(oldest);
        break;
      }
    }
    return decoded;
  }

  /** Drops what is cached of a segment that is closed. */
  forget(segment: Segment): void {
    this.pages.forget(segment);
    this.#shared.delete(segment);
  }
}

/** Maximum number of decoded shared chunks: as many as a shard usually has segments. */
const SHARED_CHUNKS = 8;
