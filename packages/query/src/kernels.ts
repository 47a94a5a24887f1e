// The kernels of this thread's queries: one linear memory for merging and printing, created at the
// first use.
import { Kernels } from '@tidemark/kernels';

let shared: Kernels | undefined;

/** What is in its scratch memory is gone with the next call of anybody. */
export function queryKernels(): Kernels {
  shared ??= new Kernels();
  return shared;
}
