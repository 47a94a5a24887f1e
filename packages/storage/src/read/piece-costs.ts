// What reading pieces costs. Each piece adds its share.
import type { ChunkMeta, ColumnMeta } from '../segment/format.ts';
import type { Segment } from '../segment/segment.ts';

export class PieceCosts {
  /** Values in memory. */
  values = 0;
  blocks = 0;
  blockBytes = 0;
  readonly segments = new Set<Segment>();
  /** Shared chunks that are counted: each is read once for all of its series. */
  readonly #shared = new Set<ChunkMeta>();

  /** Grows with everything that is counted. */
  get total(): number {
    return this.values + this.blocks;
  }

  /** Columns of a chunk; `isPart` where other series have rows in it. */
  addChunk(
    segment: Segment,
    chunk: ChunkMeta,
    { columns, isPart }: { readonly columns: Iterable<ColumnMeta>; readonly isPart: boolean },
  ): void {
    if (isPart && this.#shared.has(chunk)) return;
    if (isPart) this.#shared.add(chunk);
    const blocks = this.blocks;
    for (const { validBytes, valueBytes } of new Set(columns)) {
      this.blocks++;
      this.blockBytes += validBytes + valueBytes;
    }
    if (this.blocks === blocks) return;
    // The columns of a chunk share one block of times, which is read with the first of them.
    this.blockBytes += chunk.timeBytes;
    this.segments.add(segment);
  }
}
