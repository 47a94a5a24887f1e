// What encoders of all kinds of blocks take.
import { assert } from '@tidemark/core';
import { BLOCK_VALUES_MAX } from './abi.gen.ts';
import type { EFFORTS } from './abi.gen.ts';

/** `fast` is for log records, `small` for segments, which are written once and read often. */
export type CodecEffort = keyof typeof EFFORTS;

/** How many values a block will hold. */
export function checkCount(count: number): number {
  assert(count <= BLOCK_VALUES_MAX, 'a block holds at most BLOCK_VALUES_MAX values');
  return count;
}
