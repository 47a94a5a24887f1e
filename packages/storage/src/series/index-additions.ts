// Additions: entries that are added to a series index together, from the record of a write, from
// the index log or from a backup (docs/formats/wal.md, `additions`).
import type { ByteReader, ByteWriter } from '../columns/bytes.ts';
import type { SeriesId } from '../columns/series-id.ts';
import type { SeriesIndex } from './series-index.ts';
import { readSeriesList } from './series-list.ts';
import type { EncodedSeries } from './series-list.ts';

/** Index entries that the record's rows or deletes may refer to; ids count up from the first. */
export type IndexAdditions = {
  readonly firstMeasurementId: number;
  readonly measurements: readonly string[];
  readonly firstSeriesId: SeriesId;
  readonly series: EncodedSeries;
};

/** The bytes of additions, in log records and in the index log. */
export function encodeAdditions(additions: IndexAdditions, out: ByteWriter): void {
  out.varint(additions.firstMeasurementId);
  out.varint(additions.measurements.length);
  for (const name of additions.measurements) out.text(name);
  out.varint(additions.firstSeriesId);
  out.varint(additions.series.count);
  out.raw(additions.series.bytes);
}

export function decodeAdditions(reader: ByteReader): IndexAdditions {
  const firstMeasurementId = reader.varint();
  const measurements: string[] = [];
  for (let n = reader.count(); n > 0; n--) measurements.push(reader.text());
  const firstSeriesId = reader.varint();
  return { firstMeasurementId, measurements, firstSeriesId, series: readSeriesList(reader) };
}

/**
 * Adds the measurements and series of a record; those already known are skipped. Placeholders take
 * the ids of entries that a damaged file lost, so that later ids keep their meaning.
 */
export function applyAdditions(index: SeriesIndex, additions: IndexAdditions): void {
  const { measurements, series, firstMeasurementId, firstSeriesId } = additions;
  padIndex(index, { measurements: firstMeasurementId, series: firstSeriesId });
  measurements.forEach((name, i) => {
    if (firstMeasurementId + i < index.measurements.length) return;
    const { id } = index.addMeasurement(name);
    if (id !== firstMeasurementId + i)
      padIndex(index, { measurements: firstMeasurementId + i + 1, series: 0 });
  });
  padIndex(index, { measurements: series.measurementIdEnd, series: 0 });
  index.insert(series, firstSeriesId);
}

/** Adds placeholders for lost entries until the index has at least the given numbers. */
export function padIndex(
  index: SeriesIndex,
  counts: { readonly measurements: number; readonly series: number },
): void {
  while (index.measurements.length < counts.measurements) {
    // A measurement in line protocol cannot begin with this character, so the name is unused.
    index.addMeasurement(`\u0000lost ${index.measurements.length}`);
  }
  while (index.seriesEnd < counts.series) {
    const owner = index.measurements[0] ?? index.addMeasurement('\u0000lost 0');
    index.addSeries(owner, [['\u0000lost', String(index.seriesEnd)]]);
  }
}
