// The kernels that the reads of one engine use: the cache of decoded columns in linear memory, and
// the scans over it.
import { ColumnCache, Kernels, Scans } from '@tidemark/kernels';

import { LIMITS } from '../limits.ts';

export class ReadKernels {
  readonly #cacheBytes: number;
  #kernels: Kernels | undefined;
  #scans: Scans | undefined;
  #columns: ColumnCache | undefined;

  /** `cacheBytes` is the size of the cache. */
  constructor(cacheBytes: number = LIMITS.columnCacheBytes.value) {
    this.#cacheBytes = cacheBytes;
  }

  get scans(): Scans {
    return (this.#scans ??= new Scans(this.#memory()));
  }

  /** The cache of decoded columns. */
  get columns(): ColumnCache {
    return (this.#columns ??= new ColumnCache(this.#memory(), this.#cacheBytes));
  }

  /** Created with the first read: tools that only check files need none. */
  #memory(): Kernels {
    return (this.#kernels ??= new Kernels());
  }
}
