// Bounds of the kernels.
import type { Limit } from '@tidemark/core';

export const BLOCK_VALUES_MAX: Limit = {
  value: 1 << 22,
  unit: 'count',
  reason:
    'a damaged count must not make a decoder reserve gigabytes; in step with assembly/bytes.ts',
};

export const FIELDS_PER_POINT_MAX: Limit = {
  value: 65_536,
  unit: 'count',
  reason: 'one point is staged in a buffer of fixed size; in step with assembly/stage.ts',
};

export const PARSE_ERRORS_MAX: Limit = {
  value: 10_000,
  unit: 'count',
  reason: 'a large body of rubbish must not become a larger answer',
};

export const BATCH_BYTES_MAX: Limit = {
  value: 32 << 20,
  unit: 'bytes',
  reason:
    'a batch ends early here, so that a huge request does not hold as much memory several times',
};

export const BATCH_BYTES_KEPT: Limit = {
  value: 8 << 20,
  unit: 'bytes',
  reason: 'tables up to this size are kept for the next batch, larger ones are made anew',
};
