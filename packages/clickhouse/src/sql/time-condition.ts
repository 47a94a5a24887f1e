// Time ranges as SQL.
import { floorDiv, NANOS_PER_HOUR } from '@tidemark/core';
import type { TimeRange } from '@tidemark/core';

import { sqlInt64 } from './literals.ts';

/** A condition over the sorting key of a points table. */
export function timeCondition({ start, end }: TimeRange): string {
  return `hour >= ${floorDiv(start, NANOS_PER_HOUR)} AND hour <= ${floorDiv(end, NANOS_PER_HOUR)}
     AND time >= ${sqlInt64(start)} AND time <= ${sqlInt64(end)}`;
}
