// The heap of the thread, which all engines in it share. Requests make objects of texts and of rows
// faster than V8 collects them.
import { HeapWatch } from '@tidemark/process';

import { LIMITS } from '../limits.ts';

export const threadHeap = new HeapWatch(LIMITS.heapGrowthBytes.value);

/** Texts were made. Only their lengths are added up, as this runs for every text that is read. */
export function noteTexts(texts: readonly string[]): void {
  let chars = 0;
  for (let i = 0; i < texts.length; i++) chars += texts[i]!.length;
  threadHeap.made(chars);
}
