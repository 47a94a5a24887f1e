// The kernels that the reads of one engine use: the cache of decoded columns in linear memory, and
// the scans over it.
import { assert } from '@tidemark/core';
import { ColumnCache, Kernels, Scans } from '@tidemark/kernels';

import { LIMITS } from '../limits.ts';

export class ReadKernels {
  readonly #cacheBytes: number;
  #kernels: Kernels | undefined;
  #scans: Scans | undefined;
  #columns: ColumnCache | undefined;
  #requests = 0;

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

  /** Linear memory of the cache and of the requests so far. */
  get memoryBytes(): number {
    return this.#kernels?.memoryBytes ?? 0;
  }

  /** A request begins: it may keep `scans` until `release`. */
  acquire(): void {
    this.#requests++;
  }

  /**
   * A request has ended. Linear memory never shrinks, so when the last one ends and requests have
   * made it grow beyond the cache, it is dropped with all cached columns.
   */
  release(): void {
    assert(this.#requests > 0, 'a request that ends has begun');
    this.#requests--;
    if (this.#requests > 0) return;
    if (this.memoryBytes <= this.#cacheBytes + LIMITS.requestLinearBytes.value) return;
    this.#columns?.clear();
    this.#columns = undefined;
    this.#scans = undefined;
    this.#kernels = undefined;
  }

  /** Created with the first read: tools that only check files need none. */
  #memory(): Kernels {
    return (this.#kernels ??= new Kernels());
  }
}
