// The heap of the thread, which all engines in it share. Requests make objects of texts and of rows
// faster than V8 collects them.
import type { Texts } from '@tidemark/core';
import { HeapWatch } from '@tidemark/process';

import { LIMITS } from '../limits.ts';

export const threadHeap = new HeapWatch(LIMITS.heapGrowthBytes.value);

/** Texts of a column were read. */
export function noteTexts({ bytes }: Texts): void {
  threadHeap.made(bytes.length);
}
