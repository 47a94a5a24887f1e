// Gives memory that the C library keeps back to the system. glibc does this by itself only at the
// end of its heap: behind queries of long texts, 425 MiB of buffers of some ten kilobytes stayed
// resident, free, because a few of them between were still in use.

/** Buffers that a collection finds are freed by another thread, some milliseconds later. */
const DELAY_MS = 100;

let trim: (() => void) | undefined;
let pending: NodeJS.Timeout | undefined;

/**
 * Gives back free memory of the process soon, once for all calls until then. Takes a fifth of a
 * millisecond per mebibyte that is freed, for which allocations wait. Does nothing where the
 * runtime or its C library cannot do it: before Node.js 26, and without glibc.
 */
export function trimMemorySoon(): void {
  pending ??= setTimeout(() => {
    pending = undefined;
    trim ??= loadTrim();
    trim();
  }, DELAY_MS).unref();
}

function loadTrim(): () => void {
  try {
    const { functions } = process
      .getBuiltinModule('node:ffi')
      .dlopen(null, { malloc_trim: { arguments: ['uint64'], return: 'int32' } });
    return () => void functions.malloc_trim(0n);
  } catch {
    // No such module, or no such function.
    return () => undefined;
  }
}
