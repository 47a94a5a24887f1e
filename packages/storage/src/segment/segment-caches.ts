// The caches that all segments of one engine share.
import { ReadKernels } from '../columns/read-kernels.ts';
import { PageCache } from './page-cache.ts';

export class SegmentCaches {
  /** Pages of their directories. */
  readonly pages = new PageCache();
  /** Decoded columns, and what reads them. */
  readonly kernels: ReadKernels;

  constructor(kernels = new ReadKernels()) {
    this.kernels = kernels;
  }
}
