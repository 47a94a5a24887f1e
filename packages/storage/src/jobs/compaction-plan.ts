// Which segments of a shard to merge next.
//
// Levels: a flush writes level 0; four neighbours of one level are merged into one of the next. A
// shard without further writes becomes a single segment. Only neighbours are merged, which keeps
// the order of writes. Every step leaves fewer segments, so planning comes to an end.
import type { Segment } from '../segment/segment.ts';

const SEGMENTS_PER_LEVEL = 4;
/** Segments larger than this are merged only when the shard is at rest. */
const LARGE_SEGMENT_BYTES = 256 << 20;

const LARGE_HEAD_RATIO = 8;
/** Segments smaller than this are always merged: rewriting one takes less than 0.1 s. */
const SMALL_SEGMENT_BYTES = 4 << 20;

/** The neighbours to merge next; `undefined` when there is nothing to merge. */
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
 * Leaves out leading segments that are much larger than those after them: rewriting them to add a
 * little is not worth it.
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
