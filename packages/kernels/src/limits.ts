// Limits of the kernels.
import type { Limit } from '@tidemark/core';

import { BLOCK_VALUES_MAX as BLOCK_VALUES, POINT_FIELDS_MAX } from './abi.gen.ts';

export const BLOCK_VALUES_MAX: Limit = {
  value: BLOCK_VALUES,
  unit: 'count',
  reason: 'a damaged count must not make a decoder reserve gigabytes',
};

export const FIELDS_PER_POINT_MAX: Limit = {
  value: POINT_FIELDS_MAX,
  unit: 'count',
  reason: 'one point is staged in a buffer of fixed size',
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
