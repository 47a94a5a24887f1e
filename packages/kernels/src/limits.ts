// Bounds of the kernels.
import type { Limit } from '@tidemark/core';

export const BLOCK_VALUES_MAX: Limit = {
  setting: 'kernels.block-values-max',
  value: 1 << 22,
  unit: 'count',
  reason:
    'a damaged count must not make a decoder reserve gigabytes; in step with assembly/bytes.ts',
};
