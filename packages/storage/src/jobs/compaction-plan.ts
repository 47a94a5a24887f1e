// Which segments of a shard to merge next.
//
// Levels: a flush writes level 0; four neighbours of one level become one of the next. A shard that
// has come to rest becomes a single segment. Only neighbours are merged, so the order of writes is
// kept; every step writes more rows per file than it read files, so it converges and stops.
import type { Segment } from '../segment/segment.ts';

const SEGMENTS_PER_LEVEL = 4;
/** Segments larger than this are merged only with others when the shard is at rest. */
const LARGE_SEGMENT_BYTES = 256 << 20;

const LARGE_HEAD_RATIO = 8;
/** Always worth merging: rewriting this much takes less than a tenth of a second. */
const SMALL_SEGMENT_BYTES = 4 << 20;

/** Which neighbours to merge next; `undefined` when nothing needs to be done. */
export function planCompaction(
  segments: readonly Segment[],
  state: { readonly isAtRest: boolean; readonly hasTombstones: boolean },
): readonly Segment[] | undefined {
  if (state.hasTombstones && state.isAtRest && segments.length > 0) return segments;
  if (state.isAtRest) {
    const rest = withoutLargeHead(segments);
    if (rest.length > 1) return rest;
  }
  for (let start = 0; start < segments.length;) {
    const { level } = segments[start]!.info;
    let end = start;
    while (segments[end]?.info.level === level) end++;
    const run = segments.slice(start, start + Math.min(end - start, SEGMENTS_PER_LEVEL * 2));
    const size = run.reduce((sum, segment) => sum + segment.info.sizeBytes, 0);
    if (run.length >= SEGMENTS_PER_LEVEL && size < LARGE_SEGMENT_BYTES) return run;
    start = end;
  }
  return undefined;
}

/**
 * Leaves out leading segments that dwarf what follows: rewriting them for a little more is not
 * worth it.
 */
function withoutLargeHead(segments: readonly Segment[]): readonly Segment[] {
  let start = 0;
  let following = segments.reduce((sum, segment) => sum + segment.info.sizeBytes, 0);
  for (; start < segments.length; start++) {
    const size = segments[start]!.info.sizeBytes;
    following -= size;
    if (size <= following * LARGE_HEAD_RATIO || size < SMALL_SEGMENT_BYTES) break;
  }
  return segments.slice(start);
}
