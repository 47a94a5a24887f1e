// The kernels of this thread's queries: one linear memory for merging and printing, created at the
// first use.
import { Kernels } from '@tidemark/kernels';

let shared: Kernels | undefined;

/** The shared kernels. The next call by anyone overwrites their scratch memory. */
export function queryKernels(): Kernels {
  shared ??= new Kernels();
  return shared;
}
