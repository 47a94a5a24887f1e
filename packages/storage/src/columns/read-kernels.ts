// What reads of one engine work with: a linear memory that holds the columns which were decoded
// lately, and the scans that go over them there.
import { ColumnCache, Kernels, Scans } from '@tidemark/kernels';

import { LIMITS } from '../limits.ts';

export class ReadKernels {
  readonly #cacheBytes: number;
  #kernels: Kernels | undefined;
  #scans: Scans | undefined;
  #columns: ColumnCache | undefined;

  /** `cacheBytes`: how large the columns may become together. */
  constructor(cacheBytes: number = LIMITS.columnCacheBytes.value) {
    this.#cacheBytes = cacheBytes;
  }

  get scans(): Scans {
    return (this.#scans ??= new Scans(this.#memory()));
  }

  /** Columns of segments, by segment. */
  get columns(): ColumnCache {
    return (this.#columns ??= new ColumnCache(this.#memory(), this.#cacheBytes));
  }

  /** Made with the first read: tools have none. */
  #memory(): Kernels {
    return (this.#kernels ??= new Kernels());
  }
}
