// What a segment means for its shard and for the series index: fields with their types, series that
// are live.
import type { Segment } from '../segment/segment.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import type { Shard } from './shard.ts';
import { hasRowsInSegments, padIndex } from '../write/apply.ts';

/** The shard's segments and tombstones are set before; segments are registered oldest first. */
export function registerSegment(
  target: { readonly shard: Shard; readonly index: SeriesIndex },
  segment: Segment,
): void {
  const { shard, index } = target;
  for (const measurement of segment.footer.measurements) {
    const { measurementId } = measurement;
    const largest = measurement.series.at(-1) ?? -1;
    padIndex(index, { measurements: measurementId + 1, series: largest + 1 });
    const tombstones = shard.tombstones.filter((t) => t.measurementId === measurementId);
    const isFreed = tombstones.some((t) => t.freesTypes && t.sequence > segment.info.sequence);
    if (!isFreed) {
      for (const field of measurement.fields) {
        shard.fields.set(measurementId, field.name, field.type);
      }
    }
    const isTouched = tombstones.length > 0;
    for (const series of measurement.series) {
      // A deleted series is not in a renewed index any more, whether its rows can be read or not.
      if (isTouched && !(index.has(series) && hasRowsInSegments(shard, measurementId, series))) {
        continue;
      }
      if (shard.series.add(series)) index.addedToShard(series);
    }
  }
}
