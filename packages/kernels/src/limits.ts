// Bounds of the kernels.
import type { Limit } from '@tidemark/core';

export const BLOCK_VALUES_MAX: Limit = {
  setting: 'kernels.block-values-max',
  value: 1 << 22,
  unit: 'count',
  reason:
    'a damaged count must not make a decoder reserve gigabytes; in step with assembly/bytes.ts',
};

export const FIELDS_PER_POINT_MAX: Limit = {
  setting: 'kernels.fields-per-point-max',
  value: 65_536,
  unit: 'count',
  reason: 'one point is staged in a buffer of fixed size; in step with assembly/stage.ts',
};

export const PARSE_ERRORS_MAX: Limit = {
  setting: 'kernels.parse-errors-max',
  value: 10_000,
  unit: 'count',
  reason: 'a large body of rubbish must not become a larger answer',
};

export const MEMTABLE_BYTES_MAX: Limit = {
  setting: 'kernels.memtable-bytes-max',
  value: 256 << 20,
  unit: 'bytes',
  reason: 'a batch ends early here; callers flush long before, at 32 MiB',
};
